extension DNSMessage {
    /// Names refer to others at most so often in a row.
    private static let jumpCountMax = 16
    private static let nameByteCountMax = 255
    /// The class of everything: the internet's.
    private static let classCode: UInt16 = 1
    /// In a record: it is unique. In a question: an answer to the asker alone would do.
    private static let topBit: UInt16 = 0x8000
    private static let responseFlags: UInt16 = 0x8400

    // MARK: Writing

    /// The bytes of one datagram; names are written out.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 512)
        writer.uint16(0)
        writer.uint16(isResponse ? Self.responseFlags : 0)
        writer.uint16(UInt16(questions.count))
        writer.uint16(UInt16(records.count))
        writer.uint32(0)
        for question in questions {
            question.name.write(to: &writer)
            writer.uint16(question.type)
            writer.uint16(Self.classCode)
        }
        for record in records {
            record.name.write(to: &writer)
            writer.uint16(record.content.type)
            writer.uint16(Self.classCode | (record.isUnique ? Self.topBit : 0))
            writer.uint32(record.lifetime)
            var content = ByteWriter(capacity: 64)
            record.content.write(to: &content)
            writer.uint16(UInt16(content.bytes.count))
            writer.raw(content.bytes)
        }
        return writer.bytes
    }

    // MARK: Reading

    /// The message in a datagram. Sections are read as far as their counts go; bytes after them are
    /// ignored, and records of another class are left out.
    public static func decode(_ bytes: [UInt8]) throws(DecodingFailure) -> DNSMessage {
        guard bytes.count <= Limits.datagramByteCountMax else {
            throw .tooLarge(
                field: "datagram", value: UInt64(bytes.count),
                limit: UInt64(Limits.datagramByteCountMax))
        }
        var reader = ByteReader(bytes)
        _ = try reader.uint16()
        let flags = try reader.uint16()
        let questionCount = Int(try reader.uint16())
        var recordCount = 0
        for _ in 0..<3 { recordCount += Int(try reader.uint16()) }
        guard questionCount + recordCount <= Limits.datagramRecordCountMax else {
            throw .tooLarge(
                field: "records", value: UInt64(questionCount + recordCount),
                limit: UInt64(Limits.datagramRecordCountMax))
        }
        var message = DNSMessage(isResponse: flags & topBit != 0)
        for _ in 0..<questionCount {
            let name = try name(&reader, in: bytes)
            let type = try reader.uint16()
            guard try reader.uint16() & ~topBit == classCode else { continue }
            message.questions.append(Question(name, type: type))
        }
        for _ in 0..<recordCount {
            if let record = try record(&reader, in: bytes) { message.records.append(record) }
        }
        return message
    }

    private static func record(
        _ reader: inout ByteReader, in bytes: [UInt8]
    ) throws(DecodingFailure) -> Record? {
        let name = try name(&reader, in: bytes)
        let type = try reader.uint16()
        let `class` = try reader.uint16()
        let lifetime = try reader.uint32()
        let count = Int(try reader.uint16())
        let start = reader.position
        let content = try reader.slice(count)
        guard `class` & ~topBit == classCode else { return nil }
        var inner = ByteReader(bytes[start..<start + count])
        let said: Content
        switch type {
        case 1: said = count == 4 ? .address(Array(content)) : .other(type: type)
        case 12: said = .pointer(try self.name(&inner, in: bytes))
        case 16: said = .text(try texts(&inner))
        case 33:
            _ = try inner.uint32()
            let port = try inner.uint16()
            said = .service(port: port, host: try self.name(&inner, in: bytes))
        default: said = .other(type: type)
        }
        return Record(name, lifetime: lifetime, isUnique: `class` & topBit != 0, said)
    }

    private static func texts(_ reader: inout ByteReader) throws(DecodingFailure) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        while reader.remaining > 0 {
            let text = Array(try reader.slice(Int(try reader.byte())))
            if !text.isEmpty { texts.append(text) }
        }
        return texts
    }

    /// A name, which may continue elsewhere: always further to the front, so that it ends.
    private static func name(
        _ reader: inout ByteReader, in bytes: [UInt8]
    ) throws(DecodingFailure) -> Name {
        var labels: [[UInt8]] = []
        var byteCount = 1
        var limit = reader.position
        var jumpCount = 0
        var distant: ByteReader?
        while true {
            var source = distant ?? reader
            let count = Int(try source.byte())
            if count & 0xc0 == 0xc0 {
                let target = (count & 0x3f) << 8 | Int(try source.byte())
                if distant == nil { reader = source }
                jumpCount += 1
                guard target < limit, jumpCount <= jumpCountMax else {
                    throw .forbidden(field: "name")
                }
                limit = target
                distant = ByteReader(bytes[target...])
                continue
            }
            guard count & 0xc0 == 0 else { throw .forbidden(field: "label") }
            let label = try source.slice(count)
            if distant == nil { reader = source } else { distant = source }
            if count == 0 { return Name(labels: labels) }
            byteCount += count + 1
            guard byteCount <= nameByteCountMax else { throw .forbidden(field: "name") }
            labels.append(Array(label))
        }
    }
}

extension DNSMessage.Name {
    fileprivate func write(to writer: inout ByteWriter) {
        for label in labels {
            precondition((1...63).contains(label.count), "a label has 1 to 63 bytes")
            writer.byte(UInt8(label.count))
            writer.raw(label)
        }
        writer.byte(0)
    }
}

extension DNSMessage.Content {
    fileprivate func write(to writer: inout ByteWriter) {
        switch self {
        case .pointer(let name): name.write(to: &writer)
        case .service(let port, let host):
            writer.uint32(0)
            writer.uint16(port)
            host.write(to: &writer)
        case .text(let texts):
            // No text at all is one that is empty.
            for text in texts.isEmpty ? [[]] : texts {
                precondition(text.count <= 255, "a text has up to 255 bytes")
                writer.byte(UInt8(text.count))
                writer.raw(text)
            }
        case .address(let bytes): writer.raw(bytes)
        case .other: break
        }
    }
}
