import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I7: what a device acknowledged, it still holds after it lost its power.
///
/// The frames that left are the promise: whether they arrived does not matter. It is looked at
/// while the device is down, before others could have sent again what it lost. A receipt that says
/// what the device received is the same promise, made to everybody and for good. Neither is about
/// what stood below the floor of a log when it was made: a roster may give a device more of the past.
/// An invitation that was taken back, or given up for want of room, goes whole and says so.
final class AcknowledgedIsDurable: Checker {
    static let invariant = "I7"
    private(set) var checkCount = 0

    private struct Promise {
        var space: SpaceID
        var tag: LogTag
        var sequence: UInt64
    }

    private var promises: [DeviceID: [Promise]] = [:]
    private var liars: Set<DeviceID> = []
    /// Devices that may have their receipts back before what those are about.
    private var forgetful: Set<DeviceID> = []
    private var floors = HighestFloors()

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest else {
            liars.insert(step.node.identity.device)
            return
        }
        if step.node.core.rejoin != nil { forgetful.insert(step.node.identity.device) }
        try floors.note(step)
        try noteWhatWentWhole(step)
        for case .send(_, let bytes) in step.effects {
            guard case .acknowledge(let told) = try Frame.decode(bytes) else { continue }
            for entry in told.entries {
                let promise = Promise(space: told.space, tag: entry.tag, sequence: entry.sequence)
                keep(promise, of: step.node.identity.device)
            }
        }
    }

    private func noteWhatWentWhole(_ step: StepReport) throws {
        // Who dies in the step in which an invitation goes says nothing of that any more.
        if case .timer(.takenBack) = step.input {
            try promises[step.node.identity.device]?.removeAll {
                try step.node.store.space($0.space) == nil
            }
        }
        for case .changed(let changes) in step.effects {
            for case .invitation(let space) in changes
            where try step.node.store.space(space) == nil {
                promises[step.node.identity.device]?.removeAll { $0.space == space }
            }
        }
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        guard losingPower, node.isHonest else { return }
        for promise in promises[node.identity.device] ?? [] {
            checkCount += 1
            guard let space = try node.store.space(promise.space),
                let log = try node.store.log(promise.tag, in: space.number),
                holds(node, log, promise.sequence)
            else {
                throw violation(
                    "\(node.name) acknowledged \(promise.tag)/\(promise.sequence) and lost it")
            }
        }
        if !forgetful.contains(node.identity.device) { try lookAtReceipts(of: node) }
    }

    func wasSetBack(_ node: SimulatedNode) {
        promises[node.identity.device] = nil
        forgetful.insert(node.identity.device)
    }

    func looked(at world: World) throws {
        liars.formUnion(world.liars)
        for node in world.honestNodes where !forgetful.contains(node.identity.device) {
            try lookAtReceipts(of: node)
        }
    }

    func settled(_ world: World) throws {
        liars.formUnion(world.liars)
        for node in world.honestNodes { try lookAtReceipts(of: node) }
    }

    /// Whether a device holds everything of a log through a place that was ever for it.
    private func holds(_ node: SimulatedNode, _ log: LogRecord, _ sequence: UInt64) -> Bool {
        if let place = log.wholeThrough, place >= sequence { return true }
        guard let floor = floors.place(of: log.tag, for: node.identity.device) else { return false }
        return sequence < floor
            || log.spans.contains { $0.first <= floor && $0.last >= sequence }
    }

    /// Whether a device holds all of these places that were ever for it.
    private func holds(_ node: SimulatedNode, _ log: LogRecord, _ places: PlaceSet) -> Bool {
        let floor = floors.place(of: log.tag, for: node.identity.device) ?? 0
        return places.clamped(to: floor..<UInt64.max).ranges.allSatisfy { range in
            log.spans.contains { $0.first <= range.lowerBound && range.upperBound <= $0.last + 1 }
        }
    }

    private func lookAtReceipts(of node: SimulatedNode) throws {
        try floors.note(node)
        let actor = Digest(reinterpreting: node.identity.device)
        for (space, logs) in try node.eachSpace() {
            for mark in try node.store.marks(.delivered, in: space.number)
            where mark.actor == actor {
                let log = logs.first { $0.tag == mark.tag }
                if let log, liars.contains(log.device) { continue }
                // What lies beyond a cut nobody brings back to who forgot it, and nothing to who is out.
                if forgetful.contains(node.identity.device) {
                    if let bound = log?.bound, bound.sequence <= mark.last { continue }
                    guard try node.belongs(to: space), try isHeld(mark, of: space, beside: node)
                    else { continue }
                }
                checkCount += 1
                guard let log, holds(node, log, mark.places) else {
                    throw violation(
                        "\(node.name) says that it received \(mark.places.ranges) of \(mark.tag),"
                            + " and does not hold all of it")
                }
            }
        }
    }

    /// Whether somebody who may bring it has what a device says it received: where all have forgotten
    /// it who had it, or are out of the space, nobody brings it back.
    private func isHeld(
        _ mark: Mark, of space: SpaceRecord, beside node: SimulatedNode
    ) throws -> Bool {
        guard let world = node.world, let roster = try node.roster(of: space) else { return false }
        return try world.nodes.contains { other in
            guard other !== node, roster.takesPart(other.identity.device),
                let record = try other.store.space(space.id),
                let log = try other.store.log(mark.tag, in: record.number),
                log.holds(mark.last)
            else { return false }
            return try world.comes(from: other, to: node, in: space)
        }
    }

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

extension Mark {
    /// The last of its places.
    fileprivate var last: UInt64 { (places.ranges.last?.upperBound ?? 1) - 1 }
}
