import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySignalling
import ParleyWire

@testable import ParleyNodeCore
@testable import ParleySealing
@testable import ParleySimulation

// What a person and their programs want of Ann's node, with any numbers, of anything.
extension HostileWorld {
    /// A person or a program wants something.
    func command() throws {
        // What her node sends may be nothing that she holds.
        if random.flip() {
            for file in HostileFiles.samples { try? file.put(into: ann.store.blobs) }
        }
        let command = try drawnCommand()
        note("the command \(command)".prefix(120).description)
        // What is refused is refused.
        failingNowAndThen { _ = try? world.perform(command, on: ann) }
    }

    func drawnCommand() throws -> Command {
        let space = try space()
        return switch random.next() % 17 {
        case 0...2: messageCommand(space)
        case 3...5: markingCommand(space)
        case 6...7: groupCommand(space)
        case 8: personalCommand(space)
        case 9, 10: callCommand(space)
        case 11, 12: .together(togetherCommand(in: space, number()))
        case 13: .remind(reminderCommand())
        case 14: .file(fileCommand())
        case 15: .schedule(scheduleCommand(space))
        default: numberedCommand(space)
        }
    }

    /// One of the operations that Ann's node has, most often one that people see, or any.
    private func number() -> OperationNumber {
        guard !random.happens(onceIn: 8) else {
            return OperationNumber(Int64(truncatingIfNeeded: random.hostile()))
        }
        var number = OperationNumber(1)
        for _ in 0..<6 {
            number = OperationNumber(Int64(1 + random.below(ann.store.operationCount)))
            let kind = try? ann.store.operation(number)?.operation.header.kind
            if let kind, [.text, .poll, .note, .item, .decision].contains(kind) { break }
        }
        return number
    }

    private func messageCommand(_ space: SpaceID) -> Command {
        let parent = random.flip() ? nil : number()
        return switch random.next() % 7 {
        case 0: .send(space, [TextMessage(text: "s")], replyingTo: parent)
        case 1:
            .send(
                space,
                [TextMessage(text: "", files: files())],
                replyingTo: parent)
        case 2:
            .sendOnce(
                space, [TextMessage(text: "o")], replyingTo: parent,
                OnceKey("\(random.below(3))", in: space))
        case 3:
            .edit(
                number(), text: "@e",
                mentions: Mentions([.init(person(), at: 0..<2)], everyone: random.flip()))
        case 4: .delete(number())
        case 5: .react(number(), Reaction(emoji: "👍", isOn: random.flip()))
        default: .keepUnsent(space, random.flip() ? "" : "u")
        }
    }

    /// Files that she holds, and now and then others.
    private func files() -> [Attachment] {
        (0...random.below(3)).map { _ in
            random.happens(onceIn: 6) ? attachment() : sample().attachment
        }
    }

    private func markingCommand(_ space: SpaceID) -> Command {
        switch random.next() % 8 {
        case 6 where random.flip(): .report(number(), text: "r", to: [space])
        case 6: .deleteForOneself(number())
        case 0: .pin(number(), isOn: random.flip())
        case 1: .star(number(), isOn: random.flip())
        case 2: .archive(space, isOn: random.flip())
        case 3: .markUnread(space, isOn: random.flip())
        case 5: .keepFirst(space, isOn: random.flip())
        case 4: .mute(space, isOn: random.flip(), until: random.flip() ? nil : random.hostile())
        default: .markRead(space, ShownMessages((0..<9).map { _ in number() }))
        }
    }

    /// What ends much of what else is tried is rare.
    private func groupCommand(_ space: SpaceID) -> Command {
        switch random.next() % 14 {
        case 0: .createGroup(name: "g", members: [person()])
        case 1: .addMember(space, person(), .member)
        case 2: .removeMember(space, random.happens(onceIn: 4) ? person() : eve.identity.person)
        case 3: .setRole(space, person(), [.reader, .member, .admin, .owner][random.below(4)])
        case 4, 5, 6:
            [
                .rename(space, "n"), .describe(space, "d"), .setPicture(space, [1]),
                .setLifetime(space, seconds: random.next() % 3 * 31_536_000),
                .acceptInvitation(space), .withdrawJoin(space), .withdrawJoin(random.identifier()),
                .endGroupInvite(space, random.identifier()),
            ][random.below(8)]
        case 7: .declineInvitation(space)
        case 8: .setAdditionPolicy(random.flip() ? .ask : .contacts)
        case 9:
            random.happens(onceIn: 4) ? .leave(space, anyway: random.flip()) : .rename(space, "l")
        case 10:
            random.happens(onceIn: 3)
                ? .deleteConversation(space) : .deleteConversation(random.identifier())
        default:
            .createGroupInvite(
                space, secret: random.bytes(32), role: .member,
                uses: UInt32(truncatingIfNeeded: random.hostile()), expires: random.hostile())
        }
    }

    private func personalCommand(_ space: SpaceID) -> Command {
        switch random.next() % 16 {
        case 0: .setProfile(name: "ann", addresses: random.flip() ? nil : ["\(ann.index)"])
        case 1:
            ProfileField(.status, "s").map { .say($0) } ?? .setProfile(name: "a", addresses: nil)
        case 2: .setPresence(Presence.allCases[random.below(Presence.allCases.count)])
        case 3: .setPrivacy(.everything, for: random.flip() ? nil : person())
        case 4: .markVerified(person())
        case 5: .setAlias(person(), random.flip() ? "" : "x")
        case 6: .renameDevice(device(), name: "d")
        case 7: .addDevice(deviceRequest())
        case 8:
            .revokeDevice(
                random.happens(onceIn: 3) ? device() : random.identifier(),
                root: random.flip() ? nil : ann.rootKey)
        case 9:
            TurnServer(address: "turn:192.0.2.7:3478", access: .secret("s"))
                .map { .setCallServer($0) } ?? .removeCallServer("turn:192.0.2.7:3478")
        case 10: .removeCallServer("turn:192.0.2.7:3478")
        case 11: .noteRecoveryCheck(at: random.hostile())
        case 12 where random.flip(): .setUsualLifetime(seconds: random.hostile())
        case 12: .setLinkPreviews(random.flip())
        case 13:
            .setDisclosure(
                random.flip() ? .reading : .typing, isTold: random.flip() ? nil : random.flip(),
                in: random.flip() ? nil : space)
        default:
            .answerContact(
                random.happens(onceIn: 4) ? person() : random.identifier(),
                ContactAnswer.allCases[random.below(ContactAnswer.allCases.count)])
        }
    }

    /// Of a device that proves that it has its key, or of one that does not.
    private func deviceRequest() -> DeviceRequest {
        let key = DeviceSigningKey.generate(using: &random)
        let noiseKey = DeviceNoiseKey.generate(using: &random).publicKey
        let proof = IdentityOperation.proofOfPossession(
            to: random.flip() ? ann.identity.person : person(), by: key, noiseKey: noiseKey)
        return DeviceRequest(device: key.device, noiseKey: noiseKey, proof: proof, name: "d")
    }

    private func callCommand(_ space: SpaceID) -> Command {
        let call = CallID(Check(high: 1, low: random.next() % 3))
        let candidate = Candidate(text: "c", part: "0", index: 255)
        let news: [MediaNews] = [
            .offer("v=0"), .answer("v=0"), .candidate(candidate), .wantsOffer, .connected,
            .disconnected, .failed,
        ]
        return switch random.next() % 6 {
        case 0: .call(space, MediaState(rawValue: 1))
        case 1: .types(space, random.flip())
        case 2, 3: .act(call, .news(device(), news[random.below(news.count)]))
        default:
            .act(
                call,
                [.answer([]), .decline, .hangUp, .setMedia(MediaState(rawValue: 7)), .mediaFailed][
                    random.below(5)])
        }
    }

    private func reminderCommand() -> ReminderCommand {
        let known =
            (try? ann.core.ownSpace.map {
                try Overview.reminders(ownSpace: $0.number, in: ann.store)
            }) ?? []
        let id =
            known.isEmpty || random.happens(onceIn: 4)
            ? Reminder.ID(random.hostile()) : known[random.below(known.count)].id
        return switch random.next() % 8 {
        case 0: .finish(id)
        case 1: .take(id)
        case 2: .remove(id)
        default: .add(text: "r", about: random.flip() ? number() : nil, at: soon())
        }
    }

    private func scheduleCommand(_ space: SpaceID) -> ScheduleCommand {
        let known =
            (try? ann.core.ownSpace.map {
                try Overview.scheduled(ownSpace: $0.number, in: ann.store)
            }) ?? []
        let id =
            known.isEmpty || random.happens(onceIn: 4)
            ? ScheduledMessage.ID(random.hostile()) : known[random.below(known.count)].id
        return switch random.next() % 8 {
        case 0: .move(id, at: soon())
        case 1: .send(id)
        case 2: .remove(id)
        default: .add(TextMessage(text: "later"), to: space, at: soon())
        }
    }

    /// A moment that comes while the life goes on, or any.
    private func soon() -> UInt64 {
        random.flip() ? now() + random.next() % 100_000 : random.hostile()
    }

    private func fileCommand() -> FileCommand {
        switch random.next() % 5 {
        case 0, 1: .fetch(number())
        case 2: .forget((0..<random.below(4)).map { _ in number() }, anyway: random.flip())
        case 3: .noteUse(blob())
        default:
            .set(
                FileSettings(
                    roomByteCount: random.flip() ? random.next() % 300_000 : random.hostile(),
                    fetchByteCountMax: random.hostile(),
                    keptDayCount: random.hostile()))
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
                    isMultiple: random.flip(), until: random.flip() ? nil : soon()))
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
        case 4: .revokeInvite(random.hostile())
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
                    rotationHours: UInt32(truncatingIfNeeded: random.hostile()),
                    rules: rules()))
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

    private func rules() -> GroupRules {
        var rules = GroupRules()
        for act in GroupAct.allCases where random.flip() {
            rules[act] = random.flip() ? .everybody : .admins
        }
        return rules
    }

    private func line() -> Int { Int(truncatingIfNeeded: random.hostile()) }

    private func rows() -> [ImportedRow] {
        (0..<random.below(3)).map { _ in
            ImportedRow(
                line: line(),
                message: TextMessage(
                    text: "i",
                    origin: ImportedOrigin(author: "x", time: random.hostile(), isAction: false)),
                original: random.flip()
                    ? nil : SentAgain.Original(tag: LogTag(7), sequence: random.hostile()))
        }
    }
}
