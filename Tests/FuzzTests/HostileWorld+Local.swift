import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySignalling
import ParleyWire

@testable import ParleyNodeCore
@testable import ParleySealing
@testable import ParleySimulation

// What comes from Ann's own machine: commands at their bounds, timers, and a clock that jumps.
extension HostileWorld {
    /// A timer fires, at a moment of its own choice.
    func fire() {
        let number = SpaceNumber(Int64(random.next() % 5))
        let timers: [TimerID] = [
            .heartbeat(LinkID(random.hostile())), .announce, .receipts, .dial(device()),
            .source(number), .bodies, .waiting, .devices, .backlog, .invitations, .card(number),
            .keys,
            .upkeep(number), .epoch(number), .relay(relay.key), .outbox, .repair(number),
            .reminder(number), .polls, .ringing, .signals(random.hostile()),
        ]
        let timer = timers[random.below(timers.count)]
        feed(.timer(timer), "the timer \(timer)")
    }

    /// Ann's wall clock is set: by a year or a century, or to what a board without a battery has.
    func setClock() {
        let wall = random.hostile(as: WallTime.self).value
        ann.clock.skew = random.flip() ? 0 : Int64(wall) - Int64(now())
        feed(.networkChanged, "the clock is set to \(wall)")
    }

    /// A person or a program wants something.
    func command() throws {
        let command = try drawnCommand()
        note("the command \(command)".prefix(120).description)
        // What is refused is refused.
        _ = try? world.perform(command, on: ann)
    }

    private func drawnCommand() throws -> Command {
        let space = try space()
        let number = OperationNumber(
            Int64(truncatingIfNeeded: random.flip() ? random.next() % 30 : random.hostile()))
        return switch random.next() % 28 {
        case 0: .setProfile(name: "ann", addresses: random.flip() ? nil : ["\(ann.index)"])
        case 1: .createGroup(name: "g", members: [person()])
        case 2: .send(space, [TextMessage(text: "s")], replyingTo: random.flip() ? nil : number)
        case 3:
            .edit(
                number, text: "@e",
                mentions: Mentions([.init(person(), at: 0..<2)], everyone: random.flip()))
        case 4: .delete(number)
        case 5: .react(number, Reaction(emoji: "👍", isOn: random.flip()))
        case 6:
            .markRead(
                space,
                ShownMessages(
                    (0..<9).map { _ in OperationNumber(Int64(truncatingIfNeeded: random.hostile()))
                    }))
        case 7: .addMember(space, person(), .member)
        case 8:
            [.rename(space, "n"), .describe(space, "d"), .setPicture(space, [1])][random.below(3)]
        case 9: .mute(space, isOn: random.flip())
        case 10: .call(space, MediaState(rawValue: 1))
        case 11:
            .act(
                CallID(Check(high: 1, low: random.next() % 3)),
                [.answer([]), .decline, .hangUp, .mediaFailed][random.below(4)])
        case 12: .types(space, random.flip())
        case 13: .setPresence([.online, .away, .offline][random.below(3)])
        case 14: .setPrivacy(.everything, for: random.flip() ? nil : person())
        case 15: .markVerified(person())
        case 16: .renameDevice(device(), name: "d")
        case 17, 18: .together(togetherCommand(in: space, number))
        case 19:
            .remind(.add(text: "r", about: random.flip() ? number : nil, at: random.hostile()))
        default: numberedCommand(space)
        }
    }

    private func togetherCommand(
        in space: SpaceID, _ number: OperationNumber
    ) -> TogetherCommand {
        switch random.next() % 12 {
        case 6: .note(space, title: NoteTitle("n"), text: random.flip() ? "" : "one\ntwo\n")
        case 7:
            .edit(
                number,
                NoteEdits(
                    at: Int(truncatingIfNeeded: random.hostile()),
                    deleting: Int(truncatingIfNeeded: random.hostile()), inserting: "x"),
                at: random.flip() ? nil : [unknownReference()])
        case 8: random.flip() ? .write(number, "two\n", at: nil) : .retitle(number, NoteTitle("m"))
        case 9:
            .propose(
                space, DecisionProposal(title: "d", tags: (0..<random.below(19)).map { "\($0)" }),
                from: random.flip() ? nil : number)
        case 10: .approve(number, random.flip())
        case 11:
            .settle(
                number, DecisionState.allCases[random.below(4)],
                by: random.flip() ? number : OperationNumber(Int64(random.next() % 30)))
        case 4:
            .begin(
                space,
                ItemBeginning(
                    title: "t", assignees: [person()],
                    due: UInt32(truncatingIfNeeded: random.hostile())), from: number)
        case 5:
            .change(
                number,
                [
                    .title("u"), .due(UInt32(truncatingIfNeeded: random.hostile())),
                    .assignee(person(), random.flip()), .done(random.flip()),
                ])
        case 0:
            .ask(
                space,
                PollQuestion(
                    question: "q", options: (0..<random.below(23)).map { "\($0)" },
                    isMultiple: random.flip(), until: random.flip() ? nil : random.hostile()))
        case 1:
            .vote(number, PollChoices([Int(truncatingIfNeeded: random.hostile()), 1]))
        case 2: .close(number)
        default: .withdraw(number)
        }
    }

    private func unknownReference() -> OperationReference {
        OperationReference(
            tag: LogTag(random.hostile()), sequence: random.hostile(), check: random.check())
    }

    /// Where somebody who invites says that they are.
    private func place() -> Invite.Place {
        random.next() % 2 == 0
            ? .relay(random.identifier(), addresses: ["192.0.2.7:7448"])
            : .device(random.identifier(), random.identifier(), addresses: ["192.0.2.7:7447"])
    }

    /// One with numbers in it.
    private func numberedCommand(_ space: SpaceID) -> Command {
        switch random.next() % 9 {
        case 0:
            .createInvite(
                secret: random.bytes(Invite.secretByteCount), expires: random.hostile(),
                uses: Int(truncatingIfNeeded: random.hostile()))
        case 1: .revokeInvite(random.hostile())
        case 2:
            .acceptInvite(
                Invite(
                    person: eve.identity.person, secret: random.bytes(Invite.secretByteCount),
                    expires: random.hostile(), place: place()), alias: "")
        case 3: .requestContact(card: card(of: eve), alias: "")
        case 4:
            .createGroupInvite(
                space, secret: random.bytes(32), role: .member,
                uses: UInt32(truncatingIfNeeded: random.hostile()), expires: random.hostile())
        case 5:
            .joinGroup(
                GroupLink(
                    space: random.identifier(), invite: random.identifier(),
                    secret: random.bytes(32), expires: random.hostile(), name: "g",
                    card: card(of: eve)))
        case 6:
            .changeSettings(
                space,
                SpaceSettings(
                    history: .days(UInt32(truncatingIfNeeded: random.hostile())),
                    rotationHours: UInt32(truncatingIfNeeded: random.hostile())))
        case 7:
            .chooseRelays([
                RelayChoice(
                    relay: relay.key, addresses: ["relay"],
                    until: random.flip() ? nil : random.hostile())
            ])
        default:
            .importMessages(space, fileHash: random.identifier(), rows: rows(), throughLine: line())
        }
    }

    private func line() -> Int { Int(truncatingIfNeeded: random.hostile()) }

    private func rows() -> [ImportedRow] {
        (0..<random.below(3)).map { _ in
            ImportedRow(
                line: line(),
                message: TextMessage(
                    text: "i",
                    origin: ImportedOrigin(author: "x", time: random.hostile(), isAction: false)))
        }
    }
}
