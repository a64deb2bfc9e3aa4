public import ParleyLedger
public import ParleyWire

/// What a person lets others in a conversation know of what they do there, or does not.
/// Source: `Protocol/05-identity.md`, "Discretion".
public enum Disclosure: UInt8, CaseIterable, Sendable {
    /// What they have read.
    case reading = 1
    /// That they type.
    case typing = 2

    /// The preference that says so; about a conversation, or about all others.
    public var key: PreferenceKey { self == .reading ? .readingTold : .typingTold }
}

extension PreferenceKey {
    /// Whether others are told what the person has read; about a space, or about all others.
    public static let readingTold = PreferenceKey(rawValue: 11)
    /// Whether others are told that the person types; about a space, or about all others.
    public static let typingTold = PreferenceKey(rawValue: 12)
    /// What the person has read on a device and tells nobody else; about a space, a log and the device, and
    /// about a space alone where there is any such.
    public static let readQuietly = PreferenceKey(rawValue: 13)
}

extension Overview {
    /// What was set about a conversation, or about all others where it is nil; nil where nothing was.
    public static func disclosureSet(
        _ what: Disclosure, in space: SpaceID?, ownSpace: SpaceNumber, _ store: some MergeStore
    ) throws(StoreError) -> Bool? {
        let value = try preference(
            what.key, about: space?.bytes ?? [], ownSpace: ownSpace, in: store)
        // What only a newer device understands may be meant to hide more.
        return value.map { $0 == [1] }
    }

    /// Whether the person lets others in a conversation know it.
    ///
    /// - Parameter unsaid: what holds where nothing was set.
    public static func discloses(
        _ what: Disclosure, in space: SpaceID, unsaid: Bool = true, ownSpace: SpaceNumber,
        _ store: some MergeStore
    ) throws(StoreError) -> Bool {
        if let said = try disclosureSet(what, in: space, ownSpace: ownSpace, store) { return said }
        return try disclosureSet(what, in: nil, ownSpace: ownSpace, store) ?? unsaid
    }
}

extension Disclosure {
    /// What says to the person's devices that others are told, or are not; nil for what holds otherwise.
    public func preference(_ isTold: Bool?, in space: SpaceID?) -> Preference {
        Preference(key, about: space?.bytes ?? [], isTold.map { [$0 ? 1 : 2] } ?? [])
    }
}

/// What a person has read of conversations in which nobody is told that: noted for their own devices alone.
public enum QuietReading {
    /// What says to own devices that this was read on one of them.
    public static func preferences(
        of progress: [Receipts.Progress], by device: DeviceID, in space: SpaceID
    ) -> [Preference] {
        // Whoever tells what they read looks for nothing else.
        [Preference(.readQuietly, about: space.bytes, [1])]
            + progress.map {
                Preference(
                    .readQuietly, about: topic($0.tag, device, in: space), bytes($0.places))
            }
    }

    static func topic(_ tag: LogTag, _ device: DeviceID, in space: SpaceID) -> [UInt8] {
        var writer = ByteWriter(capacity: 72)
        writer.identifier(space)
        writer.uint64(tag.value)
        writer.identifier(device)
        return writer.bytes
    }

    /// The places as run lengths, which alternate from place 0 between those that were read and others.
    package static func bytes(_ places: PlaceSet) -> [UInt8] {
        var writer = ByteWriter(capacity: 32)
        for count in places.counts { writer.number(count) }
        return writer.bytes
    }

    /// The places in a value; nil where it is not one.
    package static func places(_ value: [UInt8]) -> PlaceSet? {
        var reader = ByteReader(value)
        var counts: [UInt64] = []
        do throws(DecodingFailure) {
            while reader.remaining > 0 { counts.append(try reader.number()) }
        } catch { return nil }
        return PlaceSet(counts: counts)
    }
}

/// What a person has read in one conversation, whether others were told or not.
struct OwnReading {
    private let space: SpaceRecord
    private let devices: [DeviceID]
    /// Where it is noted what nobody else was told; nil where nothing is.
    private let quiet: SpaceNumber?

    /// - Parameters:
    ///   - devices: those of the person.
    ///   - ownSpace: where it is noted what nobody else was told; nil where that does not matter.
    init(
        in space: SpaceRecord, on devices: [DeviceID], ownSpace: SpaceNumber?,
        _ store: some MergeStore
    ) throws(StoreError) {
        self.space = space
        self.devices = devices
        let isUsed = try ownSpace.map { own throws(StoreError) in
            try Overview.preference(
                .readQuietly, about: space.id.bytes, ownSpace: own, in: store) != nil
        }
        quiet = isUsed == true ? ownSpace : nil
    }

    /// The places of a log that the person has read.
    func places(of tag: LogTag, _ store: some MergeStore) throws(StoreError) -> PlaceSet {
        var read = try store.placesRead(of: tag, on: devices, in: space.number)
        for device in devices { read.formUnion(try unsaid(of: tag, on: device, store)) }
        return read
    }

    /// Those that were read on a device and told to nobody else.
    func unsaid(
        of tag: LogTag, on device: DeviceID, _ store: some MergeStore
    ) throws(StoreError) -> PlaceSet {
        guard let quiet else { return PlaceSet() }
        let value = try Overview.preference(
            .readQuietly, about: QuietReading.topic(tag, device, in: space.id), ownSpace: quiet,
            in: store)
        return value.flatMap(QuietReading.places) ?? PlaceSet()
    }
}
