import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I25: who takes somebody out, or lets them only read, keeps what they held of theirs: the cut that
/// they sign stands behind the last operation of each log.
///
/// Judged where the person was never put out of the space before: then nothing of theirs was void.
/// Of a device that was revoked before, the cut of its revocation keeps what was held.
/// Source: `Protocol/08-roster.md`, "Cuts".
final class RemovalKeepsWhatWasHeld: Checker {
    static let invariant = "I25"
    private(set) var checkCount = 0

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest, !step.isLost, case .command(_, let command) = step.input,
            step.effects.contains(where: {
                if case .reply(_, .success) = $0 { true } else { false }
            })
        else { return }
        switch command {
        case .removeMember(let space, let person):
            guard person != step.node.identity.person else { return }
            try look(at: person, in: space, step.node)
        case .setRole(let space, let person, .reader): try look(at: person, in: space, step.node)
        default: return
        }
    }

    func looked(at world: World) throws {}

    private func look(at person: PersonID, in space: SpaceID, _ node: SimulatedNode) throws {
        guard let record = try node.store.space(space) else { return }
        let logs = try node.store.logs(in: record.number)
        let said = try logs.filter { $0.lane == .control }.flatMap {
            try node.store.operations(in: $0.number, 0...UInt64.max, limit: .max).map(\.operation)
        }
        let cuts = said.compactMap { cut(of: person, by: $0) }
        guard cuts.count == 1, let cut = cuts.first else { return }
        let devices = Set(
            (node.world?.nodes ?? []).filter { $0.identity.person == person }
                .map(\.identity.device)
        ).subtracting(said.compactMap(deviceRevoked))
        for log in logs
        where log.lane != .control && devices.contains(log.device) && log.fork == nil {
            guard let last = log.spans.last?.last else { continue }
            checkCount += 1
            let kept = cut.place(of: log.device, log.lane)?.sequence
            guard let kept, kept >= last else {
                throw violation(
                    "\(node.name) holds \(log.tag)/\(last) of somebody whom it takes out, and cuts"
                        + " at \(kept.map { "\($0)" } ?? "nothing")")
            }
        }
    }

    /// The cut by which an operation of lane 0 takes a person out, or lets them only read.
    private func cut(of person: PersonID, by operation: Operation) -> Cut? {
        guard let payload = operation.payload else { return nil }
        switch operation.header.kind.rawValue {
        case 3:
            // What cannot be read takes nobody out.
            guard let removal = try? RemoveMember(payload: payload) else { return nil }
            return removal.person == person ? removal.cut : nil
        case 4:
            // Nor does it let anybody do less.
            guard let change = try? SetRole(payload: payload), change.role == .reader else {
                return nil
            }
            return change.person == person ? change.cut : nil
        default: return nil
        }
    }

    private func deviceRevoked(by operation: Operation) -> DeviceID? {
        guard operation.header.kind == .ident, let payload = operation.payload,
            // What cannot be read revokes nothing.
            case .revoke(let device, _)? = try? Ident(payload: payload).change
        else { return nil }
        return device
    }
}
