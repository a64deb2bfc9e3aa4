import ParleyConversation
import ParleyLedger
public import ParleyNodeCore
import ParleyRoster
import ParleySealing
public import ParleyWire

/// A conversation that a test made, by the words in which its errors speak of it.
struct KnownConversation {
    let name: String
    let members: [PersonID]
}

extension World {
    /// Founds a group: all members come to know each other where they do not yet, the first founds
    /// it, and time passes until everybody who is within reach has it, 10 s at most, and for 2 s
    /// more, in which they come to agree on who holds what.
    ///
    /// - Returns: the conversation, for calls like ``SimulatedNode/type(_:in:)``.
    /// - Throws: ``WorldError``, among others where two members cannot be introduced because they
    ///   are apart. Found the group before you break the network.
    @discardableResult
    public func group(_ name: String, _ members: [SimulatedNode]) throws -> SpaceID {
        _ = members.compactMap(place)
        try throwMistake()
        guard let founder = members.first else {
            throw error(.nobody, "the group \"\(name)\" has no members")
        }
        try introduce(members)
        var others: [PersonID] = []
        for person in members.map(\.identity.person)
        where person != founder.identity.person && !others.contains(person) {
            others.append(person)
        }
        let reply = try founder.carryOut(
            .createGroup(name: name, members: others), "found \"\(name)\"")
        guard case .space(let number) = reply,
            let space = try observe({ try founder.store.space(number) })
        else { throw error(.refused, "\(founder.name) founded no group") }
        conversations[space.id] = KnownConversation(
            name: "\"\(name)\"", members: members.map(\.identity.person))
        let reached = members.filter { $0 === founder || isWithinReach($0, of: founder) }
        let end = now + 10_000
        while now < end, try !observe({ try reached.allSatisfy { try $0.knows(space.id) } }) {
            run(for: 100)
        }
        run(for: 2_000)
        return space.id
    }

    /// Makes each of these people contacts of all others, where they are not yet, and lets them
    /// meet.
    ///
    /// - Throws: ``WorldError`` where two did not meet within five minutes: they are apart, down,
    ///   or the way between them is too bad.
    public func introduce(_ people: [SimulatedNode]) throws {
        _ = people.compactMap(place)
        try throwMistake()
        var strangers: [(SimulatedNode, SimulatedNode)] = []
        for (place, first) in people.enumerated() {
            for second in people[(place + 1)...]
            where second.identity.person != first.identity.person {
                if try conversation(of: first, and: second) == nil {
                    strangers.append((first, second))
                }
            }
        }
        for (first, second) in strangers { try invite(second, by: first) }
        let end = now + 300_000
        for (first, second) in strangers {
            while try conversation(of: first, and: second) == nil {
                guard now < end else {
                    throw error(
                        .notIntroduced,
                        "\(first.name) and \(second.name) could not be introduced"
                            + (trouble.map { "; " + $0 } ?? ""))
                }
                run(for: 100)
            }
        }
    }

    /// Makes two people contacts by an invite, and lets them meet.
    ///
    /// - Returns: their direct conversation.
    @discardableResult
    public func introduce(_ first: SimulatedNode, _ second: SimulatedNode) throws -> SpaceID {
        _ = [first, second].compactMap(place)
        try throwMistake()
        try invite(second, by: first)
        run(for: 5_000)
        guard let space = try conversation(of: first, and: second) else {
            throw error(
                .notIntroduced,
                "\(first.name) and \(second.name) could not be introduced"
                    + (trouble.map { "; " + $0 } ?? ""))
        }
        return space
    }

    /// The direct conversation of two people, or nil where they have none that both know.
    public func conversation(
        of first: SimulatedNode, and second: SimulatedNode
    ) throws -> SpaceID? {
        try observe {
            for space in try second.conversations() where space.kind == .direct {
                let roster = try second.roster(of: space)
                guard roster?.member(first.identity.person) != nil else { continue }
                guard try first.knows(space.id) else { return nil }
                conversations[space.id] = KnownConversation(
                    name: "the conversation of \(first.name) and \(second.name)",
                    members: [first.identity.person, second.identity.person])
                return space.id
            }
            return nil
        }
    }

    func invite(_ guest: SimulatedNode, by host: SimulatedNode) throws {
        let secret = host.randomBytes(Invite.secretByteCount)
        let expires = World.epoch + now + 86_400_000
        _ = try host.carryOut(.createInvite(secret: secret, expires: expires), "invite anybody")
        guard let invite = try observe({ try host.invite(with: secret) }) else {
            throw error(.refused, "\(host.name) has no card")
        }
        _ = try guest.carryOut(
            .acceptInvite(Invite(link: invite.link), alias: ""),
            "take the invite of \(host.name)")
    }

    private func isWithinReach(_ node: SimulatedNode, of other: SimulatedNode) -> Bool {
        guard let left = place(of: node), let right = place(of: other) else { return false }
        return !node.isDown && !separated.contains(.between(left, right))
            && !blocked.contains(Way(source: left, target: right))
            && !blocked.contains(Way(source: right, target: left))
    }

    /// How errors speak of a conversation.
    func label(of space: SpaceID) -> String { conversations[space]?.name ?? "a conversation" }

    /// The name of whoever owns a device.
    func owner(of device: DeviceID) -> String {
        nodes.first { $0.identity.device == device }?.name ?? "somebody from outside"
    }
}

extension SimulatedNode {
    /// An open invite of this node as its guests get it; nil where none has this secret.
    public func invite(with secret: [UInt8]) throws -> Invite? {
        // By a clock of 1970 none has ended.
        try OpenInvite.all(at: 0, store).first { $0.secret == secret }?.invite(
            by: core.node, store)
    }
}
