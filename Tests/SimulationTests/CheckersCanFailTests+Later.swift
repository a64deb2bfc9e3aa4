import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleyCheckers
@testable import ParleyNodeCore
@testable import ParleySimulation

/// Promises about what happens at a time, and about who is kept away or let in meanwhile.
extension CheckersCanFailTests {
    /// A step that nobody made.
    private func pretend(
        _ input: Input, by node: SimulatedNode, _ effects: [Effect], _ trial: Trial
    ) {
        trial.world.onStep?(StepReport(node: node, input: input, effects: effects, isLost: false))
    }

    /// Ann wants something said in so many milliseconds.
    private func schedule(_ text: String, in time: UInt64, _ trial: Trial) throws {
        let moment = World.epoch + trial.world.now + time
        _ = try trial.world.perform(
            .schedule(.add(TextMessage(text: text), to: trial.trip, at: moment)), on: trial.ann)
    }

    /// A node is said to have written by itself what a person wrote.
    private func sayByTimer(_ text: String, _ node: SimulatedNode, _ trial: Trial) throws {
        let space = try #require(try node.store.space(trial.trip)).number
        // The newest: another device may have said the same.
        let messages = try node.messages(in: trial.trip)
        let number = try #require(messages.last { $0.text == text }).number
        pretend(.timer(.scheduled), by: node, [.changed([.message(space, number)])], trial)
    }

    @Test("DueOnce: a device says what it was to say twice, or too soon; another says it")
    func saidTwice() throws {
        for (isOther, isEarly) in [(false, false), (true, false), (false, true)] {
            let trial = try Trial(of: "I43")
            try schedule("happy new year", in: isEarly ? 600_000 : 60_000, trial)
            trial.world.run(for: 130_000)
            try trial.jury.verify()
            #expect(isEarly || trial.jury.checkCounts["I43"] ?? 0 > 0)
            let speaker = isOther ? trial.ben : trial.ann
            try speaker.type("happy new year", in: trial.trip)
            try sayByTimer("happy new year", speaker, trial)
            trial.isBroken(isSettled: false)
        }
    }

    @Test("RulesAreKept: a node writes, and pins, where it may not")
    func writtenAgainstRules() throws {
        let trial = try Trial(of: "I47")
        var rules = GroupRules()
        rules[.write] = .admins
        _ = try trial.world.perform(
            .changeSettings(trial.trip, SpaceSettings(rules: rules)), on: trial.ann)
        trial.world.run(for: 10_000)
        try trial.ann.type("news", in: trial.trip)
        trial.world.run(for: 10_000)
        try trial.jury.verify()
        #expect(trial.jury.checkCounts["I47"] ?? 0 > 0)
        // As if it did not know the rules: what stands in its own log counts, whoever put it there.
        let forgery = try #require(try Forgery(trial.ben, in: trial.trip))
        let run = try #require(
            try forgery.run(TextMessage(text: "on").draft(), at: World.epoch, naming: []))
        try forgery.keep(run)
        pretend(.timer(.upkeep(forgery.space.number)), by: trial.ben, [], trial)
        trial.isBroken(isSettled: false)
    }

    @Test("DiscretionIsKept: others are told what somebody has read who tells nobody")
    func toldInSpite() throws {
        let trial = try Trial(of: "I48")
        try trial.ann.type("news", in: trial.trip)
        trial.world.run(for: 10_000)
        let messages = try trial.ben.messages(in: trial.trip).map(\.number)
        _ = try trial.world.perform(.markRead(trial.trip, ShownMessages(messages)), on: trial.ben)
        try trial.jury.verify()
        #expect(trial.jury.checkCounts["I48"] ?? 0 > 0)
        _ = try trial.world.perform(
            .setDisclosure(.reading, isTold: false, in: trial.trip), on: trial.ben)
        let forgery = try #require(try Forgery(trial.ben, in: trial.trip))
        let tag = try #require(try trial.ben.messages(in: trial.trip).last).reference.tag
        let receipts = Receipts(read: [.init(tag: tag, places: PlaceSet(0..<1))])
        let run = try #require(try forgery.run(receipts.draft(), at: World.epoch, naming: []))
        try forgery.keep(run)
        pretend(.timer(.upkeep(forgery.space.number)), by: trial.ben, [], trial)
        trial.isBroken(isSettled: false)
    }

    @Test("DueOnce: a device never says what it was to say")
    func saidNever() throws {
        let trial = try Trial(of: "I43")
        try schedule("happy new year", in: 60_000, trial)
        trial.ann.timers[.scheduled] = nil
        trial.world.run(for: 90_000)
        try trial.jury.verify()
        trial.world.run(for: 301_000)
        trial.isBroken(isSettled: false)
    }

    @Test("DueOnce: a reminder rings twice, or at another device")
    func rungTwice() throws {
        for isOther in [false, true] {
            let trial = try Trial(of: "I43")
            let phone = try trial.world.addDevice("phone", of: trial.ann)
            let moment = World.epoch + trial.world.now + 60_000
            guard
                case .reminder(let id) = try trial.world.perform(
                    .remind(.add(text: "the kettle", about: nil, at: moment)), on: trial.ann)
            else {
                Issue.record("ann noted no reminder")
                return
            }
            trial.world.run(for: 130_000)
            try trial.jury.verify()
            #expect(trial.jury.checkCounts["I43"] ?? 0 > 0)
            pretend(
                .timer(.ringing), by: isOther ? phone : trial.ann, [.changed([.reminder(id)])],
                trial)
            trial.isBroken(isSettled: false)
        }
    }

    @Test("BlockedAreNotCounted: what somebody says who is kept away counts as unread")
    func blockedCounted() throws {
        let trial = try Trial(of: "I44")
        _ = try trial.world.perform(
            .answerContact(trial.ben.identity.person, .block), on: trial.ann)
        try trial.jury.verify()
        #expect(trial.jury.checkCounts["I44"] ?? 0 > 0)
        // The note of whom ann keeps away lies where nobody looks for it.
        let own = try #require(trial.ann.core.ownSpace)
        try trial.ann.store.begin(.full)
        for var entry in try trial.ann.store.entries(
            about: .space, in: own.number, field: EntryField(rawValue: 6))
        {
            try trial.ann.store.remove(entry)
            entry.element = try trial.ann.store.locator([1, 2, 3])
            try trial.ann.store.put(entry)
        }
        try trial.ann.store.commit()
        trial.isBroken(isSettled: false)
    }

    @Test("DisappearedInTime: words stay after their time, or go before anybody has read them")
    func disappeared() throws {
        for isEarly in [false, true] {
            let trial = try Trial(of: "I45")
            _ = try trial.world.perform(.setLifetime(trial.trip, seconds: 60), on: trial.ann)
            trial.world.run(for: 3_000)
            try trial.ann.type("secret", in: trial.trip)
            trial.world.run(for: 5_000)
            if !isEarly { try trial.ben.read(trial.trip) }
            trial.world.run(for: 2_000)
            try trial.jury.verify()
            #expect(trial.jury.checkCounts["I45"] ?? 0 > 0)
            if isEarly {
                let number = try trial.number(of: "secret", at: trial.ben)
                try trial.meddle(with: trial.ben) { store, _ in
                    _ = try Disappearance.erase(number, in: store)
                }
            } else {
                trial.ben.timers[.disappearing] = nil
                trial.world.run(for: 400_000)
            }
            trial.isBroken(isSettled: false)
        }
    }

    @Test("DisappearedInTime: words do not come that nobody has read here and another has")
    func withheld() throws {
        let trial = try Trial(of: "I45")
        let (world, ben) = (trial.world, trial.ben)
        _ = try world.perform(.setLifetime(trial.trip, seconds: 60), on: trial.ann)
        world.run(for: 3_000)
        try trial.ann.type("secret", in: trial.trip)
        world.run(for: 1_000)
        try trial.jury.verify()
        // As if they had come without the words, and were asked for of nobody.
        world.stopProcess(of: ben)
        let number = try trial.number(of: "secret", at: ben)
        try trial.meddle(with: ben) { store, _ in _ = try Disappearance.erase(number, in: store) }
        world.restart(ben)
        world.run(for: 10_000)
        trial.isBroken()
    }

    @Test("InvitesEnd: somebody is taken in by an invite that was ended, or is over")
    func invitedTooLate() throws {
        for isEnded in [true, false] {
            let trial = try Trial(of: "I46")
            let (world, ann) = (trial.world, trial.ann)
            let secret = [UInt8](repeating: 7, count: Invite.secretByteCount)
            let expires = World.epoch + world.now + (isEnded ? 86_400_000 : 10_000)
            _ = try world.perform(.createInvite(secret: secret, expires: expires), on: ann)
            var invite = try #require(try OpenInvite.kept(ann.store).first)
            if isEnded { _ = try world.perform(.revokeInvite(invite.number), on: ann) }
            func keep(_ invite: OpenInvite) throws {
                try trial.meddle(with: ann) { store, _ in
                    try store.setValue(invite.bytes, .invite, OpenInvite.key(invite.number))
                }
            }
            world.run(for: 20_000)
            // As if it had not been ended.
            try keep(invite)
            try ann.type("nobody may come any more", in: trial.trip)
            try trial.jury.verify()
            invite.guests = [trial.ben.identity.person]
            try keep(invite)
            world.onStep?(
                StepReport(
                    node: ann, input: .frame(LinkID(1), []), effects: [], isLost: false,
                    wall: world.wall(of: ann)))
            trial.isBroken(isSettled: false)
        }
    }
}
