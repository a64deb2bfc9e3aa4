import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I47: an honest node writes nothing that the rules of a group, as it has them, keep from its person: no words
/// where only admins write, no pin, no lifetime, nobody added and no link opened where that is theirs.
///
/// Looked at is what stands newly in its own logs after each step that brings nothing from others. What others
/// show of such words is judged by I14, and whom they count as added by I8.
/// Source: `Protocol/08-roster.md`, "Rules".
final class RulesAreKept: Checker {
    static let invariant = "I47"
    private(set) var checkCount = 0
    private var newRows = NewRows()

    func died(_ node: SimulatedNode, losingPower: Bool) throws { newRows.died(node) }

    func wasSetBack(_ node: SimulatedNode) { newRows.wasSetBack(node) }

    func observed(_ step: StepReport) throws {
        let node = step.node
        let rows = newRows.take(in: step)
        guard node.isHonest else { return }
        for row in rows {
            guard let stored = try node.store.operation(row),
                let act = Self.act(of: stored.operation), let log = try node.store.log(stored.log),
                log.device == node.identity.device, let space = try node.store.space(log.space),
                let roster = try node.roster(of: space),
                let own = roster.member(node.identity.person)
            else { continue }
            checkCount += 1
            guard !Self.mayDo(act, as: own.role, in: roster) else { continue }
            throw violation(
                "\(node.name) wrote at \(log.tag)/\(stored.sequence) what only admins may: "
                    + "\(act.rawValue)")
        }
    }

    /// What an operation does of what rules are about.
    private static func act(of operation: Operation) -> GroupAct? {
        switch operation.header.kind.rawValue {
        case 2: .add
        case 10: .invite
        case 40, 44: .pin
        case 64, 65, 69, 96, 100, 101, 102, 120, 121, 122: .write
        default: nil
        }
    }

    /// By the specification alone: in a group everybody writes, and admins do the rest, unless it is said
    /// otherwise.
    private static func mayDo(_ act: GroupAct, as role: Role, in roster: Roster) -> Bool {
        guard roster.kind == .group, role < .admin else { return role >= .member }
        let isOpen = roster.settings.rules[act].map { $0 == .everybody } ?? (act == .write)
        return isOpen && role == .member
    }
}
