/// See ``WallTime``.
public enum WallTimeField: NumberField {
    /// Its name in a refusal.
    public static let name = "time"
    /// The greatest value.
    public static let greatest = Limits.wallClockMax - 1
}

/// A moment of somebody's wall clock, in Unix milliseconds below 2^43 (the year 2248).
public typealias WallTime = Bounded<WallTimeField>

/// See ``ByteCredit``.
public enum ByteCreditField: NumberField {
    /// Its name in a refusal.
    public static let name = "credit"
    /// The greatest value.
    public static let greatest: UInt64 = 1 << 40
}

/// How many more bytes of operations somebody takes, at most 2^40.
public typealias ByteCredit = Bounded<ByteCreditField>

/// See ``RelayDay``.
public enum RelayDayField: NumberField {
    /// Its name in a refusal.
    public static let name = "day"
    /// The greatest value.
    public static let greatest = (Limits.wallClockMax - 1) / RelayDay.milliseconds
}

/// A day as a relay counts them since 1970, up to the one in which the greatest ``WallTime`` lies.
public typealias RelayDay = Bounded<RelayDayField>

extension Bounded where Field == RelayDayField {
    /// A day in milliseconds.
    public static var milliseconds: UInt64 { 24 * 3_600_000 }

    /// The day in which this moment lies, in Unix milliseconds.
    public init(at time: UInt64) { self.init(clamping: time / Self.milliseconds) }
}

/// See ``CardVersion``.
public enum CardVersionField: NumberField {
    /// Its name in a refusal.
    public static let name = "version"
    /// The greatest value.
    public static let greatest: UInt64 = (1 << 62) - 1
}

/// How new a part of a card is, below 2^62: of two parts of one device the greater one counts.
/// Source: `Protocol/05-identity.md`, "Cards".
public typealias CardVersion = Bounded<CardVersionField>

extension Bounded where Field == CardVersionField {
    /// The version of a device's next part: greater than that of its last one, than its clock, and
    /// than those of its person's other devices, so that the newest name counts.
    ///
    /// Versions of others from 2^43 are not followed: no honest clock reaches them. So a stolen
    /// device that takes the greatest version keeps nobody from publishing a next part.
    ///
    /// - Parameters:
    ///   - own: of the device's last part.
    ///   - others: of the parts of the person's other devices.
    ///   - time: now, in Unix milliseconds.
    public static func next(
        after own: CardVersion?, besides others: some Sequence<CardVersion>, at time: UInt64
    ) -> CardVersion {
        let followed = others.filter { $0.value < Limits.wallClockMax }
        let clock = CardVersion(clamping: WallTime(clamping: time).value)
        return followed.reduce(max(own ?? .zero, clock), max).next
    }
}

/// See ``LetterNumber``.
public enum LetterNumberField: NumberField {
    /// Its name in a refusal.
    public static let name = "letter"
    /// The greatest value.
    public static let greatest: UInt64 = 1 << 62
}

/// Which of its sender's letters one is, at most 2^62: it grows from letter to letter of a device.
/// Source: `Protocol/06-relay.md`, "What envelopes carry".
public typealias LetterNumber = Bounded<LetterNumberField>

/// See ``BlobSize``.
public enum BlobSizeField: NumberField {
    /// Its name in a refusal.
    public static let name = "size"
    /// The greatest value.
    public static let greatest = Limits.fileByteCountMax
}

/// Bytes of a file before it is sealed, at most 4 GiB.
/// Source: `Protocol/13-files.md`, "Blobs".
public typealias BlobSize = Bounded<BlobSizeField>

/// See ``ChunkIndex``.
public enum ChunkIndexField: NumberField {
    /// Its name in a refusal.
    public static let name = "chunk"
    /// The greatest value.
    public static let greatest = UInt64(Limits.chunkCountMax - 1)
}

/// Which of a file's chunks one is, from 0.
public typealias ChunkIndex = Bounded<ChunkIndexField>

/// See ``SectionIndex``.
public enum SectionIndexField: NumberField {
    /// Its name in a refusal.
    public static let name = "section"
    /// The greatest value.
    public static let greatest = UInt64(Limits.sectionCountMax - 1)
}

/// Which of a file's sections one is, from 0.
public typealias SectionIndex = Bounded<SectionIndexField>
