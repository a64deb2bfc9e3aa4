import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// What people do together.
extension Stage {
    /// The command of such a deed; nil where there is nothing to do it with.
    func teamwork(_ what: Together, in place: Int, of node: SimulatedNode) throws -> Command? {
        guard let space = try space(place, of: node) else { return nil }
        switch what {
        case .ask(let question, let options, let isMultiple, let minutes):
            let until = minutes.map { World.epoch + world.now + $0 * 60_000 }
            return .together(
                .ask(
                    space.id,
                    PollQuestion(
                        question: question, options: (1...max(options, 1)).map { "answer \($0)" },
                        isMultiple: isMultiple, until: until)))
        case .vote(let rank, let choices):
            return try poll(rank, in: space, of: node).map { poll in
                let known = choices.filter { $0 < poll.question.options.count }
                let chosen = poll.question.isMultiple ? known : Array(known.prefix(1))
                return .together(.vote(poll.number, PollChoices(chosen)))
            }
        case .close(let rank):
            return try poll(rank, in: space, of: node).map { .together(.close($0.number)) }
        case .withdraw(let rank):
            return try poll(rank, in: space, of: node).map { .together(.withdraw($0.number)) }
        }
    }

    private func poll(
        _ rank: Int, in space: SpaceRecord, of node: SimulatedNode
    ) throws -> Poll? {
        guard let roster = try node.roster(of: space) else { return nil }
        let polls = try Overview.polls(in: space.number, roster: roster, store: node.store)
        return polls.isEmpty ? nil : polls[polls.count - 1 - rank % polls.count]
    }
}
