import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I28: an answer stands below its question, for everybody, whatever any clock says.
///
/// Only about what honest devices wrote: of a forked log each may hold another branch.
final class AnswersStandBelow: Checker {
    static let invariant = "I28"
    private(set) var checkCount = 0

    func settled(_ world: World) throws {
        let liars = Set(world.liars)
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
