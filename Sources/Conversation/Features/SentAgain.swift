public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension PreferenceKey {
    /// That a device sent again what nobody accepts from another; about that device and what it sent.
    public static let sentAgain = PreferenceKey(rawValue: 9)
}

/// That a device of the person sent a message again which nobody accepts from the device that wrote it. So
/// no other device of theirs sends it, too.
/// Source: `Protocol/05-identity.md`, "Preferences".
public struct SentAgain: Equatable, Sendable {
    /// The message that nobody accepts, as people name it.
    public struct Original: Hashable, Sendable {
        /// Its log.
        public var tag: LogTag
        /// Its place there.
        public var sequence: UInt64
        /// Which branch it is of; nil where its author knew of one only.
        public var check: Check?

        /// The original with this name.
        public init(tag: LogTag, sequence: UInt64, check: Check? = nil) {
            self.tag = tag
            self.sequence = sequence
            self.check = check
        }
    }

    /// The original.
    public var original: Original
    /// Which device sent it again: two that have not met may both, and both are known then.
    public var device: DeviceID
    /// Where it went.
    public var space: SpaceID
    /// The message that says it again.
    public var message: OperationReference

    /// A word with these fields.
    public init(
        _ original: Original, by device: DeviceID, in space: SpaceID, as message: OperationReference
    ) {
        self.original = original
        self.device = device
        self.space = space
        self.message = message
    }

    /// The word in a preference; nil if it is not of this key, or breaks a rule.
    init?(_ said: Preference) {
        guard said.key == .sentAgain else { return nil }
        var (topic, value) = (ByteReader(said.topic), ByteReader(said.value))
        do throws(DecodingFailure) {
            device = try topic.identifier()
            original = Original(
                tag: LogTag(try topic.uint64()), sequence: try topic.uint64(),
                check: topic.remaining > 0 ? try topic.check() : nil)
            try topic.finish()
            space = try value.identifier()
            message = OperationReference(
                tag: LogTag(try value.uint64()), sequence: try value.uint64(),
                check: try value.check())
            try value.finish()
        } catch { return nil }
        guard original.sequence < Limits.placeMax, message.sequence < Limits.placeMax else {
            return nil
        }
    }

    /// What says so in the own space.
    public var preference: Preference {
        var topic = ByteWriter(capacity: 64)
        topic.identifier(device)
        topic.uint64(original.tag.value)
        topic.uint64(original.sequence)
        if let check = original.check { topic.check(check) }
        var value = ByteWriter(capacity: 64)
        value.identifier(space)
        value.uint64(message.tag.value)
        value.uint64(message.sequence)
        value.check(message.check)
        return Preference(.sentAgain, about: topic.bytes, value.bytes)
    }
}

extension Overview {
    /// All that devices of the person sent again, in the order in which they did.
    public static func sentAgain(
        ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [SentAgain] {
        try preferences(.sentAgain, ownSpace: ownSpace, in: store).compactMap(SentAgain.init)
    }
}
