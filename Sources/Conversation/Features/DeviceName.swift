import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

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
        let entry = Entry(
            space: context.space.number, object: .space, field: .deviceName,
            element: try store.locator(name.device.bytes), operation: applied.number,
            order: applied.operation.orderKey, isOn: true)
        guard try LastWriter.put(entry, in: store) else { return [] }
        return [.devices(context.ownPerson)]
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
