import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I7: what a device acknowledged, it still holds after it lost its power.
///
/// The frames that left are the promise: whether they arrived does not matter. It is looked at
/// while the device is down, before others could have sent again what it lost.
final class AcknowledgedIsDurable: Checker {
    static let invariant = "I7"
    private(set) var checkCount = 0

    private struct Promise {
        var space: SpaceID
        var tag: LogTag
        var sequence: UInt64
    }

    private var promises: [DeviceID: [Promise]] = [:]

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest else { return }
        for case .send(_, let bytes) in step.effects {
            guard case .acknowledge(let told) = try Frame.decode(bytes) else { continue }
            for entry in told.entries {
                let promise = Promise(space: told.space, tag: entry.tag, sequence: entry.sequence)
                keep(promise, of: step.node.identity.device)
            }
        }
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        guard losingPower, node.isHonest else { return }
        for promise in promises[node.identity.device] ?? [] {
            checkCount += 1
            guard let space = try node.store.space(promise.space),
                let log = try node.store.log(promise.tag, in: space.number),
                let place = log.wholeThrough, place >= promise.sequence
            else {
                throw violation(
                    "\(node.name) acknowledged \(promise.tag)/\(promise.sequence) and lost it")
            }
        }
    }

    func wasSetBack(_ node: SimulatedNode) { promises[node.identity.device] = nil }

    /// The highest place of each log is all that need be remembered.
    private func keep(_ promise: Promise, of device: DeviceID) {
        var kept = promises[device] ?? []
        if let place = kept.firstIndex(where: {
            $0.space == promise.space && $0.tag == promise.tag
        }) {
            kept[place].sequence = max(kept[place].sequence, promise.sequence)
        } else {
            kept.append(promise)
        }
        promises[device] = kept
    }
}
