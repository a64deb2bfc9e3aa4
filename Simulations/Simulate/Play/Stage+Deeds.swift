import ParleyCheckers
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulatedDisk
import ParleySimulation
import ParleyStorage
import ParleyWire

extension Stage {
    /// Carries out one act; whatever makes no sense as things are is left out.
    ///
    /// - Returns: whether it was carried out, and not refused.
    mutating func play(_ act: Act, _ jury: Jury) throws -> Bool {
        guard let node = node(act.node) else { return false }
        do {
            guard try carryOut(act, by: node, jury) else { return false }
        } catch is StoreError where !node.isHonest {
            // Its disk decays, and it says so instead of showing something else.
            refusedCount += 1
            return false
        }
        deedCounts[act.do.name, default: 0] += 1
        return true
    }

    private mutating func carryOut(
        _ act: Act, by node: SimulatedNode, _ jury: Jury
    ) throws -> Bool {
        switch act.do {
        case .write, .reply, .edit, .delete, .react, .read, .rename, .mute, .bringIn, .found,
            .forward, .report, .star, .deleteForOneself, .pin, .archive, .keepFirst, .unread,
            .draft,
            .mention, .describe,
            .lifetime, .rule, .discreet,
            .profile,
            .nameSelf, .invite, .verify, .ask,
            .answer,
            .uninvite,
            .add,
            .remove,
            .promote,
            .quit, .consent, .permit, .govern, .closeGroup, .nameDevice, .revoke, .call, .pickUp,
            .turnDown, .hangUp, .typing, .appear, .confide, .together, .attach, .fetch,
            .forget, .room, .picture:
            return try !node.isDown && person(node, does: act.do)
        case .ringAndGo, .ringAt, .shutOut, .intrude: return try unruly(node, does: act.do)
        case .link, .keepBackup, .recover, .openGroup, .join:
            return try household(of: node, does: act.do)
        case .misbehave(let malice):
            guard !node.isDown, let space = try world.observe({ try space(0, of: node) }) else {
                return false
            }
            return try misbehave(malice, node, in: space.id)
        case .part(let groups, let isOneWay): part(groups, isOneWay: isOneWay)
        case .heal(let time): heal(within: time.milliseconds)
        case .leave:
            away.insert(act.node)
            isolate(act.node)
        case .returns: self.return(act.node)
        case .reset(let user), .stall(let user, _), .flip(let user, _):
            guard let other = self.node(user) else { return false }
            trouble(act.do, from: node, to: other)
        case .crash, .failStore, .fillDisk, .rot, .jumpClock, .backUp, .restore:
            return try machine(of: node, meets: act, jury)
        case .befall(let place, let how): return befall(place, how)
        case .steal, .impersonate: return try thief(of: node, does: act.do)
        }
        return true
    }

    private func trouble(_ deed: Deed, from node: SimulatedNode, to other: SimulatedNode) {
        switch deed {
        case .reset: world.reset(node, other)
        case .stall(_, let time): world.stall(from: node, to: other, for: time.milliseconds)
        case .flip(_, let bit): world.flip(from: node, to: other, bit: bit)
        default: break
        }
    }

    /// Whether there was anything to be malicious about.
    private func misbehave(
        _ malice: Malice, _ liar: SimulatedNode, in space: SpaceID
    ) throws -> Bool {
        switch malice {
        case .equivocate: try world.equivocate(liar, in: space)
        case .backdate: try world.backdate(liar, in: space)
        case .postdate: try world.postdate(liar, in: space)
        case .inventCauses: try world.inventCauses(liar, in: space)
        case .omitCauses: try world.omitCauses(liar, in: space)
        case .stripBodies: world.stripBodies(liar)
        case .oversize: try world.oversize(liar, in: space)
        case .flood: try world.flood(liar, in: space)
        case .lieInFront: try world.lieInFront(liar, in: space)
        case .withhold: world.withhold(liar)
        case .writeOn: try world.writeOn(liar, in: space)
        case .backdateRoster: try world.backdateRoster(liar, in: space)
        case .equivocateRoster: try world.equivocateRoster(liar, in: space)
        case .grindHashes:
            try world.grind(liar, in: space) || world.grind(liar, in: space, lane: .control)
        case .editOthers: try world.editOthers(liar, in: space)
        case .deleteOthers: try world.deleteOthers(liar, in: space)
        case .deleteAsBefore: try world.deleteAsBefore(liar, in: space)
        case .nameAnyway: try world.nameAnyway(liar, in: space)
        case .nameAnotherLane: try world.nameAnotherLane(liar, in: space)
        case .floodUnasked: try world.floodUnasked(liar)
        case .pinAnyway: try world.pinAnyway(liar, in: space)
        case .spoilFiles: world.spoilFiles(liar)
        case .writeAnyway: try world.writeAnyway(liar, in: space)
        }
    }

    private mutating func machine(
        of node: SimulatedNode, meets act: Act, _ jury: Jury
    ) throws -> Bool {
        switch act.do {
        case .crash(let steps, let point, let power, let down):
            guard !node.isDown else { return false }
            node.plannedDeath = PlannedDeath(
                stepCount: steps, point: PlannedDeath.Point(point), isLosingPower: power,
                downtime: down.milliseconds)
        case .failStore(let calls, let isFull):
            node.store.fail(afterChange: calls, isFull ? .full : .inputOutput)
        case .fillDisk(let isOn):
            guard let disk = node.store.blobs as? MemoryBlobs else { return false }
            disk.byteCountMax = isOn ? disk.byteCount : .max
        case .jumpClock(let seconds): node.clock.skew = seconds * 1_000
        case .backUp:
            guard !node.isDown else { return false }
            copies[act.node] = (node.store.snapshot(), try world.observe { try ownEnds(of: node) })
        case .restore: return try restore(node, jury)
        case .rot(let page):
            guard let disk = (node.store as? SQLiteStore)?.faultDisk,
                let file = disk.files.max(by: { $0.bytes.count < $1.bytes.count }),
                disk.rot(file.name, at: page * 4_096 % max(1, file.bytes.count) + page % 4_096)
            else { return false }
            node.distrust()
        default: return false
        }
        return true
    }

    /// Puts an old copy in the place of a disk, beside a guard that knows better. What nobody else
    /// holds no copy brings back: then it is left out.
    private mutating func restore(_ node: SimulatedNode, _ jury: Jury) throws -> Bool {
        guard !node.isDown, node.core.rejoin == nil, let copy = copies[node.name] else {
            return false
        }
        guard let ends = try world.observe({ try endsHeldElsewhere(of: node) }),
            try world.observe({ try ownEnds(of: node) }) == copy.ownEnds
        else { return false }
        copies[node.name] = nil
        node.endInGoodOrder()
        node.setBack(to: copy.contents)
        node.guardEnds = ends
        jury.wasSetBack(node)
        world.restart(node)
        return true
    }

    /// How far each of a node's own logs goes; nil where others hold less of one.
    private func endsHeldElsewhere(of node: SimulatedNode) throws -> [LogTag: UInt64]? {
        var ends: [LogTag: UInt64] = [:]
        for space in try node.store.spaces() where space.kind != .own {
            for log in try node.store.logs(in: space.number)
            where log.device == node.identity.device && log.end > 0 {
                ends[log.tag] = log.end
                let isHeld = try world.nodes.contains { other in
                    let holds = try holds(log, of: space.id, other)
                    return other !== node && holds
                }
                guard isHeld else { return nil }
            }
        }
        return ends
    }

    /// How far a node's logs in its person's own space go, which no other device holds.
    private func ownEnds(of node: SimulatedNode) throws -> [LogTag: UInt64] {
        var ends: [LogTag: UInt64] = [:]
        for space in try node.store.spaces() where space.kind == .own {
            for log in try node.store.logs(in: space.number) { ends[log.tag] = log.end }
        }
        return ends
    }

    private func holds(
        _ log: LogRecord, of space: SpaceID, _ node: SimulatedNode
    ) throws -> Bool {
        guard let record = try node.store.space(space) else { return false }
        return try node.store.log(log.tag, in: record.number)?.spans == log.spans
    }

    // MARK: What people do

    private mutating func person(_ node: SimulatedNode, does deed: Deed) throws -> Bool {
        if case .invite(let user, let time) = deed {
            return try invite(user, by: node, for: time ?? .hours(24))
        }
        var isDone = false
        // What a person reads to decide meets no failure that was meant for a step.
        for (actor, command) in try world.observe({ try commands(for: deed, of: node) })
        where perform(command, on: actor) != nil { isDone = true }
        return isDone
    }

    private mutating func commands(
        for deed: Deed, of node: SimulatedNode
    ) throws -> [(SimulatedNode, Command)] {
        switch deed {
        case .found(let name, let members):
            let persons = members.compactMap { self.node($0)?.identity.person }
            return [(node, .createGroup(name: name, members: persons))]
        case .nameSelf(let name): return [(node, .setProfile(name: name, addresses: nil))]
        case .verify(let user):
            return self.node(user).map { [(node, .markVerified($0.identity.person))] } ?? []
        case .ask(let user):
            return try self.node(user)?.store.value(
                .card, self.node(user)?.identity.person.bytes ?? []
            ).map { [(node, .requestContact(card: $0, alias: ""))] } ?? []
        case .answer(let user, let how):
            guard let person = self.node(user)?.identity.person,
                let answer = ContactAnswer(rawValue: how)
            else { return [] }
            // Who stays blocked hears nothing, and then nobody could tell it from a fault.
            let decisions = answer == .block ? [.block, .unblock] : [answer]
            return decisions.map { (node, .answerContact(person, $0)) }
        case .uninvite:
            return try OpenInvite.all(at: World.epoch + world.now, node.store).last.map {
                [(node, .revokeInvite($0.number))]
            } ?? []
        case .nameDevice(let device, let name):
            return self.node(device).map { [(node, .renameDevice($0.identity.device, name: name))] }
                ?? []
        case .revoke(let device, let byCode):
            return self.node(device).map { [(node, revocation(of: $0, byCode: byCode))] } ?? []
        case .closeGroup(let place): return try closing(place, by: node).map { [(node, $0)] } ?? []
        case .add, .remove, .promote, .quit, .govern, .consent, .permit:
            return try membership(for: deed, of: node).map { [(node, $0)] } ?? []
        case .call, .pickUp, .turnDown, .hangUp, .typing, .appear, .confide:
            return try talk(for: deed, of: node).map { [(node, $0)] } ?? []
        case .forward, .report, .star, .deleteForOneself, .pin, .archive, .keepFirst, .unread,
            .draft,
            .mention, .describe, .lifetime, .rule, .discreet,
            .profile:
            return try curation(for: deed, of: node).map { [(node, $0)] } ?? []
        case .attach, .fetch, .forget, .room, .picture:
            return try filing(for: deed, of: node).map { [(node, $0)] } ?? []
        case .together(let place, let what):
            return try teamwork(what, in: place, of: node).map { [(node, $0)] } ?? []
        default: return try command(for: deed, of: node).map { [(node, $0)] } ?? []
        }
    }

    /// Opens an invite, which a friend takes.
    mutating func invite(
        _ user: String, by node: SimulatedNode, for time: VirtualTime = .hours(24)
    ) throws -> Bool {
        guard let friend = self.node(user), !friend.isDown else { return false }
        let secret = (0..<Invite.secretByteCount).map { _ in
            UInt8(truncatingIfNeeded: random.next())
        }
        let expires = World.epoch + world.now + time.milliseconds
        guard perform(.createInvite(secret: secret, expires: expires), on: node) != nil,
            let invite = try world.observe({ try node.invite(with: secret) })
        else { return false }
        return perform(.acceptInvite(try Invite(link: invite.link), alias: ""), on: friend) != nil
    }

    /// A conversation by its place: groups first, each kind in the order in which it came.
    func space(_ place: Int, of node: SimulatedNode) throws -> SpaceRecord? {
        let all = try node.conversations().sorted {
            ($0.kind == .group ? 0 : 1, $0.number) < ($1.kind == .group ? 0 : 1, $1.number)
        }
        return all.isEmpty ? nil : all[place % all.count]
    }

    /// What is done within one conversation.
    private func command(for deed: Deed, of node: SimulatedNode) throws -> Command? {
        func space(_ place: Int) throws -> SpaceRecord? { try self.space(place, of: node) }
        func message(_ rank: Int, in place: Int) throws -> OperationNumber? {
            guard let space = try space(place) else { return nil }
            let recent = try node.store.messages(in: space.number, before: nil, limit: rank + 1)
            return recent.last?.operation
        }
        switch deed {
        case .write(let place, let text):
            return try space(place).map {
                .send($0.id, [TextMessage(text: text)], replyingTo: nil)
            }
        case .reply(let place, let rank, let text):
            let target = try message(rank, in: place)
            return try space(place).map {
                .send($0.id, [TextMessage(text: text)], replyingTo: target)
            }
        case .edit(let place, let rank, let text):
            return try message(rank, in: place).map { .edit($0, text: text) }
        case .delete(let place, let rank): return try message(rank, in: place).map { .delete($0) }
        case .react(let place, let rank, let emoji, let isOn):
            return try message(rank, in: place).map {
                .react($0, Reaction(emoji: emoji, isOn: isOn))
            }
        case .read(let place, let count):
            return try space(place).map { space in
                let page = try node.store.messages(
                    in: space.number, before: nil, limit: count ?? Self.pageMessageCount)
                return .markRead(space.id, ShownMessages(page.map(\.operation)))
            }
        case .rename(let place, let name): return try space(place).map { .rename($0.id, name) }
        case .mute(let place, let isOn, let until):
            return try space(place).map { .mute($0.id, isOn: isOn, until: until) }
        case .bringIn(let place, let firstLine, let texts):
            return try space(place).map { importing(texts, firstLine, into: $0, of: node) }
        default: return nil
        }
    }

    private func importing(
        _ texts: [String], _ firstLine: Int, into space: SpaceRecord, of node: SimulatedNode
    ) -> Command {
        let rows = texts.enumerated().map { offset, text in
            let line = firstLine + offset
            let origin = ImportedOrigin(
                author: "old friend", time: 1_000_000_000_000 + UInt64(line) * 7_919 % 1_000_000,
                isAction: line % 8 == 0)
            return ImportedRow(line: line, message: TextMessage(text: text, origin: origin))
        }
        return .importMessages(
            space.id, fileHash: Digest(reinterpreting: node.identity.device), rows: rows,
            throughLine: rows.last?.line ?? 0)
    }
}

extension PlannedDeath.Point {
    init(_ point: CrashPoint) {
        switch point {
        case .beforeCommit: self = .beforeCommit
        case .afterCommit: self = .afterCommit
        case .amongEffects: self = .amongEffects
        }
    }
}
