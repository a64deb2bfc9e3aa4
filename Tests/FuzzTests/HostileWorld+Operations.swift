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
            var draft =
                try random.happens(onceIn: 6) ? copied(of: node, in: space) : draft(in: space)
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
        else { return try draft(in: space) }
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

    func draft(in space: SpaceID) throws -> Draft {
        let reference = try reference(in: space)
        return switch random.next() % 32 {
        case 0...3: try messageDraft(of: reference)
        case 4...6:
            Receipts(
                read: [.init(tag: try tag(in: space), places: places())],
                delivered: [.init(tag: try tag(in: space), places: places())],
                held: [.init(tag: try tag(in: space), places: places())]
            ).draft()
        case 7, 8:
            CallRecord(
                call: CallID(Check(high: 1, low: 2)), founder: person(),
                began: random.hostile(as: WallTime.self).value,
                summary: CallSummary(
                    outcome: .talked, duration: random.hostile(as: WallTime.self).value, persons: []
                )
            ).draft()
        case 9: ConversationName(name: "n").draft(replacing: random.flip() ? [] : [reference])
        case 10: GroupDescription(text: "d").draft(replacing: [reference])
        case 11: GroupPicture(content: [1]).draft(replacing: [reference])
        case 24: MessageLifetime(seconds: random.hostile()).draft
        case 25: disappearingDraft(about: reference)
        case 12: SharedCard(card: card(of: eve)).draft()
        case 13: Pin(isOn: random.flip()).draft(of: reference)
        case 14...17: personalDraft(about: reference, in: space)
        case 18...23: togetherDraft(of: reference)
        default: try controlDraft(in: space)
        }
    }

    /// An operation that is there, or none.
    private func reference(in space: SpaceID) throws -> OperationReference {
        if random.flip(), let record = try ann.store.space(space) {
            let logs = try ann.store.logs(in: record.number).filter { $0.end > 0 }
            let log = logs.isEmpty ? nil : logs[random.below(logs.count)]
            if let log,
                let stored = try ann.store.operation(at: random.next() % log.end, in: log.number)
            {
                return OperationReference(
                    tag: log.tag, sequence: stored.sequence, check: stored.id.check)
            }
        }
        return OperationReference(
            tag: LogTag(random.next()), sequence: place(), check: random.check())
    }

    private func messageDraft(of reference: OperationReference) throws -> Draft {
        switch random.next() % 8 {
        case 0:
            TextMessage(
                text: "t",
                origin: ImportedOrigin(
                    author: "x", time: random.hostile(as: WallTime.self).value, isAction: false)
            ).draft()
        case 1, 2, 3:
            TextMessage(text: "f", files: (0...random.below(3)).map { _ in attachment() }).draft()
        case 4:
            Draft(
                kind: .text, lane: .content, references: [reference, reference],
                payload: TextMessage(text: "@t", mentions: mentions()).draft().payload)
        case 5: MessageEdit(text: "e", mentions: mentions()).draft(of: reference)
        case 6: Reaction(emoji: "👍", isOn: random.flip()).draft(to: reference)
        default: MessageDeletion.draft(of: reference)
        }
    }

    /// What only counts in a person's own space.
    private func personalDraft(about reference: OperationReference, in space: SpaceID) -> Draft {
        switch random.next() % 9 {
        case 0:
            RelayChoice(
                relay: relay.key, addresses: ["relay"],
                until: random.hostile(as: WallTime.self).value
            ).draft()
        case 1: Mute(space: space, isOn: random.flip()).draft()
        case 2 where random.flip():
            random.flip()
                ? OwnDeletion(of: reference, in: space).draft()
                : Report(of: reference, in: space).draft()
        case 2: Star(space: space, message: reference, isOn: random.flip()).draft()
        case 3: DeviceName(device: device(), name: "d").draft()
        case 4: contactDraft()
        case 5: AdditionPolicy.allCases[random.below(AdditionPolicy.allCases.count)].draft()
        case 6: ProfileField(.status, "s")?.draft() ?? merge
        default:
            Preference(
                PreferenceKey.all[random.below(PreferenceKey.all.count)],
                about: random.flip() ? space.bytes : random.bytes(atMost: 40),
                random.flip() ? random.bytes(8) : random.bytes(atMost: 200)
            ).draft()
        }
    }

    /// Whom Ann's telephone blocks, it blocks for her: not Ben, whom she is to reach.
    private func contactDraft() -> Draft {
        let person = person()
        return Contact(
            person: person, root: random.identifier(),
            state: ContactState.allCases[random.below(ContactState.allCases.count)],
            isBlocked: person != ben.identity.person && random.happens(onceIn: 8),
            card: random.flip() ? card(of: eve) : []
        ).draft()
    }

    private func disappearingDraft(about reference: OperationReference) -> Draft {
        var message = TextMessage(text: "gone")
        message.lifetime = random.flip() ? 1 : random.hostile()
        return message.draft(replyingTo: random.flip() ? nil : reference)
    }

    private func togetherDraft(of reference: OperationReference) -> Draft {
        switch random.next() % 13 {
        case 0: Settling(.superseded, by: random.flip() ? reference : nil).draft(of: reference)
        case 1: Approval.draft(of: reference, isOn: random.flip())
        case 2: random.flip() ? NoteTitle("n").draft() : NoteTitle("m").draft(of: reference)
        case 3:
            NoteEdits(at: Int(random.next() % 9), deleting: 1, inserting: "x")
                .draft(of: reference, after: [reference])
        case 4:
            PollQuestion(
                question: "q", options: ["a", "b"], isMultiple: random.flip(),
                until: random.hostile(as: WallTime.self).value
            ).draft()
        case 5: PollChoices([0, random.below(33)]).draft(in: reference)
        case 6, 7:
            PollClose([PollClose.Vote(operation: reference, choices: PollChoices([0]))])
                .draft(of: reference)
        case 8: Withdrawal.draft(of: reference)
        case 9:
            ItemBeginning(
                title: "t", assignees: [person()],
                due: UInt32(truncatingIfNeeded: random.hostile())
            ).draft(from: random.flip() ? reference : nil)
        case 10:
            ItemChange.due(UInt32(truncatingIfNeeded: random.hostile())).draft(of: reference)
        case 11: ItemChange.assignee(person(), random.flip()).draft(of: reference)
        default:
            DecisionProposal(title: "d", text: "t", tags: ["a"])
                .draft(from: random.flip() ? reference : nil)
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

    private func controlDraft(in space: SpaceID) throws -> Draft {
        let cut = Cut([
            LogPlace(
                device: device(), lane: [.content, .receipts, .shared][random.below(3)],
                sequence: place(), operation: random.identifier())
        ])
        return switch random.next() % 14 {
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
        case 11: try redemption(in: space).draft()
        case 12:
            Draft(
                kind: random.flip() ? .genesis : .epoch, lane: .control,
                payload: random.bytes(atMost: 200), isErasable: false)
        default:
            Draft(kind: .acknowledgement, lane: .control, payload: nil, isErasable: false)
        }
    }

    /// Somebody is taken in by a link that was never given, or that ended.
    private func redemption(in space: SpaceID) throws -> Redeem {
        let invite: OperationID = random.identifier()
        let (person, key) = (eve.identity.person, eve.identity.key)
        let newcomer = Newcomer(
            person: person, name: "e", identity: eve.core.node.log.encoded, horizon: Horizon())
        return Redeem(
            invite: invite, newcomer: newcomer, device: key.device,
            signature: Redeem.signature(
                to: invite, in: space, for: person, key.device, with: .generate(using: &random)),
            consent: Redeem.consent(to: invite, in: space, for: person, with: key))
    }
}
