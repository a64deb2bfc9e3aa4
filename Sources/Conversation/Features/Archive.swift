public import ParleyLedger
public import ParleyWire

/// What was there when a person put a conversation away: what is new since then brings it back.
///
/// Two numbers say what is new. The place of the newest message alone would not do: who writes under a
/// clock that is ahead takes a high place, and what others write below it would bring nothing back.
public struct Archive: Equatable, Sendable {
    /// Where the newest message stood; 0 where there was none.
    public var stand: UInt64
    /// How many messages of others were not read.
    public var unreadCount: UInt64

    /// What was there.
    public init(stand: UInt64, unreadCount: UInt64) {
        self.stand = stand
        self.unreadCount = unreadCount
    }

    /// What a value of ``PreferenceKey/archived`` says; nil where it says nothing.
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
    /// What was there when the person put this conversation away; nil where they did not, or took it back.
    public static func archive(
        _ space: SpaceID, ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> Archive? {
        try preference(.archived, about: space.bytes, ownSpace: ownSpace, in: store)
            .flatMap(Archive.init)
    }
}
