public import ParleyLedger
public import ParleyWire

/// The state of a conversation when a person archived it: anything new since then brings it back.
///
/// Two numbers say what is new. The place of the newest message alone would not do: an author whose
/// clock is ahead takes a high place, and messages of others below it would bring nothing back.
public struct Archive: Equatable, Sendable {
    /// Where the newest message stood; 0 where there was none.
    public var stand: UInt64
    /// How many messages of others were not read.
    public var unreadCount: UInt64

    /// The state at that time.
    public init(stand: UInt64, unreadCount: UInt64) {
        self.stand = stand
        self.unreadCount = unreadCount
    }

    /// The state in a value of ``PreferenceKey/archived``; nil if it has no effect.
    public init?(_ value: [UInt8]) {
        guard value.count == 16 else { return nil }
        var reader = ByteReader(value)
        do throws(DecodingFailure) {
            self.init(stand: try reader.uint64(), unreadCount: try reader.uint64())
        } catch { return nil }
    }

    /// The value that says this.
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.uint64(stand)
        writer.uint64(unreadCount)
        return writer.bytes
    }

    /// Whether nothing is new: no message stands higher, and no more of others are unread.
    public func covers(newest: OrderKey?, unreadCount: Int) -> Bool {
        newest?.stand ?? 0 <= stand && UInt64(unreadCount) <= self.unreadCount
    }
}

extension Overview {
    /// The state when the person archived this conversation; nil if they did not, or unarchived it.
    public static func archive(
        _ space: SpaceID, ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> Archive? {
        try preference(.archived, about: space.bytes, ownSpace: ownSpace, in: store)
            .flatMap(Archive.init)
    }
}
