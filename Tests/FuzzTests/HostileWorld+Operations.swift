import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySignalling
import ParleyWire

@testable import ParleyNodeCore
@testable import ParleySealing
@testable import ParleySimulation

// Operations that are signed and stand in their logs, with payloads of any numbers.
extension HostileWorld {
    /// A liar writes an operation and shows it, over a link or in a letter.
    func writeOperation() throws {
        guard !random.happens(onceIn: 4) else { return try sendOwn() }
        let node = liar()
        let space = try space()
        try world.observe {
            guard let forgery = try Forgery(node, in: space) else { return }
            var draft = try random.happens(onceIn: 6) ? copied(of: node, in: space) : draft()
            if random.flip(), let payload = draft.payload {
                var hostile = HostilePayload(seed: random.next())
                draft.payload = hostile.changed(payload)
            }
            // One that is too far ahead would be left out of all that follows.
            let wall =
                random.flip()
                ? now() + random.next() % 1_000 : min(random.hostile(), Limits.wallClockMax - 2)
            let causes = try causes(of: draft, by: forgery)
            guard let run = try forgery.run(draft, at: wall, naming: causes) else { return }
            // One that nothing follows is a fork later; that is tried, too.
            if !random.happens(onceIn: 8) { try forgery.keep(run) }
            let frame = Frame.operations(
                Operations(space: space, endsAnswer: random.flip(), runs: [run]))
            note("an operation of kind \(draft.kind.rawValue) by \(node.name)")
            for target in [ann, ben] { world.inject(frame, from: node, to: target) }
        }
        world.run(for: 20)
    }

    /// Ben, who is honest, writes as people do.
    private func sendOwn() throws {
        guard let space = try spaces().first else { return }
        // Whether he may is not the question.
        _ = try? world.type("b", on: ben, in: space)
    }

    /// What an honest author would name, also of lanes that this one may not name, or anything.
    private func causes(of draft: Draft, by forgery: Forgery) throws -> [OperationReference] {
        switch random.next() % 12 {
        case 0, 1:
            return [
                OperationReference(
                    tag: try tag(in: forgery.space.id), sequence: place(), check: random.check())
            ]
        case 2: return try forgery.causes(of: draft.lane == .control ? .content : .control)
        case 3: return try forgery.momentOfThePast()
        case 4: return []
        default: return try forgery.causes(of: draft.lane)
        }
    }

    /// What somebody wrote there, again: kinds that nothing else here makes, such as epochs.
    private func copied(of node: SimulatedNode, in space: SpaceID) throws -> Draft {
        guard let runs = try operations(of: node, in: space)?.runs.first,
            !runs.operations.isEmpty
        else { return draft() }
        let operation = runs.operations[random.below(runs.operations.count)]
        let isControl = runs.lane == .control || random.happens(onceIn: 8)
        return Draft(
            kind: operation.header.kind, lane: isControl ? .control : runs.lane,
            references: operation.header.references, payload: operation.payload,
            isErasable: !isControl && random.flip())
    }

    private func places() -> PlaceSet {
        let last = place()
        return PlaceSet((last & 1 == 0 ? 0 : last / 2)..<last &+ (last == .max ? 0 : 1))
    }

    private func draft() -> Draft {
        let reference = OperationReference(
            tag: LogTag(random.next()), sequence: place(), check: random.check())
        return switch random.next() % 24 {
        case 16:
            Settling(.superseded, by: random.flip() ? reference : nil).draft(of: reference)
        case 17: Approval.draft(of: reference, isOn: random.flip())
        case 0, 1:
            TextMessage(
                text: "t",
                origin: ImportedOrigin(
                    author: "x", time: random.hostile(as: WallTime.self).value, isAction: false)
            ).draft()
        case 2, 3, 4:
            Receipts(
                read: [.init(tag: (try? tag(in: group)) ?? LogTag(1), places: places())],
                delivered: [.init(tag: (try? tag(in: group)) ?? LogTag(1), places: places())]
            ).draft()
        case 5, 6:
            CallRecord(
                call: CallID(Check(high: 1, low: 2)), founder: person(),
                began: random.hostile(as: WallTime.self).value,
                summary: CallSummary(
                    outcome: .talked, duration: random.hostile(as: WallTime.self).value, persons: []
                )
            ).draft()
        case 7: ConversationName(name: "n").draft(replacing: [])
        case 8: MessageEdit(text: "e", mentions: mentions()).draft(of: reference)
        case 14:
            Draft(
                kind: .text, lane: .content, references: [reference, reference],
                payload: TextMessage(text: "@t", mentions: mentions()).draft().payload)
        case 15: GroupDescription(text: "d").draft(replacing: [reference])
        case 18: GroupPicture(content: [1]).draft(replacing: [reference])
        case 9: Reaction(emoji: "👍", isOn: true).draft(to: reference)
        case 10: MessageDeletion.draft(of: reference)
        case 11: SharedCard(card: card(of: eve)).draft()
        case 12:
            RelayChoice(
                relay: relay.key, addresses: ["relay"],
                until: random.hostile(as: WallTime.self).value
            ).draft()
        case 13: Mute(space: group, isOn: random.flip()).draft()
        case 22: random.flip() ? NoteTitle("n").draft() : NoteTitle("m").draft(of: reference)
        case 23:
            NoteEdits(at: Int(random.next() % 9), deleting: 1, inserting: "x")
                .draft(of: reference, after: [reference])
        default: controlDraft()
        }
    }

    /// Of whomever, wherever, and of everybody.
    private func mentions() -> Mentions {
        let start = Int(random.next() % 4)
        return Mentions(
            [.init(person(), at: start..<start + Int(random.next() % 8))],
            everyone: random.flip())
    }

    private var merge: Draft {
        Draft(kind: .merge, lane: .control, payload: nil, isErasable: false)
    }

    private func controlDraft() -> Draft {
        let cut = Cut([
            LogPlace(
                device: device(), lane: [.content, .receipts, .shared][random.below(3)],
                sequence: place(), operation: random.identifier())
        ])
        return switch random.next() % 12 {
        case 0: SpaceSettings(history: .days(3_650), rotationHours: 1).draft()
        case 1:
            GroupInvite.open(
                key: device(), role: .member, uses: 1_000,
                expires: random.hostile(as: WallTime.self).value
            ).draft()
        case 2: RemoveMember(person(), cut: cut).draft()
        case 3: SetRole(person(), role: .member, cut: cut).draft()
        case 4:
            Ident(
                person: ann.identity.person, identity: phone.core.node.operations,
                change: random.flip() ? .add : .revoke(device(), cut: cut)
            ).draft()
        case 5:
            Draft(
                kind: .leafUpdate, lane: .control,
                payload: PrivateLeaf.generate(using: &random).publicKey.bytes, isErasable: false)
        case 6:
            Draft(
                kind: .fault, lane: .control,
                payload: (random.identifier() as OperationID).bytes, isErasable: false)
        case 7: Accept().draft()
        case 8: random.happens(onceIn: 8) ? Leave().draft() : merge
        case 9, 10:
            AddMember(
                Newcomer(
                    person: eve.identity.person, name: "e", identity: eve.core.node.log.encoded,
                    horizon: random.flip() ? cut : Horizon()),
                role: [.reader, .member, .admin, .owner][random.below(4)]
            ).draft()
        default:
            Draft(kind: .acknowledgement, lane: .control, payload: nil, isErasable: false)
        }
    }
}
