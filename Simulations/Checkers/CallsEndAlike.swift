import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySignalling
import ParleySimulation
import ParleyWire

/// I21: every call leaves a record: the device that called has one, it says more than that the call
/// was begun unless that device could not say so, and whoever has one has the same.
final class CallsEndAlike: Checker {
    static let invariant = "I21"
    private(set) var checkCount = 0

    private struct Begun {
        let space: SpaceID
        let device: DeviceID
        let life: Int
        /// Whether the device could write all the time.
        var isSound = true
    }

    private var begun: [CallID: Begun] = [:]

    func observed(_ step: StepReport) throws {
        let device = step.node.identity.device
        if step.node.core.rejoin != nil || step.node.core.node.isRevoked { doubt(device) }
        guard step.node.isHonest, !step.isLost,
            case .command(_, .call(let space, _)) = step.input
        else { return }
        for case .reply(_, .success(.call(let call))) in step.effects {
            begun[call] = Begun(space: space, device: device, life: step.node.life)
        }
    }

    func wasSetBack(_ node: SimulatedNode) {
        begun = begun.filter { $0.value.device != node.identity.device }
    }

    private func doubt(_ device: DeviceID) {
        for (call, known) in begun where known.device == device && known.isSound {
            begun[call]?.isSound = false
        }
    }

    func looked(at world: World) throws {}

    func settled(_ world: World) throws {
        for call in begun.keys.sorted() {
            guard let known = begun[call] else { continue }
            try look(for: call, known, in: world)
        }
    }

    /// Whether anybody ever went, was put out of a space, or was let do less there.
    private func holdsEnding(_ space: SpaceRecord, of node: SimulatedNode) throws -> Bool {
        for log in try node.store.logs(in: space.number) where log.lane == .control {
            let held = try node.store.operations(in: log.number, 0...UInt64.max, limit: .max)
            let endings: [OperationKind] = [.removeMember, .setRole, .leave, .ident]
            if held.contains(where: { endings.contains($0.operation.header.kind) }) { return true }
        }
        return false
    }

    /// Whether what is said of a call came without its payload: a liar may be all that a node hears.
    private func lacksBody(_ space: SpaceRecord, of node: SimulatedNode) throws -> Bool {
        for log in try node.store.logs(in: space.number) where log.lane == .content {
            let held = try node.store.operations(in: log.number, 0...UInt64.max, limit: .max)
            if held.contains(where: {
                $0.operation.header.kind == .call && $0.operation.payload == nil
            }) {
                return true
            }
        }
        return false
    }

    private func look(for call: CallID, _ known: Begun, in world: World) throws {
        var records: [(name: String, record: CallRecord, held: [OperationID])] = []
        for node in world.honestNodes {
            guard let space = try node.store.space(known.space),
                let roster = try node.roster(of: space), roster.contains(node.identity.device)
            else { continue }
            let record = try Overview.calls(in: space.number, store: node.store)
                .first { $0.call == call }
            // Who came later may not have what says most of it, nor who has holes.
            let isNewcomer = roster.device(node.identity.device)?.horizon.places.isEmpty == false
            if let record, !isNewcomer, try !lacksBody(space, of: node) {
                // Where a record stands follows from notes and what is shared as well.
                let logs = try node.store.agreedLogs(in: space.number)
                    .filter { $0.lane != .receipts }
                if logs.allSatisfy(\.isWhole) {
                    records.append((node.name, record, logs.map(\.tip)))
                }
            }
            guard node.identity.device == known.device else { continue }
            checkCount += 1
            guard let record else {
                // What somebody wrote before they lost the right to may lie beyond a cut.
                if try holdsEnding(space, of: node) { continue }
                throw violation("\(node.name) called and has no record of \(call)")
            }
            let isOver = node.core.calls[call] == nil && node.life == known.life
            if isOver, known.isSound, space.kind == .direct, record.summary.outcome == .begun {
                throw violation("\(node.name) does not say what became of \(call)")
            }
        }
        // Not everybody meets everybody: I2 judges who has to hold the same.
        for first in records {
            let alike = records.filter { $0.held == first.held }
            guard let other = alike.first(where: { $0.record != first.record }) else { continue }
            throw violation(
                "\(first.name) and \(other.name) have two records of \(call): "
                    + "\(first.record.summary) and \(other.record.summary)")
        }
    }
}
