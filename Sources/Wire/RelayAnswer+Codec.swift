extension RelayAnswer {
    private enum Kind: UInt8 {
        case opened = 1
        case stored = 2
        case entries = 3
        case subscribed = 4
        case done = 5
        case pipe = 6
        case refused = 8
    }

    fileprivate var code: UInt8 {
        let kind: Kind =
            switch self {
            case .opened: .opened
            case .stored: .stored
            case .entries: .entries
            case .subscribed: .subscribed
            case .done: .done
            case .pipe: .pipe
            case .refused: .refused
            }
        return kind.rawValue
    }

    fileprivate init(from reader: inout ByteReader) throws(DecodingFailure) {
        let code = try reader.byte()
        guard let kind = Kind(rawValue: code) else { throw .unknownVersion(code) }
        switch kind {
        case .opened:
            self = .opened(expires: try reader.uint64(), byteCountMax: try reader.number())
        case .stored: self = .stored(counter: try reader.number())
        case .entries: self = try reader.entries()
        case .subscribed: self = .subscribed(newest: try reader.number())
        case .done: self = .done
        case .pipe: self = .pipe(try reader.uint32())
        case .refused: self = .refused(try RelayRefusal(from: &reader))
        }
    }
}

extension RelayRefusal {
    private enum Kind: UInt8 {
        case busy = 1
        case noMailbox = 2
        case forbidden = 3
        case ticketNeeded = 4
        case badTicket = 5
        case malformed = 6
        case nobodyThere = 7
        case full = 8
    }

    fileprivate var code: UInt8 {
        let kind: Kind =
            switch self {
            case .busy: .busy
            case .noMailbox: .noMailbox
            case .forbidden: .forbidden
            case .ticketNeeded: .ticketNeeded
            case .badTicket: .badTicket
            case .malformed: .malformed
            case .nobodyThere: .nobodyThere
            case .full: .full
            }
        return kind.rawValue
    }

    fileprivate init(from reader: inout ByteReader) throws(DecodingFailure) {
        let code = try reader.byte()
        guard let kind = Kind(rawValue: code) else { throw .unknownVersion(code) }
        self =
            switch kind {
            case .busy: .busy(retryAfter: try reader.uint32())
            case .noMailbox: .noMailbox
            case .forbidden: .forbidden
            case .ticketNeeded: .ticketNeeded
            case .badTicket: .badTicket
            case .malformed: .malformed
            case .nobodyThere: .nobodyThere
            case .full: .full
            }
    }
}

extension ByteWriter {
    mutating func relayAnswer(_ answer: RelayAnswer) {
        byte(answer.code)
        switch answer {
        case .opened(let expires, let byteCountMax):
            uint64(expires)
            number(byteCountMax)
        case .stored(let counter), .subscribed(let counter): number(counter)
        case .entries(let entries, let hasMore, let newest):
            byte(hasMore ? 1 : 0)
            number(newest)
            number(UInt64(entries.count))
            for entry in entries { relayEntry(entry) }
        case .done: break
        case .pipe(let pipe): uint32(pipe)
        case .refused(let refusal):
            byte(refusal.code)
            if case .busy(let delay) = refusal { uint32(delay) }
        }
    }
}

extension ByteReader {
    mutating func relayAnswer() throws(DecodingFailure) -> RelayAnswer {
        try RelayAnswer(from: &self)
    }

    fileprivate mutating func entries() throws(DecodingFailure) -> RelayAnswer {
        let flags = try byte()
        guard flags <= 1 else { throw .unknownFlags(flags) }
        let newest = try number()
        var entries: [RelayEntry] = []
        for _ in 0..<(try count("entries", atMost: Limits.relayEntryCountMax)) {
            entries.append(try relayEntry())
        }
        return .entries(entries, hasMore: flags == 1, newest: newest)
    }
}
