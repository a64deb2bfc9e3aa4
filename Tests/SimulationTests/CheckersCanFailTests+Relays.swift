import ParleyConversation
import ParleyRelaying
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyCheckers
@testable import ParleyLedger
@testable import ParleyNodeCore
@testable import ParleySimulation

extension CheckersCanFailTests {
    @Test("DeliveredIsHeld: a message is shown as read that nobody else has")
    func deliveredIsHeld() throws {
        let trial = try Trial(of: "I17")
        trial.world.cut(trial.ann, trial.ben)
        try trial.ann.type("anybody there?", in: trial.trip)
        let tag = LogTag(
            OperationHash.log(
                space: trial.trip, device: trial.ann.identity.device, lane: .content))
        try trial.meddle(with: trial.ann) { store, space in
            let log = try #require(try store.log(tag, in: space.number))
            let ben = trial.ben.identity
            for kind in [MarkKind.delivered, .read] {
                try store.put(
                    Mark(
                        space: space.number, kind: kind,
                        actor: Digest(reinterpreting: ben.device), tag: tag,
                        places: PlaceSet(0..<log.end)))
            }
        }
        trial.isBroken(isSettled: false)
    }

    @Test("DeliveredIsHeld: an edit, or a deletion, is shown as read that nobody else has")
    func changesAreHeld() throws {
        for isDeletion in [false, true] {
            let trial = try Trial(of: "I17")
            try trial.ann.type("at eight", in: trial.trip)
            trial.world.run(for: 5_000)
            try trial.ben.read(trial.trip)
            trial.world.run(for: 5_000)
            #expect(try trial.ann.shown(in: trial.trip).last?.state == .read)
            trial.world.cut(trial.ann, trial.ben)
            if isDeletion {
                try trial.ann.delete("at eight", in: trial.trip)
            } else {
                try trial.ann.edit("at eight", to: "at nine", in: trial.trip)
            }
            #expect(try trial.ann.shown(in: trial.trip).last?.state == .saved)
            try trial.jury.verify()
            try trial.meddle(with: trial.ann) { store, space in
                let tag = LogTag(
                    OperationHash.log(
                        space: trial.trip, device: trial.ann.identity.device, lane: .content))
                let log = try #require(try store.log(tag, in: space.number))
                for kind in [MarkKind.delivered, .read] {
                    try store.put(
                        Mark(
                            space: space.number, kind: kind,
                            actor: Digest(reinterpreting: trial.ben.identity.device), tag: tag,
                            places: PlaceSet(0..<log.end)))
                }
            }
            trial.isBroken(isSettled: false)
        }
    }

    @Test(
        "DeliveredIsHeld: a reaction that nobody else has shows no sign that it waits, or is not counted",
        arguments: [0, 41])
    func reactionsAreHeld(newerCount: Int) throws {
        let trial = try Trial(of: "I17")
        let text = "from which platform?"
        // Of messages that are so old the signs are not looked at.
        for number in 0..<newerCount { try trial.ben.type("\(number) more", in: trial.trip) }
        trial.world.run(for: 5_000)
        trial.world.cut(trial.ann, trial.ben)
        try trial.ann.react("👍", to: text, in: trial.trip)
        try trial.jury.verify()
        #expect(trial.jury.checkCounts["I17"] ?? 0 > 0)
        try trial.meddle(with: trial.ann) { store, space in
            let log = try #require(
                try store.logs(in: space.number).first {
                    $0.lane == .content && $0.device == trial.ann.identity.device
                })
            try store.put(
                Mark(
                    space: space.number, kind: .delivered,
                    actor: Digest(reinterpreting: trial.ben.identity.device), tag: log.tag,
                    places: PlaceSet(0..<log.end)))
        }
        trial.isBroken(isSettled: false)
    }

    /// What a relay is asked to keep, as a step that nobody made.
    private func put(_ bytes: [UInt8], _ trial: Trial) throws {
        let relay = try #require(trial.world.relays.first)
        var random = SeededRandom(seed: 1, purpose: "put")
        let key = DeviceSigningKey.generate(using: &random)
        let request = MailboxRequest(
            number: 1, action: .put(envelope: bytes), mailbox: MailboxID(drop: key.device), key: key
        )
        trial.world.onStep?(
            StepReport(
                node: trial.ann, input: .madeDurable, effects: [.askRelay(relay.key, request)],
                isLost: false))
    }

    @Test("RelaySeesNothing: a text, or the name of a device, lies open in an envelope")
    func relaySeesText() throws {
        for isName in [true, false] {
            let trial = try Trial(of: "I18", hasRelay: true)
            try trial.ann.type("under the clock at seven", in: trial.trip)
            let secret =
                isName
                ? trial.ann.identity.device.bytes : Array("under the clock at seven".utf8)
            let zeros = [UInt8](repeating: 0, count: 100)
            try put(zeros, trial)
            try trial.jury.verify()
            try put(zeros + secret + zeros, trial)
            trial.isBroken(isSettled: false)
        }
    }

    @Test("RelaySeesNothing: a message is shown as lying on a relay that never answered")
    func neverRelayed() throws {
        let trial = try Trial(of: "I18", hasRelay: true)
        let relay = try #require(trial.world.relays.first)
        trial.world.run(for: 30_000)
        trial.world.cut(trial.ann, trial.ben)
        trial.world.stop(relay)
        trial.world.run(for: 10_000)
        try trial.ann.type("anybody there?", in: trial.trip)
        try trial.jury.verify()
        let tag = LogTag(
            OperationHash.log(
                space: trial.trip, device: trial.ann.identity.device, lane: .content))
        try trial.meddle(with: trial.ann) { store, space in
            let log = try #require(try store.log(tag, in: space.number))
            try store.setValue(
                Outbox.Entry(first: 0, end: log.end, since: 1).bytes, .outbox,
                Outbox.key(relay.key, trial.trip, tag))
        }
        trial.isBroken(isSettled: false)
    }

    @Test("RelaySeesNothing: a message is shown as lying on a relay that has lost all since")
    func lostByRelay() throws {
        let trial = try Trial(of: "I18", hasRelay: true)
        let (ann, relay) = (trial.ann, try #require(trial.world.relays.first))
        trial.world.stopProcess(of: trial.ben)
        try ann.type("anybody there?", in: trial.trip)
        trial.world.run(for: 60_000)
        #expect(try ann.messages(in: trial.trip).contains { $0.state == .relayed })
        try trial.jury.verify()
        trial.world.wipe(relay)
        // The relay tells, and the node goes on showing what it showed.
        let welcome = Relay.welcome(
            starts: relay.store.starts, newest: relay.store.newest, policy: relay.policy,
            at: World.epoch + trial.world.now)
        trial.world.onStep?(
            StepReport(
                node: ann, input: .relay(relay.key, .opened(welcome)), effects: [], isLost: false))
        trial.isBroken(isSettled: false)
    }
}
