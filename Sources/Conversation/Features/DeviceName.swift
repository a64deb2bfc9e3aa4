import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// What the person calls a device of theirs.
    public static let deviceName = OperationKind(rawValue: 35)
}

extension EntryField {
    /// What devices are called, in the own space; one entry for each device.
    static let deviceName = EntryField(rawValue: 7)
}

/// The payload that names a device of the person's own.
///
/// It lies in the own space and not on the card: what the devices are called concerns nobody else.
public struct DeviceName: Equatable, Sendable {
    /// The device.
    public var device: DeviceID
    /// The name.
    public var name: String

    /// A name with these fields.
    public init(device: DeviceID, name: String) {
        self.device = device
        self.name = name
    }

    init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadDeviceName.self, payload),
            let device = DeviceID(fieldBytes(message.device)),
            message.name.utf8.count <= Limits.nameByteCountMax
        else { return nil }
        self.init(device: device, name: message.name)
    }

    /// The operation that says this, in the own space.
    public func draft() -> Draft {
        var message = PayloadDeviceName()
        message.device = field(device.bytes)
        message.name = name
        return Draft(kind: .deviceName, lane: .shared, payload: Payload.encode(message))
    }
}

extension DeviceName: OwnNote {
    static var kind: OperationKind { .deviceName }
    static var entryField: EntryField { .deviceName }
    var subject: [UInt8] { device.bytes }

    func changes(_ context: MergeContext, in store: some MergeStore) -> [ViewChange] {
        [.devices(context.ownPerson)]
    }
}

extension Overview {
    /// What the person calls their devices, ascending by device.
    public static func deviceNames(
        ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [DeviceName] {
        try notes(DeviceName.self, ownSpace: ownSpace, in: store).sorted {
            $0.device < $1.device
        }
    }
}
