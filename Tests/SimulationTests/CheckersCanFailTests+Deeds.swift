import ParleyConversation
import ParleyRoster
import ParleySealing
import ParleySignalling
import ParleyWire
import Testing

@testable import ParleyCheckers
@testable import ParleyLedger
@testable import ParleyNodeCore
@testable import ParleySimulation

extension CheckersCanFailTests {
    private static let rung = CallID(Check(high: 7, low: 7))

    /// A step that nobody made.
    private func pretend(
        _ input: Input, by node: SimulatedNode, _ effects: [Effect], _ trial: Trial
    ) {
        trial.world.onStep?(StepReport(node: node, input: input, effects: effects, isLost: false))
    }

    /// Ann puts frames into a mailbox of an epoch of hers, under a step of her chain.
    @discardableResult
    private func put(
        _ frames: [Frame], atStep step: UInt32, under former: OperationID? = nil, _ trial: Trial
    ) throws -> (mailbox: MailboxID, envelope: [UInt8]) {
        let relay = try #require(trial.world.relays.first)
        let (epoch, seed) = try #require(
            trial.world.seedBook.seeds.first {
                $0.value.space == trial.trip && former ?? $0.key == $0.key
            })
        let keys = seed.keys
        let mailbox = keys.drop(
            at: relay.key, ofDay: RelayDay(clamping: (World.epoch + trial.world.now) / 86_400_000))
        var chain = seed.chain(of: trial.ann.identity.device)
        chain.skip(step)
        var random = SeededRandom(seed: UInt64(step), purpose: "put")
        var writer = ByteWriter(capacity: 64)
        writer.byte(1)
        for frame in frames { writer.counted(frame.encoded()) }
        let sealed = try Envelope.seal(
            writer.bytes, at: EnvelopePlace(space: trial.trip, epoch: epoch, mailbox: mailbox.id),
            chain: &chain, keys: keys, by: trial.ann.identity.key, using: &random)
        let request = MailboxRequest(
            number: 1, action: .put(envelope: sealed), mailbox: mailbox.id, key: mailbox.key)
        pretend(.madeDurable, by: trial.ann, [.askRelay(relay.key, request)], trial)
        return (mailbox.id, sealed)
    }

    @Test("HeldIsKnown: what the other has said to hold of a group's name is forgotten")
    func unsaid() throws {
        let trial = try Trial(of: "I41")
        trial.world.run(for: 60_000)
        try trial.jury.verify()
        try trial.meddle(with: trial.ann) { store, space in
            for mark in try store.marks(.acknowledged, in: space.number) {
                try store.put(
                    Mark(
                        space: mark.space, kind: mark.kind, actor: mark.actor, tag: mark.tag,
                        places: PlaceSet()))
            }
        }
        try trial.jury.verify()
        trial.world.run(for: 660_000)
        trial.isBroken()
    }

    @Test("RepeatedIsIgnored: what a relay passes on again has an effect again")
    func passedTwice() throws {
        let trial = try Trial(of: "I32", hasRelay: true)
        let relay = try #require(trial.world.relays.first)
        let mailbox = MailboxID(reinterpreting: trial.trip)
        let changed = Effect.changed([.presence(trial.ann.identity.person)])
        func pass(_ bytes: [UInt8], _ effects: [Effect]) {
            pretend(.relay(relay.key, .passed(mailbox, bytes)), by: trial.ben, effects, trial)
        }
        pass([1], [changed])
        pass([2], [])
        pass([1], [])
        pass([2], [changed])
        try trial.jury.verify()
        #expect(trial.jury.checkCounts["I32"] ?? 0 > 0)
        pass([1], [changed])
        trial.isBroken(isSettled: false)
    }

    @Test("UsedKeysAreGone: the key of an envelope that was opened is kept")
    func keptKey() throws {
        let trial = try Trial(of: "I33", hasRelay: true)
        let relay = try #require(trial.world.relays.first)
        let first = try put([.credit(1)], atStep: 500, trial)
        let second = try put([.credit(2)], atStep: 501, trial)
        let (epoch, seed) = try #require(
            trial.world.seedBook.seeds.first { $0.value.space == trial.trip })
        let ann = trial.ann.identity.device
        var chain = seed.chain(of: ann)
        chain.skip(500)
        let place = EnvelopePlace(space: trial.trip, epoch: epoch, mailbox: second.mailbox)
        _ = try Envelope(second.envelope, at: place, keys: seed.keys).open(
            from: ann, chain: &chain, now: World.epoch + trial.world.now)
        // As it would be kept if the first had been opened, and its key had not been erased.
        var kept = chain.stored.withUnsafeBytes { Array($0) }
        #expect(Array(kept[1..<5]) == [0, 0, 1, 246])
        kept[4] = 245
        for bytes in [seed.chain(of: ann).stored.withUnsafeBytes { Array($0) }, kept] {
            try trial.jury.verify()
            try trial.meddle(with: trial.ben) { store, space in
                try store.setSecret(
                    Secret(bytes), .chain, epoch.bytes + ann.bytes, in: space.number)
            }
            let entry = RelayEntry(counter: 1, envelope: first.envelope)
            pretend(
                .relay(relay.key, .arrived(first.mailbox, [entry])), by: trial.ben, [], trial)
        }
        trial.isBroken(isSettled: false)
    }

    @Test("KeySealsOnce: a step of a chain is used for two contents")
    func keySealsTwo() throws {
        let trial = try Trial(of: "I23", hasRelay: true)
        try put([.credit(1)], atStep: 500, trial)
        try put([.credit(1)], atStep: 500, trial)
        try put([.credit(2)], atStep: 501, trial)
        try trial.jury.verify()
        try put([.credit(2)], atStep: 500, trial)
        trial.isBroken(isSettled: false)
    }

    @Test("MailboxesHoldWhatAllMayHave: what a newcomer may not have lies where it reads")
    func belowAHorizon() throws {
        let trial = try Trial(of: "I24", hasRelay: true)
        let cara = try trial.world.addNode("cara")
        try trial.world.introduce(trial.ann, cara)
        _ = try trial.world.perform(
            .addMember(trial.trip, cara.identity.person, .member), on: trial.ann)
        trial.world.run(for: 5_000)
        try trial.jury.verify()
        let space = try #require(try trial.ann.store.space(trial.trip))
        let log = try #require(
            try trial.ann.store.logs(in: space.number).first {
                $0.lane == .content && $0.device == trial.ann.identity.device
            })
        let stored = try #require(try trial.ann.store.operation(at: 0, in: log.number))
        let run = Run(
            device: log.device, lane: log.lane, first: 0, anchor: nil,
            operations: [stored.operation], heads: [])
        let told = Operations(space: trial.trip, endsAnswer: false, runs: [run])
        try put([.operations(told)], atStep: 500, trial)
        trial.isBroken(isSettled: false)
    }

    @Test("MailboxesHoldWhatAllMayHave: a text lies where somebody reads who was taken out")
    func sealedForWhoIsOut() throws {
        let trial = try Trial(of: "I24", hasRelay: true)
        let cara = try trial.world.addNode("cara")
        try trial.world.introduce(trial.ann, cara)
        let person = cara.identity.person
        _ = try trial.world.perform(.addMember(trial.trip, person, .member), on: trial.ann)
        trial.world.run(for: 5_000)
        let space = try #require(try trial.ann.store.space(trial.trip))
        var core = trial.ann.core
        let epoch = try #require(try core.currentEpoch(of: space, in: trial.ann.store))
        try trial.ann.type("after cara came", in: trial.trip)
        let log = try #require(
            try trial.ann.store.logs(in: space.number).first {
                $0.lane == .content && $0.device == trial.ann.identity.device
            })
        let stored = try #require(try trial.ann.store.operation(at: log.end - 1, in: log.number))
        let run = Run(
            device: log.device, lane: log.lane, first: log.end - 1, anchor: nil,
            operations: [stored.operation], heads: [])
        let told = Operations(space: trial.trip, endsAnswer: false, runs: [run])
        try put([.operations(told)], atStep: 500, under: epoch.id, trial)
        _ = try trial.world.perform(.removeMember(trial.trip, person), on: trial.ann)
        trial.world.run(for: 5_000)
        try trial.jury.verify()
        try put([.operations(told)], atStep: 501, under: epoch.id, trial)
        trial.isBroken(isSettled: false)
    }

    @Test("TakenUpAgain: who starts again forgets whom to remind, or what was missing")
    func forgottenAtTheStart() throws {
        for table in [ValueTable.reminder, .repair] {
            let trial = try Trial(of: "I39", hasRelay: true)
            let space = SpaceNumber(77)
            try trial.meddle(with: trial.ann) { store, _ in
                try store.setValue([UInt8](repeating: 0, count: 8), table, space.key)
            }
            let timer = table == .reminder ? TimerID.reminder(space) : .repair(space)
            pretend(.started, by: trial.ann, [.timer(timer, at: 0)], trial)
            try trial.jury.verify()
            #expect(trial.jury.checkCounts["I39"] ?? 0 > 0)
            pretend(.started, by: trial.ann, [], trial)
            trial.isBroken(isSettled: false)
        }
    }

    @Test("RemovalKeepsWhatWasHeld: a removal cuts at nothing, and at less than is held")
    func cutTooShort() throws {
        for isEmpty in [true, false] {
            let trial = try Trial(of: "I25")
            let (ann, ben) = (trial.ann, trial.ben)
            try ben.type("that I may keep", in: trial.trip)
            trial.world.run(for: 5_000)
            let space = try #require(try ann.store.space(trial.trip))
            let log = try #require(
                try ann.store.logs(in: space.number).first {
                    $0.lane == .content && $0.device == ben.identity.device
                })
            let first = try #require(try ann.store.operation(at: 0, in: log.number))
            let cut = Cut([
                LogPlace(device: log.device, lane: log.lane, sequence: 0, operation: first.id)
            ])
            let forgery = try #require(try Forgery(ann, in: trial.trip))
            let run = try #require(
                try forgery.run(
                    RemoveMember(ben.identity.person, cut: isEmpty ? Cut() : cut).draft(),
                    at: World.epoch, naming: try forgery.causes(of: .control)))
            try forgery.keep(run)
            pretend(
                .command(CommandID(1), .removeMember(trial.trip, ben.identity.person)), by: ann,
                [.reply(CommandID(1), .success(.done))], trial)
            trial.isBroken(isSettled: false)
        }
    }

    @Test("NobodyHearsWhoIsKeptAway: it rings for somebody who was blocked since")
    func ringsForBlocked() throws {
        let trial = try Trial(of: "I26")
        let space = try #require(try trial.world.conversation(of: trial.ann, and: trial.ben))
        _ = try trial.world.perform(.call(space, .microphone), on: trial.ann)
        trial.world.run(for: 2_000)
        try trial.jury.verify()
        #expect(trial.jury.checkCounts["I26"] ?? 0 > 0)
        let call = try #require(trial.ben.core.calls.all.first)
        #expect(call.phase == .ringing)
        // What is noted of the person changes without the node.
        let own = try #require(trial.ben.core.ownSpace)
        try trial.ben.store.begin(.full)
        for entry in try trial.ben.store.entries(
            about: .space, in: own.number, field: EntryField(rawValue: 6))
        { try trial.ben.store.remove(entry) }
        try trial.ben.store.commit()
        let ring = Calls.Output(call: call.id, space: space, order: .ring)
        pretend(.madeDurable, by: trial.ben, [.call(ring)], trial)
        trial.isBroken(isSettled: false)
    }

    @Test("BlockedAreNotRead: what lies in a mailbox of somebody who is blocked is asked for")
    func readsBlocked() throws {
        for action in [RelayAction.subscribe, .get(RelayRange(after: 0))] {
            let trial = try Trial(of: "I42", hasRelay: true)
            let relay = try #require(trial.world.relays.first)
            let space = try #require(try trial.world.conversation(of: trial.ann, and: trial.ben))
            let person = trial.ann.identity.person
            let seed = try #require(
                trial.world.seedBook.seeds.first { $0.value.space == space }?.value)
            func read(_ effects: [Effect] = []) {
                let mailbox = seed.keys.drop(
                    at: relay.key,
                    ofDay: RelayDay(clamping: (World.epoch + trial.world.now) / 86_400_000))
                let request = MailboxRequest(
                    number: 1, action: action, mailbox: mailbox.id, key: mailbox.key)
                pretend(
                    .madeDurable, by: trial.ben, effects + [.askRelay(relay.key, request)], trial)
            }
            read()
            _ = try trial.world.perform(.answerContact(person, .block), on: trial.ben)
            trial.world.run(for: 60_000)
            read([.changed([.contact(person)])])
            try trial.jury.verify()
            read()
            trial.isBroken(isSettled: false)
        }
    }

    @Test("GivenUpStopsRinging: who gives a call up does not tell who is linked and rings")
    func givenUpInSilence() throws {
        let trial = try Trial(of: "I27")
        let ring = Calls.Output(call: Self.rung, space: trial.trip, order: .ring)
        pretend(.madeDurable, by: trial.ben, [.call(ring)], trial)
        let over = Calls.Output(call: Self.rung, space: trial.trip, order: .ended(.cancelled))
        pretend(.madeDurable, by: trial.ann, [.call(over)], trial)
        trial.isBroken(isSettled: false)
    }

    @Test("GivenUpStopsRinging: who hears that a call was given up rings on")
    func ringsOn() throws {
        let trial = try Trial(of: "I27")
        let space = try #require(try trial.world.conversation(of: trial.ann, and: trial.ben))
        _ = try trial.world.perform(.call(space, .microphone), on: trial.ann)
        trial.world.run(for: 2_000)
        try trial.jury.verify()
        let call = try #require(trial.ben.core.calls.all.first)
        let said = Signal(
            space: space, stamp: Stamp((World.epoch + trial.world.now) << 16),
            body: .call(call.id, .leave(.hungUp)))
        let link = LinkID(1_000_000)
        let peer = LinkPeer(
            person: trial.ann.identity.person, root: trial.ann.identity.root,
            device: trial.ann.identity.device, identity: trial.ann.identity.operations,
            handshakeHash: [], isInitiator: true)
        pretend(.linkOpened(link, peer), by: trial.ben, [], trial)
        pretend(.frame(link, Frame.signal(said.encoded()).encoded()), by: trial.ben, [], trial)
        trial.isBroken(isSettled: false)
    }

    @Test("AnswersStandBelow: an answer is shown above its question")
    func answerAbove() throws {
        let trial = try Trial(of: "I28")
        try trial.ben.reply("at ten", to: "the train leaves at nine", in: trial.trip)
        trial.world.run(for: 5_000)
        try trial.jury.verify(isSettled: true)
        #expect(trial.jury.checkCounts["I28"] ?? 0 > 0)
        try trial.meddle(with: trial.ann) { store, space in
            var row = try #require(try store.messages(in: space.number, before: nil, limit: 1).last)
            try store.remove(row)
            row.order.stand = 1
            try store.insert(row)
        }
        trial.isBroken()
    }

    @Test("SeenStandsAbove: what answers something that was seen stands above it")
    func aboveWhatWasSeen() throws {
        let trial = try Trial(of: "I36")
        try trial.ann.type("it is late", in: trial.trip)
        trial.world.run(for: 5_000)
        try trial.ben.type("it is", in: trial.trip)
        trial.world.run(for: 5_000)
        try trial.jury.verify(isSettled: true)
        #expect(trial.jury.checkCounts["I36"] ?? 0 > 0)
        try trial.place(at: 1, of: trial.ben, seenBy: trial.ann)
        trial.isBroken()
    }

    @Test("SeenStandsAbove: somebody stands years ahead of everybody's clock")
    func ahead() throws {
        let trial = try Trial(of: "I36")
        try trial.place(at: 1 << 58, of: trial.ben, seenBy: trial.ann)
        trial.isBroken()
    }

    @Test("IdleIsQuiet: two who have nothing to say ask each other again and again")
    func endlessRound() throws {
        let trial = try Trial(of: "I29")
        let link = LinkID(1_000_000)
        // Keys are renewed within the first minutes.
        for minute in 0..<24 {
            if minute == 10 { try trial.jury.verify() }
            for _ in 0..<(minute < 10 ? 2 : 30) {
                pretend(
                    .madeDurable, by: trial.ann, [.send(link, [2, 1, 1])], trial)
            }
            trial.world.run(for: 60_000)
        }
        trial.isBroken(isSettled: false)
    }
}

extension Trial {
    /// Puts the last message of one elsewhere, as another has it.
    fileprivate func place(
        at value: UInt64, of author: SimulatedNode, seenBy node: SimulatedNode
    ) throws {
        try meddle(with: node) { store, space in
            let log = try #require(
                try store.logs(in: space.number).first {
                    $0.lane == .content && $0.device == author.identity.device
                })
            let tip = try #require(try store.header(at: log.end - 1, in: log.number))
            var stand = tip.stand
            stand.value = value
            try store.setStand(stand, of: tip.number)
        }
    }
}
