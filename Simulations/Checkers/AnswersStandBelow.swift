import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I28: an answer stands below its question, for everybody.
///
/// What screens show is judged where all clocks were right all the time, and only about what honest
/// devices wrote: what a wrong clock far ahead may say of the order is not settled yet. What their
/// authors wrote down is judged in any case.
final class AnswersStandBelow: Checker {
    static let invariant = "I28"
    /// So far ahead a clock is taken for wrong. Source: `Protocol/03-operations.md`, "Order".
    private static let futureMax: UInt64 = 600_000
    private(set) var checkCount = 0
    private var clocks = ClockWatch()

    func observed(_ step: StepReport) throws { clocks.note(step.node) }

    func looked(at world: World) throws { for node in world.nodes { clocks.note(node) } }

    func settled(_ world: World) throws {
        try looked(at: world)
        let liars = Set(world.liars)
        for node in world.honestNodes {
            for (space, logs) in try node.eachSpace() {
                for log in logs where log.lane == .content && !liars.contains(log.device) {
                    try lookAtDates(in: log, of: space, node)
                }
            }
        }
        guard clocks.areRight else { return }
        for node in world.honestNodes {
            for (space, logs) in try node.eachSpace() {
                guard let roster = try node.roster(of: space) else { continue }
                let honest = Set(logs.filter { !liars.contains($0.device) }.map(\.tag))
                let timeline = Timeline(
                    of: space, roster: roster, ownPerson: node.identity.person)
                try look(
                    at: try timeline.page(limit: .max, in: node.store), by: honest, of: node)
            }
        }
    }

    /// Whatever clocks say: who answers dates the answer after the question, unless that is so far ahead
    /// of their own clock that it is most likely wrong.
    private func lookAtDates(
        in log: LogRecord, of space: SpaceRecord, _ node: SimulatedNode
    ) throws {
        for stored in try node.store.operations(in: log.number, 0...UInt64.max, limit: .max) {
            let header = stored.operation.header
            for question in header.references {
                guard let other = try node.store.log(question.tag, in: space.number),
                    let target = try node.store.operation(at: question.sequence, in: other.number)
                else { continue }
                let clock = target.operation.header.clock
                checkCount += 1
                guard header.clock > clock || clock >> 16 > header.wallClock + Self.futureMax
                else {
                    throw violation(
                        "\(node.name) holds an answer that is dated before its question,"
                            + " \(log.tag)/\(stored.sequence)")
                }
            }
        }
    }

    /// - Parameter messages: the newest first.
    private func look(
        at messages: [Message], by honest: Set<LogTag>, of node: SimulatedNode
    ) throws {
        var answered: [OperationReference: String] = [:]
        for message in messages.reversed() where honest.contains(message.reference.tag) {
            if let answer = answered[message.reference] {
                throw violation("\(node.name) shows the answer \(answer) above its question")
            }
            guard let question = message.parent, honest.contains(question.tag) else { continue }
            checkCount += 1
            answered[question] = message.text ?? "(deleted)"
        }
    }
}
