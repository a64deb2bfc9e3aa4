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
    /// What it is called.
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

/// For each device the last word in order holds.
enum DeviceNameRule: MergeRule {
    static let kind = OperationKind.deviceName
    static let lane = Lane.shared
    static let role = Role.owner

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard context.space.kind == .own, let payload = applied.operation.operation.payload,
            let name = DeviceName(payload: payload)
        else { return [] }
        let isLast = try LastWriter.put(
            .deviceName, of: name.device.bytes, by: applied, context, in: store)
        return isLast ? [.devices(context.ownPerson)] : []
    }
}

extension Overview {
    /// What the person calls their devices, ascending by device.
    public static func deviceNames(
        ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [DeviceName] {
        var names: [DeviceName] = []
        for entry in try store.entries(about: .space, in: ownSpace, field: .deviceName) {
            let payload = try store.operation(entry.operation)?.operation.payload
            if let name = payload.flatMap(DeviceName.init) { names.append(name) }
        }
        return names.sorted { $0.device < $1.device }
    }
}
