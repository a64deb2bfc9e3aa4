import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I14: the views are what an independent model makes of the same operations.
final class NaiveModelAgrees: Checker {
    static let invariant = "I14"
    private(set) var checkCount = 0

    func settled(_ world: World) throws {
        for node in world.honestNodes {
            for (space, _) in try node.eachSpace() where space.kind != .own {
                guard let roster = try RosterReader.roster(of: space, in: node.store) else {
                    continue
                }
                try look(at: space, roster, of: node)
            }
        }
    }

    private func look(
        at space: SpaceRecord, _ roster: Roster, of node: SimulatedNode
    ) throws {
        let model = try NaiveModel(of: space, roster: roster, in: node.store)
        let timeline = Timeline(of: space, roster: roster, ownPerson: node.identity.person)
        let shown = try timeline.page(limit: .max, in: node.store).reversed().map(Self.line)
        checkCount += 1 + shown.count
        if shown.count != model.lines.count {
            throw violation(
                "\(node.name) shows \(shown.count) messages, the model \(model.lines.count)")
        }
        if let differing = zip(shown, model.lines).first(where: { $0 != $1 }) {
            throw violation("\(node.name) shows \(differing.0), the model \(differing.1)")
        }
        let name = try Overview.name(of: space.number, in: node.store)
        guard name == model.name else {
            throw violation(
                "\(node.name) calls it \(name ?? "nothing"), the model \(model.name ?? "nothing")")
        }
        guard try marks(in: space, of: node) == model.progress else {
            throw violation("\(node.name) has other receipts than the model")
        }
    }

    private static func line(_ message: Message) -> NaiveModel.Line {
        NaiveModel.Line(
            order: message.order, author: message.author,
            versions: message.history + (message.text.map { [$0] } ?? []),
            reactions: message.reactions.map { reaction in
                let persons = reaction.persons.map(\.description).joined(separator: " ")
                return reaction.emoji + " " + persons
            }, isDeleted: message.flags.contains(.deleted))
    }

    private func marks(
        in space: SpaceRecord, of node: SimulatedNode
    ) throws(StoreError) -> [NaiveModel.Progress: UInt64] {
        var marks: [NaiveModel.Progress: UInt64] = [:]
        for kind in [MarkKind.read, .delivered] {
            for mark in try node.store.marks(kind, in: space.number) {
                let key = NaiveModel.Progress(
                    isRead: kind == .read, actor: mark.actor, tag: mark.tag)
                marks[key] = mark.sequence
            }
        }
        return marks
    }
}
