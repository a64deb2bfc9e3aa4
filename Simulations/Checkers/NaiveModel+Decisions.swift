import ParleyConversation
import ParleyLedger
import ParleyPayloads
import ParleyRoster
import ParleyWire

extension NaiveModel {
    /// Decisions as Protocol/03-operations.md, "Decisions", has them: each in a line that says all of it.
    mutating func foldDecisions(_ acts: [Act], _ authors: [LogTag: PersonID], isGroup: Bool) {
        let shared = acts.filter { $0.lane == .shared && $0.author.role >= .member }
        func maySettle(_ act: Act) -> Bool {
            guard let target = act.target, let begun = authors[target.tag] else { return false }
            return begun == act.author.person || (isGroup && act.author.role >= .admin)
        }
        let withdrawn = Set(shared.filter { $0.kind == 99 && maySettle($0) }.compactMap(\.changed))
        for act in shared where act.kind == 102 {
            if withdrawn.contains(act.named) {
                erased.append(act.place)
                continue
            }
            guard act.hasBody, let decision = Payload.decode(PayloadDecision.self, act.payload),
                !decision.title.isEmpty
            else { continue }
            let said = shared.filter { $0.changed == act.named && $0.hasBody }
            var approvers: Set<PersonID> = []
            for approval in said where approval.kind == 103 {
                guard let word = Payload.decode(PayloadApproval.self, approval.payload) else {
                    continue
                }
                let person = approval.author.person
                if word.on { approvers.insert(person) } else { approvers.remove(person) }
            }
            let last = said.last { $0.kind == 104 && maySettle($0) && Self.state(of: $0) != nil }
            decisions.append(
                "\(act.place.tag)-\(act.place.sequence) \(act.author.person) \(decision.title) "
                    + "\(decision.text) \(decision.tags) \(last.flatMap(Self.state) ?? "1") "
                    + "\(last?.author.person.description ?? "nobody") "
                    + approvers.sorted().map(\.description).joined(separator: " "))
        }
        decisions = Array(decisions.suffix(1024))
    }

    /// How a decision stands by this word, and which takes its place; nil where that breaks a rule.
    private static func state(of act: Act) -> String? {
        let references = act.operation.operation.header.references
        guard let said = Payload.decode(PayloadSettling.self, act.payload) else { return nil }
        if said.state == 4, references.count == 2 {
            let (one, other) = (references[0], references[1])
            let isItself = one.tag == other.tag && one.sequence == other.sequence
            return isItself ? nil : "4 \(other.tag)-\(other.sequence)-\(other.check)"
        }
        return (1...3).contains(said.state) && references.count == 1 ? "\(said.state)" : nil
    }
}

extension Decision {
    /// The same line of what is shown.
    var naiveLine: String {
        let by = settling.successor.map { " \($0.tag)-\($0.sequence)-\($0.check)" } ?? ""
        return "\(reference.tag)-\(reference.sequence) \(author) \(proposal.title) "
            + "\(proposal.text) \(proposal.tags) \(settling.state.rawValue)\(by) "
            + "\(settledBy?.description ?? "nobody") "
            + approvers.map(\.description).joined(separator: " ")
    }
}
