extension RelayClientFrame {
    private enum Kind: UInt8 {
        case request = 1
        case pipe = 2
        case ping = 3
    }

    /// The frame's bytes: a type byte, then the fields.
    public func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: capacity)
        switch self {
        case .request(let signed):
            writer.byte(Kind.request.rawValue)
            writer.uint64(signed.counter)
            writer.identifier(signed.key)
            writer.raw(signed.signature.bytes)
            writer.relayRequest(signed.request)
        case .pipe(let frame):
            writer.byte(Kind.pipe.rawValue)
            writer.pipeFrame(frame)
        case .ping: writer.byte(Kind.ping.rawValue)
        }
        return writer.bytes
    }

    private var capacity: Int {
        guard case .request(let signed) = self else { return 0 }
        return 256 + signed.request.action.payloadByteCount
    }

    /// The frame that these bytes are, or nil for a type that only a newer version knows.
    public static func decode(_ bytes: [UInt8]) throws(DecodingFailure) -> RelayClientFrame? {
        var reader = try ByteReader(relayFrame: bytes)
        guard let kind = Kind(rawValue: try reader.byte()) else { return nil }
        let frame: RelayClientFrame
        switch kind {
        case .request: frame = .request(try reader.signedRequest())
        case .pipe: frame = .pipe(try reader.pipeFrame())
        case .ping: frame = .ping
        }
        try reader.finish()
        return frame
    }
}

extension RelayClientFrame {
    /// The counter of a request of which all up to its signature can be read, whatever comes then.
    /// So a relay can refuse what only newer clients ask, and what breaks a bound.
    public static func counter(ofRequest bytes: [UInt8]) -> UInt64? {
        do throws(DecodingFailure) {
            var reader = try ByteReader(relayFrame: bytes)
            guard try reader.byte() == Kind.request.rawValue else { return nil }
            let counter = try reader.uint64()
            _ = try reader.slice(32 + SignatureBytes.byteCount)
            return counter
        } catch { return nil }
    }
}

extension ByteReader {
    fileprivate mutating func signedRequest() throws(DecodingFailure) -> SignedRelayRequest {
        let counter = try uint64()
        let key: DeviceID = try identifier()
        guard let signature = SignatureBytes(try slice(SignatureBytes.byteCount)) else {
            throw .truncated
        }
        return SignedRelayRequest(
            counter: counter, key: key, signature: signature, request: try relayRequest())
    }
}

extension RelayServerFrame {
    private enum Kind: UInt8 {
        case answer = 1
        case push = 2
        case volatile = 3
        case missed = 4
        case pipe = 5
        case day = 6
        case pong = 7
        case bye = 8
    }

    /// The frame's bytes: a type byte, then the fields.
    public func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: 0)
        switch self {
        case .answer(let counter, let answer):
            writer.byte(Kind.answer.rawValue)
            writer.uint64(counter)
            writer.relayAnswer(answer)
        case .push(let mailbox, let entry):
            writer.byte(Kind.push.rawValue)
            writer.identifier(mailbox)
            writer.relayEntry(entry)
        case .volatile(let mailbox, let lifetime, let envelope):
            writer.byte(Kind.volatile.rawValue)
            writer.identifier(mailbox)
            writer.byte(lifetime)
            writer.counted(envelope)
        case .missed(let mailbox):
            writer.byte(Kind.missed.rawValue)
            writer.identifier(mailbox)
        case .pipe(let frame):
            writer.byte(Kind.pipe.rawValue)
            writer.pipeFrame(frame)
        case .day(let day):
            writer.byte(Kind.day.rawValue)
            writer.uint32(day)
        case .pong: writer.byte(Kind.pong.rawValue)
        case .bye(let delay):
            writer.byte(Kind.bye.rawValue)
            writer.uint32(delay)
        }
        return writer.bytes
    }

    /// The frame that these bytes are, or nil for a type that only a newer version knows.
    public static func decode(_ bytes: [UInt8]) throws(DecodingFailure) -> RelayServerFrame? {
        var reader = try ByteReader(relayFrame: bytes)
        guard let kind = Kind(rawValue: try reader.byte()) else { return nil }
        let frame: RelayServerFrame =
            switch kind {
            case .answer: .answer(to: try reader.uint64(), try reader.relayAnswer())
            case .push: .push(try reader.identifier(), try reader.relayEntry())
            case .volatile:
                .volatile(
                    try reader.identifier(), lifetime: try reader.lifetime(),
                    envelope: try reader.envelope())
            case .missed: .missed(try reader.identifier())
            case .pipe: .pipe(try reader.pipeFrame())
            case .day: .day(try reader.bounded32())
            case .pong: .pong
            case .bye: .bye(retryAfter: try reader.uint32())
            }
        try reader.finish()
        return frame
    }
}

extension RelayWelcome {
    private static let version: UInt8 = 3

    /// `u8 3 ‖ u32 day ‖ u64 newest ‖ flags ‖ list of starts`; bit 0 of the flags asks for tickets.
    /// `start = u64 id ‖ u64 newest`.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCountMax)
        writer.byte(Self.version)
        writer.uint32(day)
        writer.uint64(newest)
        writer.byte(needsTicket ? 1 : 0)
        writer.number(UInt64(starts.count))
        for start in starts {
            writer.uint64(start.id)
            writer.uint64(start.newest)
        }
        return writer.bytes
    }

    /// Reads a welcome.
    public init(bytes: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        day = try reader.bounded32()
        newest = try reader.uint64()
        let flags = try reader.byte()
        guard flags <= 1 else { throw .unknownFlags(flags) }
        needsTicket = flags == 1
        starts = []
        for _ in 0..<(try reader.count("starts", atMost: Self.startCountMax)) {
            starts.append(RelayStart(id: try reader.uint64(), newest: try reader.uint64()))
        }
        guard !starts.isEmpty else { throw .forbidden(field: "starts") }
        try reader.finish()
    }
}

extension RelayRequest {
    /// The signed part, after the connection's hash and the counter.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 64 + action.payloadByteCount)
        writer.relayRequest(self)
        return writer.bytes
    }
}

extension RelayAction {
    /// About how many bytes it carries: to make room once.
    var payloadByteCount: Int {
        switch self {
        case .put(let bytes), .volatile(_, let bytes): bytes.count
        case .open: 40 + 32 * Limits.inboxWriterCountMax
        case .get, .subscribe, .unsubscribe, .acknowledge, .pipe: 64
        }
    }

    fileprivate enum Kind: UInt8 {
        case open = 1
        case put = 2
        case volatile = 3
        case get = 4
        case subscribe = 5
        case unsubscribe = 6
        case acknowledge = 7
        case pipe = 8
    }

    fileprivate var kind: Kind {
        switch self {
        case .open: .open
        case .put: .put
        case .volatile: .volatile
        case .get: .get
        case .subscribe: .subscribe
        case .unsubscribe: .unsubscribe
        case .acknowledge: .acknowledge
        case .pipe: .pipe
        }
    }
}

extension ByteWriter {
    fileprivate mutating func relayRequest(_ request: RelayRequest) {
        byte(request.action.kind.rawValue)
        identifier(request.mailbox)
        switch request.action {
        case .open(let writers, let ticket):
            byte((writers == nil ? 0 : 1) | (ticket == nil ? 0 : 2))
            if let writers {
                number(UInt64(writers.count))
                for writer in writers { identifier(writer) }
            }
            if let ticket { raw(ticket) }
        case .put(let bytes): counted(bytes)
        case .volatile(let lifetime, let envelope):
            byte(lifetime)
            counted(envelope)
        case .get(let range):
            number(range.after)
            number(range.before)
            byte(range.isNewestFirst ? 1 : 0)
            number(UInt64(range.byteCountMax))
        case .subscribe, .unsubscribe, .pipe: break
        case .acknowledge(let counter): number(counter)
        }
    }

    mutating func relayEntry(_ entry: RelayEntry) {
        number(entry.counter)
        counted(entry.envelope)
    }

    fileprivate mutating func pipeFrame(_ frame: PipeFrame) {
        switch frame {
        case .offered(let pipe, let mailbox):
            byte(1)
            uint32(pipe)
            identifier(mailbox)
        case .accepted(let pipe):
            byte(2)
            uint32(pipe)
        case .bytes(let pipe, let bytes):
            byte(3)
            uint32(pipe)
            counted(bytes)
        case .credit(let pipe, let count):
            byte(4)
            uint32(pipe)
            uint32(count)
        case .closed(let pipe):
            byte(5)
            uint32(pipe)
        }
    }
}

extension ByteReader {
    fileprivate init(relayFrame bytes: [UInt8]) throws(DecodingFailure) {
        guard bytes.count <= Limits.frameByteCountMax else {
            throw .tooLarge(
                field: "frame", value: UInt64(bytes.count), limit: UInt64(Limits.frameByteCountMax))
        }
        self.init(bytes)
    }

    fileprivate mutating func envelope() throws(DecodingFailure) -> [UInt8] {
        let count = try count("envelope", atMost: Limits.envelopeByteCountMax)
        guard RelayEntry.isSize(count) else { throw .forbidden(field: "envelope") }
        return Array(try slice(count))
    }

    fileprivate mutating func lifetime() throws(DecodingFailure) -> UInt8 {
        let seconds = try byte()
        guard (1...Limits.volatileSecondsMax).contains(Int(seconds)) else {
            throw .forbidden(field: "lifetime")
        }
        return seconds
    }

    fileprivate mutating func relayRequest() throws(DecodingFailure) -> RelayRequest {
        let code = try byte()
        guard let kind = RelayAction.Kind(rawValue: code) else { throw .unknownVersion(code) }
        let mailbox: MailboxID = try identifier()
        let action: RelayAction =
            switch kind {
            case .open: try opening()
            case .put: .put(envelope: try envelope())
            case .volatile: .volatile(lifetime: try lifetime(), envelope: try envelope())
            case .get: .get(try range())
            case .subscribe: .subscribe
            case .unsubscribe: .unsubscribe
            case .acknowledge: .acknowledge(upTo: try number())
            case .pipe: .pipe
            }
        return RelayRequest(action, of: mailbox)
    }

    private mutating func opening() throws(DecodingFailure) -> RelayAction {
        let flags = try byte()
        guard flags <= 3 else { throw .unknownFlags(flags) }
        var writers: [WriterID]?
        if flags & 1 != 0 {
            var listed: [WriterID] = []
            for _ in 0..<(try count("writers", atMost: Limits.inboxWriterCountMax)) {
                listed.append(try identifier())
            }
            writers = listed
        }
        let ticket = flags & 2 == 0 ? nil : Array(try slice(Limits.ticketByteCount))
        return .open(writers: writers, ticket: ticket)
    }

    private mutating func range() throws(DecodingFailure) -> RelayRange {
        let after = try number()
        let before = try number()
        let flags = try byte()
        guard flags <= 1 else { throw .unknownFlags(flags) }
        return RelayRange(
            after: after, before: before, isNewestFirst: flags == 1,
            byteCountMax: try count("page", atMost: Limits.relayPageByteCountMax))
    }

    mutating func relayEntry() throws(DecodingFailure) -> RelayEntry {
        RelayEntry(counter: try number(), envelope: try envelope())
    }

    fileprivate mutating func pipeFrame() throws(DecodingFailure) -> PipeFrame {
        let kind = try byte()
        let pipe = try uint32()
        switch kind {
        case 1: return .offered(pipe, try identifier())
        case 2: return .accepted(pipe)
        case 3:
            let count = try count("bytes", atMost: Limits.pipeFrameByteCountMax)
            return .bytes(pipe, Array(try slice(count)))
        case 4: return .credit(pipe, try uint32())
        case 5: return .closed(pipe)
        default: throw .unknownVersion(kind)
        }
    }
}

extension RelayEntry {
    /// Whether an envelope may have so many bytes: 512 times a power of two, to 64 KiB.
    public static func isSize(_ byteCount: Int) -> Bool {
        byteCount >= Limits.smallestEnvelopeByteCount && byteCount <= Limits.envelopeByteCountMax
            && byteCount & (byteCount - 1) == 0
    }
}
