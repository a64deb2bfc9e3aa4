import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I23: no key seals two texts: each step of a device's chain in an epoch is used for one content,
/// whatever died, failed or was put back in between.
///
/// Source: `Protocol/09-epochs.md`, "Chains".
final class KeySealsOnce: Checker {
    static let invariant = "I23"
    static let needsRelay = true
    private(set) var checkCount = 0

    private struct Key: Hashable {
        let epoch: OperationID
        let device: DeviceID
        let step: UInt32
    }

    private let reader: EnvelopeReader
    private var contents: [Key: [UInt8]] = [:]

    init(_ reader: EnvelopeReader) { self.reader = reader }

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest else { return }
        for envelope in reader.envelopes(of: step) {
            checkCount += 1
            let key = Key(
                epoch: envelope.epoch, device: step.node.identity.device, step: envelope.step)
            let known = contents.updateValue(envelope.content, forKey: key)
            guard known == nil || known == envelope.content else {
                throw violation(
                    "\(step.node.name) seals two texts with the key of step \(key.step)")
            }
        }
    }

    func looked(at world: World) throws {}
}
