public import ParleyConversation

/// One thing that changed for good, as the log of events keeps it.
///
/// It holds identifiers and never a text: what is erased is erased here as well.
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

/// Where in the log of events somebody is: everything before it was told.
///
/// A cursor outlives the node and its reader, and is good for one store: it names the generation of
/// the last entry that was told, and each life of a node writes one of its own.
public struct EventCursor: Hashable, Sendable {
    /// The generation of the last entry of which something was told; 0 where there was none.
    public var generation: UInt64
    /// The entry to go on with.
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

    /// The last entry of which something was told; 0 for none.
    var lastTold: UInt64 { skip > 0 ? entry : entry - 1 }
}

/// Why what comes after a cursor cannot be told exactly.
public enum EventGap: String, Equatable, Sendable {
    /// It is older than what the log keeps.
    case forgotten
    /// What was told last was lost together with the disk's last moments: what others hold of it comes
    /// again, as events of its own.
    case undone
    /// It is of another store, or of this one before it was set back.
    case foreign
}

/// Some events of the log, in their order.
public struct EventPage: Equatable, Sendable {
    /// Each with the cursor after it.
    public var events: [(event: Event, cursor: EventCursor)] = []
    /// Why something before them is not told, if so: the reader then reads again what it shows.
    public var gap: EventGap?
    /// Where it begins.
    public var begin: EventCursor
    /// Where to go on.
    public var cursor: EventCursor
    /// Whether nothing follows yet.
    public var isEnd = false

    /// Pages are equal where all of it is.
    public static func == (left: Self, right: Self) -> Bool {
        left.events.elementsEqual(right.events) { $0 == $1 } && left.gap == right.gap
            && left.begin == right.begin && left.cursor == right.cursor && left.isEnd == right.isEnd
    }
}
