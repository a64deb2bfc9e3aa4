public import ParleyConversation

/// One permanent change, as the event log keeps it.
///
/// It contains identifiers and never a text, so erased data is erased here as well.
public struct Event: Hashable, Sendable {
    /// What changed. Never typing or presence: what may be forgotten is not kept.
    public var change: ViewChange
    /// Whether the message appeared with it, which happens once to each; false of all other changes.
    public var isNew: Bool

    /// An event with these fields.
    public init(_ change: ViewChange, isNew: Bool = false) {
        self.change = change
        self.isNew = isNew
    }
}

/// A reader's position in the event log: everything before it was reported.
///
/// A cursor outlives the node and its reader, and is valid for one store: it names the generation
/// of the last reported entry, and each run of a node has a new generation.
public struct EventCursor: Hashable, Sendable {
    /// The generation of the last entry of which something was reported; 0 if there was none.
    public var generation: UInt64
    /// The entry to continue with.
    public var entry: UInt64
    /// How many of its events were told.
    public var skip: Int

    /// A cursor with these fields.
    public init(generation: UInt64, entry: UInt64, skip: Int = 0) {
        self.generation = generation
        self.entry = entry
        self.skip = skip
    }

    /// Before everything.
    static let start = EventCursor(generation: 0, entry: 1)

    /// The last entry of which something was reported; 0 for none.
    var lastTold: UInt64 { skip > 0 ? entry : entry - 1 }
}

/// Why the events after a cursor cannot be reported exactly.
public enum EventGap: String, Equatable, Sendable {
    /// It is older than what the log keeps.
    case forgotten
    /// The last reported events were lost with the disk's last moments: what others hold of them
    /// comes again, as new events.
    case undone
    /// It is of another store, or of this one before it was set back.
    case foreign
}

/// Some events of the log, in their order.
public struct EventPage: Equatable, Sendable {
    /// Each with the cursor after it.
    public var events: [(event: Event, cursor: EventCursor)] = []
    /// Why earlier events are not reported, if so: the reader then reloads what it shows.
    public var gap: EventGap?
    /// Where it begins.
    public var begin: EventCursor
    /// Where to continue.
    public var cursor: EventCursor
    /// Whether nothing follows yet.
    public var isEnd = false

    /// Pages are equal where all of it is.
    public static func == (left: Self, right: Self) -> Bool {
        left.events.elementsEqual(right.events) { $0 == $1 } && left.gap == right.gap
            && left.begin == right.begin && left.cursor == right.cursor && left.isEnd == right.isEnd
    }
}
