extension Frame {
    /// The first byte of a frame: all that may be known about it before anything else is read.
    public enum Kind: UInt8, Sendable {
        case hello = 0
        case spaces = 1
        case frontier = 2
        case want = 3
        case operations = 4
        case acknowledge = 5
        case fork = 10
        case blobWant = 11
        case blobSection = 12
        case blobChunk = 13
        case blobHave = 14
        case blobAsk = 15
        case credit = 16
        case error = 17
        case bye = 18
        case introduce = 19
        case heartbeat = 20
        case signal = 21
    }

    /// The frame's bytes: a type byte, then the fields.
    public func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: capacity)
        writer.byte(kind.rawValue)
        switch self {
        case .hello(let hello): writer.hello(hello)
        case .spaces(let spaces): writer.spaces(spaces)
        case .frontier(let frontier): writer.frontier(frontier)
        case .want(let want): writer.want(want)
        case .operations(let operations): writer.operations(operations)
        case .acknowledge(let acknowledgement): writer.acknowledgement(acknowledgement)
        case .credit(let bytes): writer.number(bytes)
        case .error(let error): writer.number(error.rawValue)
        case .bye: break
        case .introduce(let introduction): writer.introduction(introduction)
        case .heartbeat(let digest): writer.identifier(digest)
        case .fork(let proof): writer.forkProof(proof)
        case .signal(let bytes): writer.counted(bytes)
        case .blobAsk(let blobs): writer.blobs(blobs)
        case .blobHave(let holding): writer.holding(holding)
        case .blobWant(let want): writer.blobWant(want)
        case .blobSection(let section): writer.section(section)
        case .blobChunk(let chunk): writer.chunk(chunk)
        }
        return writer.bytes
    }

    private var capacity: Int {
        switch self {
        case .operations: Limits.operationsFrameByteCount + 1024
        case .blobChunk: Limits.chunkByteCount + 64
        default: 128
        }
    }

    private var kind: Kind {
        switch self {
        case .hello: .hello
        case .spaces: .spaces
        case .frontier: .frontier
        case .want: .want
        case .operations: .operations
        case .acknowledge: .acknowledge
        case .credit: .credit
        case .error: .error
        case .bye: .bye
        case .introduce: .introduce
        case .heartbeat: .heartbeat
        case .fork: .fork
        case .signal: .signal
        case .blobAsk: .blobAsk
        case .blobHave: .blobHave
        case .blobWant: .blobWant
        case .blobSection: .blobSection
        case .blobChunk: .blobChunk
        }
    }

    /// The frame that these bytes are, or nil for a type that only a newer version knows.
    public static func decode(_ bytes: [UInt8]) throws(DecodingFailure) -> Frame? {
        var room = DecodingRoom()
        return try decode(bytes, within: &room)
    }

    /// As above, if several frames share one limit on expansion.
    public static func decode(
        _ bytes: [UInt8], within room: inout DecodingRoom
    ) throws(DecodingFailure) -> Frame? {
        guard bytes.count <= Limits.frameByteCountMax else {
            throw .tooLarge(
                field: "frame", value: UInt64(bytes.count), limit: UInt64(Limits.frameByteCountMax))
        }
        var reader = ByteReader(bytes)
        guard let kind = Kind(rawValue: try reader.byte()) else { return nil }
        let frame: Frame =
            switch kind {
            case .hello: .hello(try reader.hello())
            case .spaces: .spaces(try reader.spaces())
            case .frontier: .frontier(try reader.frontier())
            case .want: .want(try reader.want())
            case .operations: .operations(try reader.operations(within: &room))
            case .acknowledge: .acknowledge(try reader.acknowledgement())
            case .credit: .credit(try reader.bounded())
            case .error: .error(try reader.error())
            case .bye: .bye
            case .introduce: .introduce(try reader.introduction())
            case .heartbeat: .heartbeat(try reader.identifier())
            case .fork: .fork(try reader.forkProof(within: &room))
            case .signal: .signal(try reader.signal())
            case .blobAsk: .blobAsk(try reader.blobs())
            case .blobHave: .blobHave(try reader.holding())
            case .blobWant: .blobWant(try reader.blobWant())
            case .blobSection: .blobSection(try reader.section())
            case .blobChunk: .blobChunk(try reader.chunk())
            }
        try reader.finish()
        return frame
    }
}

extension ByteWriter {
    fileprivate mutating func hello(_ hello: Hello) {
        number(Hello.version)
        number(hello.capabilities)
        number(hello.wallClock)
        uint64(hello.generation)
        number(hello.credit)
    }

    fileprivate mutating func spaces(_ spaces: Spaces) {
        uint64(spaces.salt)
        number(UInt64(spaces.entries.count))
        for entry in spaces.entries {
            uint64(entry.hash)
            check(entry.digests.control)
            check(entry.digests.content)
            check(entry.digests.receipts)
        }
    }

    fileprivate mutating func frontier(_ frontier: Frontier) {
        identifier(frontier.space)
        byte(
            (frontier.isComplete ? 1 : 0) | (frontier.asksForMissing ? 2 : 0)
                | (frontier.ownTips.isEmpty ? 0 : 4))
        number(UInt64(frontier.entries.count))
        for entry in frontier.entries {
            uint64(entry.tag.value)
            number(entry.sequence)
            check(entry.check)
        }
        guard !frontier.ownTips.isEmpty else { return }
        number(UInt64(frontier.ownTips.count))
        for tip in frontier.ownTips {
            uint64(tip.tag.value)
            number(tip.sequence)
            identifier(tip.operation)
            raw(tip.signature.bytes)
        }
    }

    fileprivate mutating func want(_ want: Want) {
        identifier(want.space)
        number(want.limit)
        number(UInt64(want.ranges.count))
        for range in want.ranges {
            uint64(range.tag.value)
            number(range.first)
            number(range.last - range.first)
        }
    }

    fileprivate mutating func operations(_ operations: Operations) {
        identifier(operations.space)
        byte(operations.endsAnswer ? 1 : 0)
        number(UInt64(operations.runs.count))
        for run in operations.runs { self.run(run) }
    }

    fileprivate mutating func forkProof(_ proof: ForkProof) {
        identifier(proof.space)
        run(proof.left)
        run(proof.right)
    }

    fileprivate mutating func acknowledgement(_ acknowledgement: Acknowledgement) {
        identifier(acknowledgement.space)
        number(UInt64(acknowledgement.entries.count))
        for entry in acknowledgement.entries {
            uint64(entry.tag.value)
            number(entry.sequence)
            check(entry.check)
        }
    }

    fileprivate mutating func introduction(_ introduction: Introduction) {
        counted(introduction.card)
        byte(
            (introduction.redemption == nil ? 0 : 1) | (introduction.isRequest ? 2 : 0)
                | (introduction.join == nil ? 0 : 4) | (introduction.isContact ? 8 : 0))
        if let redemption = introduction.redemption {
            uint64(redemption.invite)
            identifier(redemption.proof)
        }
        if let join = introduction.join {
            identifier(join.space)
            identifier(join.invite)
            raw(join.signature.bytes)
            raw(join.consent.bytes)
            number(UInt64(join.departures.count))
            for departure in join.departures { identifier(departure) }
        }
    }
}

extension ByteReader {
    fileprivate mutating func hello() throws(DecodingFailure) -> Hello {
        let version = try number()
        guard version == Hello.version else {
            throw .unknownVersion(UInt8(clamping: version))
        }
        return Hello(
            capabilities: try number(), wallClock: try bounded(), generation: try uint64(),
            credit: try bounded())
    }

    fileprivate mutating func spaces() throws(DecodingFailure) -> Spaces {
        let salt = try uint64()
        let entries = try list("spaces", atMost: Limits.spaceCountMax) {
            reader throws(DecodingFailure) in
            Spaces.Entry(
                hash: try reader.uint64(),
                digests: FrontierDigests(
                    control: try reader.check(), content: try reader.check(),
                    receipts: try reader.check()))
        }
        try ascending("spaces", entries, by: \.hash)
        return Spaces(salt: salt, entries: entries)
    }

    fileprivate mutating func frontier() throws(DecodingFailure) -> Frontier {
        let space: SpaceID = try identifier()
        let flags = try byte()
        guard flags <= 7 else { throw .unknownFlags(flags) }
        let entries = try list("frontier", atMost: Limits.frontierEntryCountMax) {
            reader throws(DecodingFailure) in
            Frontier.Entry(
                tag: LogTag(try reader.uint64()), sequence: try reader.place(),
                check: try reader.check())
        }
        try ascending("frontier", entries, by: \.tag)
        return Frontier(
            space: space, isComplete: flags & 1 != 0, asksForMissing: flags & 2 != 0,
            entries: entries, ownTips: flags & 4 != 0 ? try ownTips() : [])
    }

    private mutating func ownTips() throws(DecodingFailure) -> [Frontier.OwnTip] {
        let tips = try list("own tips", atMost: Limits.ownTipCountMax) {
            reader throws(DecodingFailure) in
            let (tag, place) = (LogTag(try reader.uint64()), try reader.place())
            let operation: OperationID = try reader.identifier()
            guard let signature = SignatureBytes(try reader.slice(SignatureBytes.byteCount)) else {
                throw .forbidden(field: "signature")
            }
            return Frontier.OwnTip(
                tag: tag, sequence: place, operation: operation, signature: signature)
        }
        guard !tips.isEmpty else { throw .forbidden(field: "own tips") }
        try ascending("own tips", tips, by: \.tag)
        return tips
    }

    fileprivate mutating func want() throws(DecodingFailure) -> Want {
        let space: SpaceID = try identifier()
        let limit = try count("limit", atMost: Limits.wantOperationCountMax)
        let ranges = try list("ranges", atMost: Limits.wantRangeCountMax) {
            reader throws(DecodingFailure) in
            let tag = LogTag(try reader.uint64())
            let first = try reader.place()
            let (last, overflows) = first.addingReportingOverflow(try reader.place())
            guard !overflows, last < Limits.placeMax else { throw .forbidden(field: "place") }
            return Want.Range(tag: tag, first: first, last: last)
        }
        try ascending("ranges", ranges, by: \.tag)
        return Want(space: space, limit: UInt64(limit), ranges: ranges)
    }

    fileprivate mutating func operations(
        within room: inout DecodingRoom
    ) throws(DecodingFailure) -> Operations {
        let space: SpaceID = try identifier()
        let flags = try byte()
        guard flags <= 1 else { throw .unknownFlags(flags) }
        let runs = try list("runs", atMost: Limits.runCountMax) { reader throws(DecodingFailure) in
            try reader.run(room: &room)
        }
        return Operations(space: space, endsAnswer: flags == 1, runs: runs)
    }

    fileprivate mutating func forkProof(
        within room: inout DecodingRoom
    ) throws(DecodingFailure) -> ForkProof {
        ForkProof(
            space: try identifier(), left: try run(room: &room), right: try run(room: &room))
    }

    fileprivate mutating func acknowledgement() throws(DecodingFailure) -> Acknowledgement {
        let space: SpaceID = try identifier()
        let entries = try list("acknowledgement", atMost: Limits.frontierEntryCountMax) {
            reader throws(DecodingFailure) in
            OperationReference(
                tag: LogTag(try reader.uint64()), sequence: try reader.place(),
                check: try reader.check())
        }
        try ascending("acknowledgement", entries, by: \.tag)
        return Acknowledgement(space: space, entries: entries)
    }

    fileprivate mutating func error() throws(DecodingFailure) -> WireError {
        guard let error = WireError(rawValue: try number()) else {
            throw .forbidden(field: "error")
        }
        return error
    }

    fileprivate mutating func introduction() throws(DecodingFailure) -> Introduction {
        let card = try slice(try count("card", atMost: Limits.cardByteCountMax))
        let flag = try byte()
        guard flag <= 15 else { throw .unknownFlags(flag) }
        let redemption =
            flag & 1 != 0
            ? Introduction.Redemption(invite: try uint64(), proof: try identifier()) : nil
        let join = flag & 4 != 0 ? try self.join() : nil
        return Introduction(
            card: Array(card), redemption: redemption, join: join, isRequest: flag & 2 != 0,
            isContact: flag & 8 != 0)
    }

    fileprivate mutating func signal() throws(DecodingFailure) -> [UInt8] {
        Array(try slice(try count("signal", atMost: Limits.signalByteCountMax)))
    }

    private mutating func join() throws(DecodingFailure) -> Introduction.Join {
        let space: SpaceID = try identifier()
        let invite: OperationID = try identifier()
        guard let signature = SignatureBytes(try slice(SignatureBytes.byteCount)),
            let consent = SignatureBytes(try slice(SignatureBytes.byteCount))
        else { throw .forbidden(field: "signature") }
        let departures: [OperationID] = try list(
            "departures", atMost: Limits.departureCountMax
        ) { reader throws(DecodingFailure) in try reader.identifier() }
        try ascending("departures", departures) { $0 }
        return Introduction.Join(
            space: space, invite: invite, signature: signature, consent: consent,
            departures: departures)
    }

    mutating func list<Element>(
        _ field: StaticString, atMost limit: Int,
        _ element: (inout ByteReader) throws(DecodingFailure) -> Element
    ) throws(DecodingFailure) -> [Element] {
        let count = try count(field, atMost: limit)
        var list: [Element] = []
        // No element is shorter than eight bytes: a lie about the count buys no memory.
        list.reserveCapacity(min(count, remaining / 8))
        for _ in 0..<count { list.append(try element(&self)) }
        return list
    }

    func ascending<Element, Key: Comparable>(
        _ field: String, _ list: [Element], by key: (Element) -> Key
    ) throws(DecodingFailure) {
        for (left, right) in zip(list, list.dropFirst()) where key(left) >= key(right) {
            throw .unsorted(field: field)
        }
    }
}
