import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
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
        case .begin(let title, let rank):
            let row = try rank.flatMap {
                try node.store.messages(in: space.number, before: nil, limit: $0 + 1).last
            }
            return .together(
                .begin(space.id, ItemBeginning(title: title), from: row?.operation))
        case .change(let rank, let field, let value):
            return try item(rank, in: space, of: node).map { item in
                try change(field, to: value, of: item, in: space, of: node)
            } ?? nil
        case .drop(let rank):
            return try item(rank, in: space, of: node).map { .together(.withdraw($0.number)) }
        case .note, .edit, .write, .retitle, .tear:
            return try note(what, in: space, of: node).map { .together($0) }
        case .remind(let text, let rank, let minutes):
            let row = try rank.flatMap {
                try node.store.messages(in: space.number, before: nil, limit: $0 + 1).last
            }
            let time = World.epoch + world.now + minutes * 60_000
            return .remind(.add(text: text, about: row?.operation, at: time))
        case .later(let text, let minutes):
            let time = World.epoch + world.now + minutes * 60_000
            return .schedule(.add(TextMessage(text: text), to: space.id, at: time))
        case .remember(let rank, let word): return try remember(rank, word, on: node)
        case .propose(let title, let rank):
            let source = try rank.flatMap { try closedPoll($0, in: space, of: node) }
            let proposal = DecisionProposal(title: title, text: "so that it is \(title)")
            return .together(.propose(space.id, proposal, from: source?.number))
        case .decide(let rank, let word):
            return try decision(rank, in: space, of: node).map { decision in
                try decide(word, about: decision, in: space, of: node)
            } ?? nil
        }
    }

    private func remember(
        _ rank: Int, _ word: Together.Word, on node: SimulatedNode
    ) throws -> Command? {
        guard let own = node.core.ownSpace else { return nil }
        let all = try Overview.reminders(ownSpace: own.number, in: node.store)
        guard !all.isEmpty else { return nil }
        let id = all[all.count - 1 - rank % all.count].id
        switch word {
        case .accept: return .remind(.finish(id))
        case .reopen: return .remind(.take(id))
        case .withdraw: return .remind(.remove(id))
        case .approve, .retract, .reject, .supersede: return nil
        }
    }

    private func decide(
        _ word: Together.Word, about decision: Decision, in space: SpaceRecord,
        of node: SimulatedNode
    ) throws -> Command? {
        switch word {
        case .approve: return .together(.approve(decision.number, true))
        case .retract: return .together(.approve(decision.number, false))
        case .accept: return .together(.settle(decision.number, .accepted))
        case .reject: return .together(.settle(decision.number, .rejected))
        case .reopen: return .together(.settle(decision.number, .proposed))
        case .supersede:
            return try self.decision(1, in: space, of: node).map {
                .together(.settle(decision.number, .superseded, by: $0.number))
            }
        case .withdraw: return .together(.withdraw(decision.number))
        }
    }

    private func decision(
        _ rank: Int, in space: SpaceRecord, of node: SimulatedNode
    ) throws -> Decision? {
        guard let roster = try node.roster(of: space) else { return nil }
        let all = try Overview.decisions(in: space.number, roster: roster, store: node.store)
        return all.isEmpty ? nil : all[all.count - 1 - rank % all.count]
    }

    private func closedPoll(
        _ rank: Int, in space: SpaceRecord, of node: SimulatedNode
    ) throws -> Poll? {
        let poll = try self.poll(rank, in: space, of: node)
        return poll?.closing == nil ? nil : poll
    }

    private func change(
        _ field: Together.Field, to value: UInt64, of item: ActionItem, in space: SpaceRecord,
        of node: SimulatedNode
    ) throws -> Command? {
        let change: ItemChange
        switch field {
        case .title: change = .title("task with the title \(value)")
        case .notes: change = .notes("a note about it \(value)")
        case .due: change = .due(value % 3 == 0 ? nil : UInt32(20_000 + value))
        case .done: change = .done(value % 3 > 0)
        case .assignee:
            guard let members = try node.roster(of: space)?.members, !members.isEmpty else {
                return nil
            }
            let person = members[Int(value) % members.count].person
            change = .assignee(person, value % 4 > 0)
        }
        return .together(.change(item.number, [change]))
    }

    private func item(
        _ rank: Int, in space: SpaceRecord, of node: SimulatedNode
    ) throws -> ActionItem? {
        guard let roster = try node.roster(of: space) else { return nil }
        let items = try Overview.items(in: space.number, roster: roster, store: node.store)
        return items.isEmpty ? nil : items[items.count - 1 - rank % items.count]
    }

    private func poll(
        _ rank: Int, in space: SpaceRecord, of node: SimulatedNode
    ) throws -> Poll? {
        guard let roster = try node.roster(of: space) else { return nil }
        let polls = try Overview.polls(in: space.number, roster: roster, store: node.store)
        return polls.isEmpty ? nil : polls[polls.count - 1 - rank % polls.count]
    }
}
