import ParleyNodeCore
import ParleySealing
import ParleyWire

/// What each thing that a peer may send costs the node that it is sent to, beside what that peer's
/// allowance pays for it: a step of the production core on the production store, commit aside.
///
/// A case is a name, an input, and its budget; a new one is a line in ``cases(in:)``.
enum HostileBench {
    /// What a unit of work stands for.
    private static let secondsOfUnit = 10e-6
    /// What it may take to prove, store and merge one record of a call.
    private static let secondsOfCall = 200e-6
    private static let sampleCount = 300
    /// Of new operations credit pays for what they take: about three times what was measured.
    private static let controlUnits: UInt64 = 4_500
    private static let epochUnits: UInt64 = 150
    /// What a letter may take: to open it, and one signature. How many are opened is a relay's right.
    private static let unitsOfLetter: UInt64 = 100
    /// Operations that the victim serves in answer to one frame: all that its log holds.
    private static let served = UInt64(HostileWorld.messageCount)

    private struct Case {
        let name: String
        let note: String
        /// In units of work.
        let budget: UInt64
        let input: Input
    }

    static func figures(folder: String) throws -> [Figure] {
        let world = try HostileWorld(folder: folder)
        return try (cases(in: world) + operations(in: world) + controls(in: world)).map { one in
            let samples = try (0..<sampleCount).map { _ in try world.victim.measure(one.input) }
            return Figure(
                "hostile-" + one.name, samples: samples, unit: "s",
                budget: Double(one.budget) * secondsOfUnit, note: one.note)
        } + [
            try HostileFiles.figure(in: world, sampleCount: sampleCount, unit: secondsOfUnit),
            try manyCalls(in: world), try closedFront(in: world),
        ] + (try letters(in: world))
            + (try HostileRelay.figures(sampleCount: sampleCount))
    }

    /// Letters and envelopes, which a relay brings: measured last, since the link has ended.
    private static func letters(in world: HostileWorld) throws -> [Figure] {
        let mail = try HostileMail(in: world)
        let bomb = try HostileOperations(in: world).unsigned
        let bytes = bomb.encoded()
        let full =
            FrameWork.proving(operationCount: HostileOperations.count)
            + FrameWork.parcel(byteCount: bytes.count)
        let holding = "that holds \(HostileOperations.count) operations that nobody signed"
        var all: [(name: String, note: String, units: UInt64, inputs: [Input])] = [
            ("letter", "a letter of a contact, who is known", 0, [mail.letter]),
            (
                "letter-blocked", "a letter of somebody blocked, which is not read", 0,
                [mail.blocking, mail.letter]
            ),
            (
                "letter-full", "a letter of a contact \(holding)", full,
                [try mail.letter(with: bytes)]
            ),
            ("envelope-full", "an envelope \(holding)", full, [try mail.envelope(with: bytes)]),
        ]
        func measured() throws -> [Figure] {
            try all.map { name, note, units, inputs in
                let samples = try (0..<sampleCount).map { _ in
                    try world.victim.measure(inputs)[inputs.count - 1]
                }
                return Figure(
                    "hostile-" + name, samples: samples, unit: "s",
                    budget: Double(unitsOfLetter + units) * secondsOfUnit, note: note)
            }
        }
        let figures = try measured() + (try passing(mail, in: world))
        let keyCount = try mail.keepEarlierPrekeys()
        let trying = FrameWork.trying(keyCount: keyCount)
        let reading = FrameWork.reading(keyCount: keyCount)
        let junk = "bytes that open with none of \(keyCount) prekeys"
        all = [
            ("letter-junk", junk, reading + trying, [mail.junkLetter(9)]),
            (
                "letter-junk-next", "the same, once these are out of the vault", trying,
                [mail.junkLetter(8), mail.junkLetter(9)]
            ),
            ("signal-junk", "the same, of a signal", reading + trying, [mail.junkSignal]),
        ]
        return figures + (try measured())
    }

    /// What passes a relay, and what a relay says itself.
    private static func passing(_ mail: HostileMail, in world: HostileWorld) throws -> [Figure] {
        let signal = (
            name: "passing", note: "a signal of a contact that is none, passed by a relay",
            input: mail.signal([9, 9, 9])
        )
        return try ([signal] + mail.answers).map { name, note, input in
            let samples = try (0..<sampleCount).map { _ in try world.victim.measure(input) }
            return Figure(
                "hostile-" + name, samples: samples, unit: "s", budget: relayBudgets[name],
                note: note)
        }
    }

    /// About three times what each was measured to take, in seconds.
    private static let relayBudgets = [
        "passing": 600e-6, "relay-arrival": 1e-3, "relay-foreign": 10e-6, "relay-answer": 10e-6,
        "relay-missed": 10e-6, "relay-day": 1.2e-3, "relay-reopened": 1.3e-3,
    ]

    /// The wish for all on a link on which the peer grants no bytes: nothing may be sent, and so it is not
    /// looked for what the peer lacks. Measured last, since the former link ends.
    private static func closedFront(in world: HostileWorld) throws -> Figure {
        let victim = world.victim
        try victim.part(from: world.contact, world.link)
        let link = victim.newLink()
        _ = try victim.step(.linkOpened(link, world.contact.peer(isInitiator: false)))
        let hello = Hello(
            capabilities: 0, wallClock: WallTime(clamping: victim.now.wall), generation: 1,
            credit: ByteCredit(clamping: 0))
        _ = try victim.step(.frame(link, Frame.hello(hello).encoded()))
        let frame = front(world)
        let samples = try (0..<sampleCount).map { _ in try victim.measure(.frame(link, frame)) }
        return Figure(
            "hostile-front-closed", samples: samples, unit: "s",
            budget: Double(FrameWork.units(of: frame, sharing: 1)) * secondsOfUnit,
            note: "a wish for all \(served), of a peer that grants nothing")
    }

    /// One more frame of calls where there are very many: what the first cost, and not all of them
    /// again for each. Measured last, since the calls stay.
    private static func manyCalls(in world: HostileWorld) throws -> Figure {
        let (frameCount, callCount) = (16, 256)
        for number in 0..<frameCount {
            let frame = try world.calls(callCount, from: number * callCount)
            _ = try world.victim.step(.frame(world.link, frame))
        }
        let frame = try world.calls(callCount, from: frameCount * callCount)
        let samples = try (0..<30).map { _ in
            try world.victim.measure(.frame(world.link, frame))
        }
        return Figure(
            "hostile-calls", samples: samples, unit: "s",
            budget: Double(callCount) * secondsOfCall,
            note: "\(callCount) calls, where \(frameCount * callCount) are known")
    }

    private static func cases(in world: HostileWorld) throws -> [Case] {
        [
            Case(
                name: "link", note: "a stranger's link opens", budget: FrameWork.link,
                input: .linkOpened(
                    world.victim.newLink(), world.stranger.peer(isInitiator: false))),
            frame("unknown", "one byte of a type that nobody knows", [200], in: world),
            frame("malformed", "a frame cut in the middle", [2, 1, 2, 3], in: world),
            frame("heartbeat", "a digest that differs: SPACES in answer", heartbeat, in: world),
            frame("introduce", "a contact's card, again", introduction(world), in: world),
            frame(
                "want", "the \(served) operations of a log, fetched again", want(world),
                serving: served, in: world),
            frame(
                "front", "a claim to hold nothing, and a wish for all, again", front(world),
                serving: served, in: world),
            frame("front-full", "tips of 8,192 logs that nobody has", fullFront(world), in: world),
            frame("ack-full", "receipts for 8,192 logs", acknowledgement(world), in: world),
            frame("ops-empty", "an answer without a run", emptyAnswer(world), in: world),
            frame("credit", "leave to send more", Frame.credit(1_048_576).encoded(), in: world),
            frame("spaces", "\(Limits.spaceCountMax) spaces that nobody has", spaces, in: world),
            frame("fork", "one run twice, which proves no fork", try fork(world), in: world),
            frame("error", "an error of nobody", Frame.error(.stranger).encoded(), in: world),
            frame(
                "blob-ask", "who holds of \(blobs.count) files that nobody has",
                Frame.blobAsk(blobs).encoded(), in: world),
            frame(
                "blob-have", "a file that nobody wants",
                Frame.blobHave(BlobHolding(blob: blobs[0], ranges: [])).encoded(), in: world),
            frame(
                "blob-want", "a piece of a file that nobody has",
                Frame.blobWant(BlobWant(blob: blobs[0], part: .section(0))).encoded(), in: world),
            frame(
                "signal", "bytes that are no signal", Frame.signal([9, 9, 9]).encoded(), in: world),
        ]
    }

    /// Operations of which nothing comes.
    private static func operations(in world: HostileWorld) throws -> [Case] {
        let all = try HostileOperations(in: world)
        let (unsigned, held) = (all.unsigned, try all.held())
        guard case .operations(let opened) = unsigned else { return [] }
        let count = HostileOperations.count
        let proving = FrameWork.proving(operationCount: count)
        return [
            frame(
                "ops-held", "operations that are held", Frame.operations(held).encoded(),
                working: FrameWork.nothingNew(held), in: world),
            frame(
                "ops-unsigned", "\(count) operations that nobody signed", unsigned.encoded(),
                working: FrameWork.nothingNew(opened) + proving, in: world),
            frame(
                "ops-unproven", "\(count) operations with a wrong signature, which ends the link",
                all.unproven.encoded(), working: proving, in: world),
            frame(
                "ops-cut", "\(count) operations of which the last byte is missing",
                unsigned.encoded().dropLast(), working: proving, in: world),
            frame(
                "fork-full", "\(count) operations twice, which prove no fork", all.fork.encoded(),
                working: proving, in: world),
        ]
    }

    /// Operations of lane 0, of which the roster and the keys are made.
    private static func controls(in world: HostileWorld) throws -> [Case] {
        let all = try HostileOperations(in: world)
        let settings = Input.frame(world.link, try all.settings().encoded())
        guard try world.victim.changes(settings) else {
            throw HostileWorldError(description: "the settings were not taken")
        }
        return [
            Case(
                name: "control", note: "\(HostileOperations.settingCount) changes of the settings",
                budget: controlUnits, input: settings),
            Case(
                name: "epoch", note: "an epoch for \(HostileOperations.recipientCount) strangers",
                budget: epochUnits, input: .frame(world.link, try all.epoch().encoded())),
        ]
    }

    private static func frame(
        _ name: String, _ note: String, _ bytes: some Collection<UInt8>, working work: UInt64 = 0,
        in world: HostileWorld
    ) -> Case {
        let bytes = Array(bytes)
        return Case(
            name: name, note: note, budget: FrameWork.units(of: bytes, sharing: 1) + work,
            input: .frame(world.link, bytes))
    }

    private static func frame(
        _ name: String, _ note: String, _ bytes: [UInt8], serving operationCount: UInt64,
        in world: HostileWorld
    ) -> Case {
        frame(name, note, bytes, working: FrameWork.serving(operationCount), in: world)
    }

    private static let heartbeat =
        Frame.heartbeat(Digest(filling: { $0.initializeMemory(as: UInt8.self, repeating: 5) }))
        .encoded()

    private static func introduction(_ world: HostileWorld) -> [UInt8] {
        Frame.introduce(
            Introduction(
                card: world.contact.card, redemption: nil, join: nil, isRequest: false,
                isContact: true)
        ).encoded()
    }

    private static func want(_ world: HostileWorld) -> [UInt8] {
        Frame.want(
            Want(
                space: world.space, limit: UInt64(Limits.wantOperationCountMax),
                ranges: [.init(tag: world.tag, first: 0, last: served - 1)])
        ).encoded()
    }

    private static func front(_ world: HostileWorld) -> [UInt8] {
        Frame.frontier(
            Frontier(space: world.space, isComplete: true, asksForMissing: true, entries: [])
        ).encoded()
    }

    private static func fullFront(_ world: HostileWorld) -> [UInt8] {
        let entries = (1...UInt64(Limits.frontierEntryCountMax)).map {
            Frontier.Entry(tag: LogTag($0 << 40), sequence: 1, check: Check(high: 7, low: 7))
        }
        return Frame.frontier(
            Frontier(space: world.space, isComplete: true, asksForMissing: false, entries: entries)
        ).encoded()
    }

    private static func acknowledgement(_ world: HostileWorld) -> [UInt8] {
        let entries = (1...UInt64(Limits.frontierEntryCountMax)).map {
            OperationReference(
                tag: LogTag($0 << 40), sequence: 1, check: Check(high: $0, low: 0))
        }
        return Frame.acknowledge(Acknowledgement(space: world.space, entries: entries)).encoded()
    }

    private static let spaces: [UInt8] = {
        let none = FrontierDigests(
            control: Check(high: 1, low: 1), content: Check(high: 2, low: 2),
            receipts: Check(high: 3, low: 3))
        let entries = (1...UInt64(Limits.spaceCountMax)).map {
            Spaces.Entry(hash: $0, digests: none)
        }
        return Frame.spaces(Spaces(salt: 7, entries: entries)).encoded()
    }()

    private static let blobs = (0..<Limits.askedBlobCountMax).map { number in
        BlobID { buffer in
            for index in buffer.indices {
                buffer[index] = UInt8(truncatingIfNeeded: number + index)
            }
        }
    }

    /// The same run twice, as the contact wrote it.
    private static func fork(_ world: HostileWorld) throws -> [UInt8] {
        let run = try world.firstRun()
        return Frame.fork(ForkProof(space: world.space, left: run, right: run)).encoded()
    }

    private static func emptyAnswer(_ world: HostileWorld) -> [UInt8] {
        Frame.operations(Operations(space: world.space, endsAnswer: true, runs: [])).encoded()
    }
}
