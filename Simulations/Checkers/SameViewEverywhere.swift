import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I1: nodes that hold the same operations of a space show the same, byte for byte.
///
/// Whoever a liar served without payloads holds less than the others, until others have helped.
final class SameViewEverywhere: Checker {
    static let invariant = "I1"
    /// What is shown costs what is stored. Between full looks a space of so many operations is
    /// compared at every glance, one of twice as many at every second, and so on.
    private static let operationCountAGlance = 256
    private(set) var checkCount = 0
    private var glanceCount = 0
    /// What each node showed, and what it held then.
    private var shown: [DeviceID: [SpaceID: Shown]] = [:]

    private struct Shown {
        var held: [HeldLog]
        var digest: Digest?
    }

    private struct Holder {
        var node: SimulatedNode
        var held: [HeldLog]
    }

    /// Screens are out of date, as by a payload that came late.
    func observed(_ step: StepReport) throws {
        for case .changed(let changes) in step.effects {
            for number in Set(changes.compactMap(\.space)) {
                guard let space = try step.node.store.space(number) else { continue }
                shown[step.node.identity.device]?[space.id] = nil
            }
        }
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        shown[node.identity.device] = nil
    }

    func wasSetBack(_ node: SimulatedNode) { shown[node.identity.device] = nil }

    func looked(at world: World) throws {
        shown = [:]
        try look(at: world, isSettled: false) { _ in true }
    }

    func settled(_ world: World) throws {
        shown = [:]
        try look(at: world, isSettled: true) { _ in true }
    }

    func glanced(at world: World) throws {
        glanceCount += 1
        try look(at: world, isSettled: false) { heldCount in
            glanceCount % (1 + heldCount / Self.operationCountAGlance) == 0
        }
    }

    private func look(
        at world: World, isSettled: Bool, _ isDue: (_ heldCount: Int) -> Bool
    ) throws {
        var holders: [(space: SpaceID, all: [Holder])] = []
        for node in world.honestNodes {
            for (space, logs) in try node.eachSpace() {
                let held = HeldLog.all(of: logs)
                guard isDue(held.reduce(0) { $0 + $1.heldCount }) else { continue }
                let holder = Holder(node: node, held: held)
                if let place = holders.firstIndex(where: { $0.space == space.id }) {
                    holders[place].all.append(holder)
                } else {
                    holders.append((space.id, [holder]))
                }
            }
        }
        for (space, all) in holders { try compare(all, in: space, of: world, isSettled) }
    }

    private func compare(
        _ all: [Holder], in space: SpaceID, of world: World, _ isSettled: Bool
    ) throws {
        for (place, holder) in all.enumerated() {
            guard let equal = all[..<place].first(where: { $0.held == holder.held }) else {
                continue
            }
            checkCount += 1
            if try digest(of: space, at: equal) == digest(of: space, at: holder) { continue }
            let isExcused = try world.mayShowAnother(
                equal.node, holder.node, in: space, isSettled: isSettled)
            guard isExcused else {
                throw violation(
                    "\(equal.node.name) and \(holder.node.name) hold the same and show another")
            }
        }
    }

    private func digest(of space: SpaceID, at holder: Holder) throws -> Digest? {
        let device = holder.node.identity.device
        if let known = shown[device]?[space], known.held == holder.held {
            return known.digest
        }
        let digest = try holder.node.digest(of: space)
        shown[device, default: [:]][space] = Shown(held: holder.held, digest: digest)
        return digest
    }
}

extension ViewChange {
    /// The conversation that it is about.
    fileprivate var space: SpaceNumber? {
        switch self {
        case .message(let space, _), .mention(let space, _), .conversation(let space),
            .receipts(let space), .membership(let space), .refolded(let space),
            .together(let space, _), .files(let space, _), .disappearing(let space, _):
            space
        // What may be forgotten is no view of what is stored.
        case .contact, .devices, .card, .relays, .typing, .presence, .calls, .invitation,
            .additionPolicy, .preference, .reminder, .notSent, .clocks:
            nil
        }
    }
}
