import ParleyWire

extension SeededRandom {
    /// An operation of any shape that may be written.
    mutating func operation() throws -> (operation: Operation, isErased: Bool) {
        let wallClock = number(below: Limits.wallClockMax)
        let ahead = pick() ? 0 : number(below: 1 << 59)
        let header = OperationHeader(
            kind: OperationKind(rawValue: number()), wallClock: wallClock,
            clock: wallClock << 16 + ahead, authority: pick() ? next() : nil,
            dependencies: ascending(atMost: Limits.dependencyCountMax).map { reference($0) },
            references: ascending(atMost: Limits.referenceCountMax).shuffled(using: &self)
                .map { reference($0) })
        let payload = pick() ? bytes(Int.random(in: 1...300, using: &self)) : nil
        let salt = payload != nil && pick() ? bytes(Limits.saltByteCount) : []
        let operation = try Operation.make(header, salt: salt, payload: payload)
        guard payload != nil, pick() else { return (operation, false) }
        return (operation.erased(commitment: identifier()), true)
    }

    private mutating func reference(_ tag: UInt64) -> OperationReference {
        OperationReference(
            tag: LogTag(tag), sequence: number(below: Limits.placeMax), check: check())
    }

    /// A run of any shape that may be written.
    mutating func run() throws -> Run {
        let lane = Lane.allCases[Int(next() % 5)]
        let count = Int.random(in: 1...5, using: &self)
        let end = lane == .control ? Limits.controlOperationCountMax : 1 << 61
        let first = number(below: end - UInt64(count) + 1)
        var heads: [SignedHead] = []
        for offset in 0..<count where pick() {
            guard let signature = SignatureBytes(bytes(64)) else { continue }
            heads.append(SignedHead(sequence: first + UInt64(offset), signature: signature))
        }
        return Run(
            device: identifier(), lane: lane, first: first,
            anchor: pick() ? identifier() : nil,
            operations: try (0..<count).map { _ in try operation().operation }, heads: heads)
    }

    /// One frame of every type, of any shape that may be written.
    /// Frames about files.
    mutating func fileFrames() -> [Frame] {
        [
            .blobAsk([identifier()]),
            .blobHave(
                BlobHolding(
                    blob: identifier(),
                    ranges: [.init(first: 3, last: ChunkIndex(clamping: number(below: 65_553) + 3))]
                )),
            .blobWant(
                BlobWant(blob: identifier(), part: .section(SectionIndex(clamping: number())))),
            .blobWant(
                BlobWant(
                    blob: identifier(),
                    part: .chunks(from: ChunkIndex(clamping: number(below: 65_000)), count: 64))),
            .blobSection(
                BlobSection(
                    blob: identifier(), size: BlobSize(clamping: number()),
                    sections: [identifier(), identifier()], index: 1, leaves: [identifier()])),
            .blobChunk(BlobChunk(blob: identifier(), index: 7, bytes: bytes(40))),
        ]
    }

    mutating func frames() throws -> [Frame] {
        let spaces = ascending(atMost: 5).map { hash in
            Spaces.Entry(
                hash: hash,
                digests: FrontierDigests(control: check(), content: check(), receipts: check()))
        }
        let tips = ascending(atMost: 5).map {
            Frontier.Entry(
                tag: LogTag($0), sequence: number(below: Limits.placeMax),
                check: check())
        }
        let ownTips = ascending(atMost: 5).compactMap { tag in
            SignatureBytes(bytes(64)).map {
                Frontier.OwnTip(
                    tag: LogTag(tag), sequence: number(below: Limits.placeMax),
                    operation: identifier(), signature: $0)
            }
        }
        let ranges = ascending(atMost: 5).map { tag in
            let first = number(below: 1 << 61)
            return Want.Range(tag: LogTag(tag), first: first, last: first + number(below: 1 << 61))
        }
        let places = ascending(atMost: 5).map {
            OperationReference(
                tag: LogTag($0), sequence: number(below: Limits.placeMax),
                check: Check(high: next(), low: next()))
        }
        let runs = try (0..<Int(next() % 4)).map { _ in try run() }
        return fileFrames() + [
            .hello(
                Hello(
                    capabilities: number(), wallClock: WallTime(clamping: number()),
                    generation: next(), credit: ByteCredit(clamping: number()))),
            .spaces(Spaces(salt: next(), entries: spaces)),
            .frontier(
                Frontier(
                    space: identifier(), isComplete: pick(), asksForMissing: pick(),
                    entries: tips, ownTips: ownTips)),
            .want(Want(space: identifier(), limit: number(below: 4097), ranges: ranges)),
            .operations(Operations(space: identifier(), endsAnswer: pick(), runs: runs)),
            .acknowledge(Acknowledgement(space: identifier(), entries: places)),
            .credit(ByteCredit(clamping: number())),
            .error(WireError.allCases[Int(next() % UInt64(WireError.allCases.count))]),
            .bye,
            .introduce(
                Introduction(
                    card: bytes(Int(next() % 200)),
                    redemption: pick() ? .init(invite: next(), proof: identifier()) : nil,
                    join: pick()
                        ? SignatureBytes(bytes(64)).map {
                            .init(
                                space: identifier(), invite: identifier(), signature: $0,
                                consent: $0, departures: pick() ? [identifier()] : [])
                        } : nil,
                    isRequest: pick(), isContact: pick())),
            .heartbeat(identifier()),
            .signal(bytes(Int(next() % 200))),
        ]
    }
}
