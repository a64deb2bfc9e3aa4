import ParleyConversation
import ParleyLedger
import ParleyWire

/// What one step changed permanently: a row of the event log.
///
/// Messages that came one after another are one item, so that a whole flush costs a few bytes.
struct EventEntry: Equatable {
    /// Some events.
    enum Item: Equatable {
        /// Messages that appeared, whose numbers follow each other.
        case appeared(SpaceNumber, first: OperationNumber, count: Int)
        /// One event of another kind.
        case one(Event)

        var count: Int { if case .appeared(_, _, let count) = self { count } else { 1 } }
    }

    /// Which life of the node wrote it: counted in its high half, told from others by its low one.
    var generation: UInt64
    /// In their order.
    var items: [Item] = []

    /// How many events it holds.
    var eventCount: Int { items.reduce(0) { $0 + $1.count } }

    /// The events from this one on, at most so many.
    func events(from skip: Int, limit: Int) -> [Event] {
        var (found, skip): ([Event], Int) = ([], skip)
        for item in items where found.count < limit {
            guard skip < item.count else {
                skip -= item.count
                continue
            }
            switch item {
            case .one(let event): found.append(event)
            case .appeared(let space, let first, let count):
                for offset in skip..<min(count, skip + limit - found.count) {
                    let number = OperationNumber(first.rawValue + Int64(offset))
                    found.append(Event(.message(space, number), isNew: true))
                }
            }
            skip = 0
        }
        return found
    }
}

/// Gathers the events of one step: each once, in the order in which they happened.
struct EventGathering {
    /// Items of one entry, at most: where a step changes more, it writes several.
    static let itemCountMax = 1024

    /// The last operation before the step: a message with a higher number is new.
    private let lastBefore: OperationNumber
    private(set) var items: [EventEntry.Item] = []
    private var seen: Set<Event> = []
    /// Messages that appeared, as ranges of their numbers, ascending.
    private var appeared: [ClosedRange<Int64>] = []

    init(after lastBefore: OperationNumber) { self.lastBefore = lastBefore }

    /// Adds a change, unless it is not kept or was added before.
    mutating func add(_ change: ViewChange) {
        switch change {
        case .message(let space, let number) where number > lastBefore:
            addNew(number, in: space)
        case .message, .mention, .conversation, .receipts, .contact, .devices, .relays, .membership,
            .invitation, .additionPolicy, .preference, .refolded, .calls, .together,
            .reminder, .notSent:
            let event = Event(change)
            if seen.insert(event).inserted { items.append(.one(event)) }
        // Transient signals may be forgotten, clocks are measured on each link; a card is reported
        // with its person, and files with their message.
        case .typing, .presence, .card, .clocks, .files, .disappearing: break
        }
    }

    private mutating func addNew(_ number: OperationNumber, in space: SpaceNumber) {
        let value = number.rawValue
        guard let highest = appeared.last?.upperBound, value <= highest else {
            appear(value)
            if case .appeared(space, let first, let count)? = items.last,
                first.rawValue + Int64(count) == value
            {
                items[items.count - 1] = .appeared(space, first: first, count: count + 1)
            } else {
                items.append(.appeared(space, first: number, count: 1))
            }
            return
        }
        if hasAppeared(value) { return }
        // Its text came later than what followed it: rare, and told alone.
        let event = Event(.message(space, number), isNew: true)
        if seen.insert(event).inserted { items.append(.one(event)) }
    }

    private mutating func appear(_ value: Int64) {
        if let last = appeared.last, last.upperBound + 1 == value {
            appeared[appeared.count - 1] = last.lowerBound...value
        } else {
            appeared.append(value...value)
        }
    }

    private func hasAppeared(_ value: Int64) -> Bool {
        var (low, high) = (0, appeared.count)
        while low < high {
            let middle = (low + high) / 2
            if appeared[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < appeared.count && appeared[low].contains(value)
    }
}

// The numbers are stored: never reuse one.
private enum EventCode {
    static let appeared: UInt8 = 1
    static let message: UInt8 = 2
    static let conversation: UInt8 = 3
    static let receipts: UInt8 = 4
    static let contact: UInt8 = 5
    static let devices: UInt8 = 6
    static let relays: UInt8 = 7
    static let membership: UInt8 = 8
    static let invitation: UInt8 = 9
    static let additionPolicy: UInt8 = 10
    static let refolded: UInt8 = 11
    static let calls: UInt8 = 12
    static let preference: UInt8 = 13
    static let mention: UInt8 = 15
    static let together: UInt8 = 14
    static let reminder: UInt8 = 17
    static let notSent: UInt8 = 18
}

extension EventEntry {
    /// The bytes that a store keeps: generation, then each item by its code.
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 16 + items.count * 4)
        writer.uint64(generation)
        for item in items {
            switch item {
            case .appeared(let space, let first, let count):
                writer.byte(EventCode.appeared)
                writer.number(space)
                writer.number(UInt64(bitPattern: first.rawValue))
                writer.number(UInt64(count))
            case .one(let event): event.write(to: &writer)
            }
        }
        return writer.bytes
    }

    init(bytes: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        generation = try reader.uint64()
        while reader.remaining > 0 {
            let code = try reader.byte()
            guard code == EventCode.appeared else {
                items.append(.one(try Event(code, &reader)))
                continue
            }
            let space = try reader.spaceNumber()
            let first = OperationNumber(Int64(bitPattern: try reader.number()))
            let count = try reader.count("messages", atMost: Int(Int32.max))
            items.append(.appeared(space, first: first, count: count))
        }
    }
}

extension Event {
    fileprivate func write(to writer: inout ByteWriter) {
        switch change {
        case .message(let space, let number):
            writer.byte(isNew ? EventCode.appeared : EventCode.message)
            writer.number(space)
            writer.number(UInt64(bitPattern: number.rawValue))
            if isNew { writer.number(1) }
        case .mention(let space, let number):
            writer.byte(EventCode.mention)
            writer.number(space)
            writer.number(UInt64(bitPattern: number.rawValue))
        case .conversation(let space): writer.event(EventCode.conversation, space)
        case .receipts(let space): writer.event(EventCode.receipts, space)
        case .membership(let space): writer.event(EventCode.membership, space)
        case .refolded(let space): writer.event(EventCode.refolded, space)
        case .calls(let space): writer.event(EventCode.calls, space)
        case .together(let space, let number):
            writer.event(EventCode.together, space)
            writer.number(UInt64(bitPattern: number.rawValue))
        case .reminder(let id):
            writer.byte(EventCode.reminder)
            writer.uint64(id.rawValue)
        case .notSent(let id):
            writer.byte(EventCode.notSent)
            writer.uint64(id.rawValue)
        case .contact(let person):
            writer.byte(EventCode.contact)
            writer.identifier(person)
        case .devices(let person):
            writer.byte(EventCode.devices)
            writer.identifier(person)
        case .invitation(let space):
            writer.byte(EventCode.invitation)
            writer.identifier(space)
        case .relays: writer.byte(EventCode.relays)
        case .additionPolicy: writer.byte(EventCode.additionPolicy)
        case .preference(let key):
            writer.byte(EventCode.preference)
            writer.number(UInt64(key.rawValue))
        case .typing, .presence, .card, .clocks, .files, .disappearing:
            preconditionFailure("what is forgotten is not kept")
        }
    }

    fileprivate init(_ code: UInt8, _ reader: inout ByteReader) throws(DecodingFailure) {
        switch code {
        case EventCode.message:
            let space = try reader.spaceNumber()
            self.init(.message(space, OperationNumber(Int64(bitPattern: try reader.number()))))
        case EventCode.mention:
            let space = try reader.spaceNumber()
            self.init(.mention(space, OperationNumber(Int64(bitPattern: try reader.number()))))
        case EventCode.conversation: self.init(.conversation(try reader.spaceNumber()))
        case EventCode.receipts: self.init(.receipts(try reader.spaceNumber()))
        case EventCode.membership: self.init(.membership(try reader.spaceNumber()))
        case EventCode.refolded: self.init(.refolded(try reader.spaceNumber()))
        case EventCode.calls: self.init(.calls(try reader.spaceNumber()))
        case EventCode.together:
            let space = try reader.spaceNumber()
            self.init(.together(space, OperationNumber(Int64(bitPattern: try reader.number()))))
        case EventCode.reminder: self.init(.reminder(Reminder.ID(try reader.uint64())))
        case EventCode.notSent: self.init(.notSent(ScheduledMessage.ID(try reader.uint64())))
        case EventCode.contact: self.init(.contact(try reader.identifier()))
        case EventCode.devices: self.init(.devices(try reader.identifier()))
        case EventCode.invitation: self.init(.invitation(try reader.identifier()))
        case EventCode.relays: self.init(.relays)
        case EventCode.additionPolicy: self.init(.additionPolicy)
        case EventCode.preference:
            let key = try reader.count("preference", atMost: Int(UInt16.max))
            self.init(.preference(PreferenceKey(rawValue: UInt16(key))))
        default: throw .forbidden(field: "event")
        }
    }
}

extension ByteWriter {
    fileprivate mutating func number(_ space: SpaceNumber) {
        number(UInt64(bitPattern: space.rawValue))
    }

    fileprivate mutating func event(_ code: UInt8, _ space: SpaceNumber) {
        byte(code)
        number(space)
    }
}

extension ByteReader {
    fileprivate mutating func spaceNumber() throws(DecodingFailure) -> SpaceNumber {
        SpaceNumber(Int64(bitPattern: try number()))
    }
}
