import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire

/// I33: who has opened an envelope cannot open it again: the key of that step is in no chain that is
/// kept, so that whoever copies a disk reads nothing of what was read before.
///
/// Looked at when the step is the last that the chain has reached: then it was used just now.
/// Source: `Protocol/09-epochs.md`, "Chains".
final class UsedKeysAreGone: Checker {
    static let invariant = "I33"
    static let needsRelay = true
    private(set) var checkCount = 0
    private let reader: EnvelopeReader

    init(_ reader: EnvelopeReader) { self.reader = reader }

    func observed(_ step: StepReport) throws {
        if step.node.isHonest { _ = reader.envelopes(of: step) }
        guard step.node.isHonest, !step.isLost, let world = step.node.world,
            case .relay(_, .arrived(let mailbox, let entries)) = step.input
        else { return }
        for entry in entries {
            guard let sealed = reader.sealed(entry.envelope),
                sealed.device != step.node.identity.device,
                let space = try step.node.store.space(sealed.space),
                let kept = try step.node.store.secret(
                    .chain, sealed.epoch.bytes + sealed.device.bytes, in: space.number),
                let chain = Chain(stored: kept), chain.step == sealed.step + 1
            else { continue }
            checkCount += 1
            guard !reader.opens(entry.envelope, in: mailbox, of: sealed.device, chain, world) else {
                throw violation("\(step.node.name) keeps the key of an envelope that it has opened")
            }
        }
    }

    func looked(at world: World) throws {}
}
