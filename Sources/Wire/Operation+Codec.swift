extension Operation {
    static let version: UInt8 = 1

    private enum Flag {
        static let authority: UInt8 = 1 << 0
        static let salted: UInt8 = 1 << 1
        static let clock: UInt8 = 1 << 2
        static let payload: UInt8 = 1 << 3
        static let all: UInt8 = 0x0f
    }

    /// A new operation. It has exactly one encoding, and this is it.
    ///
    /// - Parameters:
    ///   - salt: 16 random bytes, or none for a payload that is never erased.
    ///   - payload: at least one byte, or nothing.
    /// - Throws: what a decoder would say about the result, so nothing is written that others
    ///   refuse.
    public static func make(
        _ header: OperationHeader, salt: [UInt8] = [], payload: [UInt8]? = nil
    ) throws(DecodingFailure) -> Operation {
        var writer = ByteWriter(capacity: 64 + header.dependencies.count * 28)
        writer.byte(version)
        writer.number(header.kind.rawValue)
        let extra = header.clock &- (header.wallClock << 16)
        writer.byte(flags(header, extra: extra, salt: salt, payload: payload))
        writer.number(header.wallClock)
        if extra > 0 { writer.number(extra) }
        if let authority = header.authority { writer.uint64(authority) }
        writer.references(header.dependencies)
        writer.references(header.references)
        if let payload { writer.number(UInt64(payload.count)) }
        let headByteCount = writer.bytes.count
        writer.raw(salt)
        if let payload { writer.raw(payload) }
        let made = try Operation(transferForm: writer.bytes[...], isErased: false)
        precondition(made.head.count == headByteCount, "an operation reads as it was written")
        return made
    }

    private static func flags(
        _ header: OperationHeader, extra: UInt64, salt: [UInt8], payload: [UInt8]?
    ) -> UInt8 {
        var flags: UInt8 = 0
        if header.authority != nil { flags |= Flag.authority }
        if !salt.isEmpty { flags |= Flag.salted }
        if extra > 0 { flags |= Flag.clock }
        if payload != nil { flags |= Flag.payload }
        return flags
    }

    /// The operation that these bytes are, and nothing but these bytes.
    ///
    /// - Parameters:
    ///   - bytes: header, then salt and payload, or the commitment where `isErased`.
    ///   - isErased: whether the payload was erased before it was sent.
    public init(transferForm bytes: ArraySlice<UInt8>, isErased: Bool) throws(DecodingFailure) {
        try Self.check(bytes.count, atMost: Limits.epochByteCountMax)
        var reader = ByteReader(bytes)
        let (header, flags) = try Self.header(&reader)
        // An epoch has an entry for every device of a space; nothing else may be as large.
        let limit = header.kind.byteCountMax
        try Self.check(bytes.count, atMost: limit)
        guard flags & Flag.payload != 0 else {
            if flags & Flag.salted != 0 { throw .forbidden(field: "salt without payload") }
            if isErased { throw .forbidden(field: "erased without payload") }
            try reader.finish()
            self.init(head: Array(bytes), header: header, body: .none)
            return
        }
        let byteCount = try reader.count("payload", atMost: limit)
        guard byteCount > 0 else { throw .forbidden(field: "empty payload") }
        let salted = flags & Flag.salted != 0
        let head = Array(bytes[bytes.startIndex..<reader.position])
        let body: OperationBody
        if isErased {
            body = .erased(
                commitment: try reader.identifier(), salted: salted, payloadByteCount: byteCount)
        } else {
            let salt = try reader.slice(salted ? Limits.saltByteCount : 0)
            body = .present(salt: Array(salt), payload: Array(try reader.slice(byteCount)))
        }
        try reader.finish()
        self.init(head: head, header: header, body: body)
    }

    private static func check(_ byteCount: Int, atMost limit: Int) throws(DecodingFailure) {
        guard byteCount <= limit else {
            throw .tooLarge(
                field: "operation", value: UInt64(byteCount), limit: UInt64(limit))
        }
    }

    /// The operation as it was kept: the header's bytes apart from what followed them.
    ///
    /// - Parameter tail: salt and payload, or the commitment where `isErased`.
    public init(head: [UInt8], tail: [UInt8], isErased: Bool) throws(DecodingFailure) {
        try self.init(transferForm: (head + tail)[...], isErased: isErased)
    }

    /// What follows the header in the transfer form.
    public var tail: [UInt8] {
        switch body {
        case .none: []
        case .present(let salt, let payload): salt + payload
        case .erased(let commitment, _, _): commitment.bytes
        }
    }

    /// A header in its bytes, without what follows it.
    fileprivate static func header(
        _ reader: inout ByteReader
    ) throws(DecodingFailure) -> (OperationHeader, flags: UInt8) {
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        let kind = OperationKind(rawValue: try reader.number())
        let flags = try reader.byte()
        guard flags & ~Flag.all == 0 else { throw .unknownFlags(flags) }
        let wallClock = try reader.number()
        guard wallClock < Limits.wallClockMax else { throw .forbidden(field: "wall clock") }
        var clock = wallClock << 16
        if flags & Flag.clock != 0 {
            let extra = try reader.number()
            guard extra > 0 else { throw .forbidden(field: "clock") }
            guard extra < Limits.clockMax else { throw .forbidden(field: "clock") }
            clock += extra
        }
        guard clock < Limits.clockMax else { throw .forbidden(field: "clock") }
        let authority = flags & Flag.authority != 0 ? try reader.uint64() : nil
        let dependencies = try reader.references(atMost: Limits.dependencyCountMax)
        for (left, right) in zip(dependencies, dependencies.dropFirst()) where left.tag >= right.tag
        {
            throw .unsorted(field: "dependencies")
        }
        let references = try reader.references(atMost: Limits.referenceCountMax)
        let header = OperationHeader(
            kind: kind, wallClock: wallClock, clock: clock, authority: authority,
            dependencies: dependencies, references: references)
        return (header, flags)
    }
}

extension ByteWriter {
    /// References after their count.
    public mutating func references(_ list: [OperationReference]) {
        number(UInt64(list.count))
        for reference in list {
            uint64(reference.tag.value)
            number(reference.sequence)
            check(reference.check)
        }
    }
}

extension ByteReader {
    /// References after their count.
    mutating func references(
        atMost limit: Int
    ) throws(DecodingFailure) -> [OperationReference] {
        let count = try count("references", atMost: limit)
        guard count > 0 else { return [] }
        var list: [OperationReference] = []
        list.reserveCapacity(count)
        for _ in 0..<count {
            list.append(
                OperationReference(
                    tag: LogTag(try uint64()), sequence: try place(), check: try check()))
        }
        return list
    }
}

extension OperationHeader {
    /// The header in the bytes of an operation's head, as they were kept.
    public init(head: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(head)
        self = try Operation.header(&reader).0
    }
}
