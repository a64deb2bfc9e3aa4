import ParleyLedger
import ParleyNodeCore
import ParleySimulation

/// I39: what a device has noted to do later, it sets out to do when it starts again: it reminds those
/// who have not said that they hold what it wrote, and asks for what it found missing.
///
/// Where it forgets that, the reminders of others most often bring all to an end that is equal, so it is
/// judged by what there is a time for once it has started, and not by what comes of it.
/// Source: `Protocol/06-relay.md`, "Reminders" and "Repair".
final class TakenUpAgain: Checker {
    static let invariant = "I39"
    static let needsRelay = true
    private(set) var checkCount = 0

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest, !step.isLost, case .started = step.input else { return }
        // A world may be without these ways of repair: then the node has asked all the same.
        var timers: Set<TimerID> = []
        for case .timer(let timer, _) in step.effects { timers.insert(timer) }
        for table in [ValueTable.reminder, .repair] {
            for (key, _) in try step.node.store.values(table) where key.count == 8 {
                let space = SpaceNumber(
                    Int64(bitPattern: key.reduce(0) { $0 << 8 | UInt64($1) }))
                let timer = table == .reminder ? TimerID.reminder(space) : .repair(space)
                checkCount += 1
                // Where the first attempt to start failed, other steps may have come before this one.
                guard timers.contains(timer) || step.node.awaits(timer) else {
                    throw violation(
                        "\(step.node.name) starts again, and forgets a \(table) that it had noted")
                }
            }
        }
    }

    func looked(at world: World) throws {}
}
