import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I23: no key seals two texts: each step of a device's chain in an epoch is used for one content,
/// whatever died, failed or was put back in between.
///
/// Once a store was set back and its node could not tell, or for the second time, a step may come
/// again; then never with the same nonce. Source: `Protocol/09-epochs.md`, "Chains".
final class KeySealsOnce: Checker {
    static let invariant = "I23"
    static let needsRelay = true
    private(set) var checkCount = 0

    private struct Key: Hashable {
        let epoch: OperationID
        let device: DeviceID
        let step: UInt32
        /// None where the step itself must be new.
        let nonce: [UInt8]?
    }

    /// What is known of a device whose store was set back.
    private struct SetBack {
        var count = 0
        var mayRepeat = false
        /// Whether it has started since.
        var hasStarted = false
    }

    private let reader: EnvelopeReader
    private var contents: [Key: [UInt8]] = [:]
    private var setBacks: [DeviceID: SetBack] = [:]

    init(_ reader: EnvelopeReader) { self.reader = reader }

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest else { return }
        let device = step.node.identity.device
        if setBacks[device]?.hasStarted == false {
            setBacks[device]?.hasStarted = true
            if !step.node.core.isBehind { setBacks[device]?.mayRepeat = true }
        }
        let mayRepeat = setBacks[device]?.mayRepeat ?? false
        for envelope in reader.envelopes(of: step) {
            checkCount += 1
            try look(at: envelope, of: step.node, under: envelope.nonce)
            if !mayRepeat { try look(at: envelope, of: step.node, under: nil) }
        }
    }

    private func look(
        at envelope: OpenedEnvelope, of node: SimulatedNode, under nonce: [UInt8]?
    ) throws {
        let key = Key(
            epoch: envelope.epoch, device: node.identity.device, step: envelope.step, nonce: nonce)
        let known = contents.updateValue(envelope.content, forKey: key)
        guard known == nil || known == envelope.content else {
            throw violation("\(node.name) seals two texts with the key of step \(key.step)")
        }
    }

    func wasSetBack(_ node: SimulatedNode) {
        let device = node.identity.device
        setBacks[device, default: SetBack()].count += 1
        setBacks[device]?.hasStarted = false
        if setBacks[device]?.count ?? 0 > 1 { setBacks[device]?.mayRepeat = true }
    }

    func looked(at world: World) throws {}
}
