public import ParleyLedger
public import ParleyWire

/// Something that happened to a person's identity, which its reader should know of.
///
/// Written down where it happens, so that it is still there when a screen is next looked at.
/// Local: every device of a person notices for itself.
public struct Notice: Equatable, Sendable {
    /// What happened.
    public enum Kind: UInt8, Sendable {
        /// Devices of a verified person came or were revoked.
        case devicesChanged = 1
        /// A device, or the recovery code, signed two things that contradict each other: its key may be
        /// in two hands.
        case compromised = 2
    }

    /// The person or device concerned.
    public var person: PersonID
    /// What happened.
    public var kind: Kind
    /// When it was noticed, in Unix milliseconds.
    public var time: UInt64
    /// Devices that came, ascending; of a compromised person those with two histories,
    /// where the root key stands for the recovery code.
    public var added: [DeviceID]
    /// Devices that were revoked, ascending.
    public var revoked: [DeviceID]

    /// A notice with these fields.
    public init(
        person: PersonID, kind: Kind, time: UInt64, added: [DeviceID], revoked: [DeviceID] = []
    ) {
        self.person = person
        self.kind = kind
        self.time = time
        self.added = added
        self.revoked = revoked
    }

    /// Where it is kept: ascending keys are ascending times.
    public var key: [UInt8] {
        var writer = ByteWriter()
        writer.uint64(time)
        writer.identifier(person)
        writer.byte(kind.rawValue)
        return writer.bytes
    }

    /// What is kept.
    public var value: [UInt8] {
        var writer = ByteWriter()
        for devices in [added, revoked] {
            writer.number(UInt64(devices.count))
            for device in devices { writer.identifier(device) }
        }
        return writer.bytes
    }

    /// The notice in a row of ``ValueTable/notice``, or nil if the row is invalid.
    public init?(key: [UInt8], value: [UInt8]) {
        var keyReader = ByteReader(key)
        var reader = ByteReader(value)
        do throws(DecodingFailure) {
            time = try keyReader.uint64()
            person = try keyReader.identifier()
            guard let kind = Kind(rawValue: try keyReader.byte()) else { return nil }
            self.kind = kind
            added = try Self.devices(&reader)
            revoked = try Self.devices(&reader)
        } catch { return nil }
    }

    private static func devices(
        _ reader: inout ByteReader
    ) throws(DecodingFailure) -> [DeviceID] {
        var devices: [DeviceID] = []
        for _ in 0..<(try reader.count("devices", atMost: 256)) {
            devices.append(try reader.identifier())
        }
        return devices
    }

    /// Everything noticed, oldest first.
    public static func all(in store: some NodeStore) throws(StoreError) -> [Notice] {
        try store.values(.notice).compactMap { Notice(key: $0.key, value: $0.value) }
    }
}
