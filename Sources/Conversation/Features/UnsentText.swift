public import ParleyLedger
public import ParleyWire

/// A text that a person began to write in a conversation and has not sent: all of their devices
/// have it, and nobody else.
public enum UnsentText {
    /// Bytes of one.
    public static let byteCountMax = Preference.valueByteCountMax

    /// The text in a value of ``PreferenceKey/unsent``; nil if there is none.
    public static func text(_ value: [UInt8]) -> String? {
        value.isEmpty ? nil : String(validating: value, as: UTF8.self)
    }

    /// What says that a text was begun.
    public static func preference(_ text: String, in space: SpaceID) -> Preference {
        Preference(.unsent, about: space.bytes, Array(text.utf8))
    }
}

extension Overview {
    /// What the person began to write in this conversation; nil where that is nothing, or no text.
    public static func unsentText(
        in space: SpaceID, ownSpace: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> String? {
        try preference(.unsent, about: space.bytes, ownSpace: ownSpace, in: store)
            .flatMap(UnsentText.text)
    }

    /// The operation that ends what the person began to write in this conversation, as this device has it;
    /// nil where that is nothing. What another device has begun meanwhile stays.
    public static func unsentEnding(
        in space: SpaceID, ownSpace: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> Draft? {
        try statement(of: .unsent, about: space.bytes, ownSpace: ownSpace, in: store).map {
            Preference(.unsent, about: space.bytes, []).draft(ending: $0.operation)
        }
    }
}
