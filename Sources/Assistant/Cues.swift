import ParleyWords

/// What the rules look for in one language: tables, and nothing else.
final class Cues: Sendable {
    /// Words that may give somebody something to do.
    struct ActionRule: Sendable {
        /// Who is to do it.
        enum Doer: String, Sendable {
            /// Who says so.
            case me
            /// Who is addressed.
            case you
            /// The person whose name stands there.
            case name
            /// The sentence does not say.
            case nobody
            /// Whoever hears it, as a question.
            case somebody

            /// Whether a question gives something to do.
            func isAsked(_ isAddressed: Bool) -> Bool {
                switch self {
                case .you, .somebody: true
                case .name: isAddressed
                case .me, .nobody: false
                }
            }
        }

        let doer: Doer
        /// Two are enough; one needs a day, a task or a name beside it.
        let weight: Int
    }

    let rules: [ActionRule]
    let actions: PhraseList
    /// Where one of these stands, nobody takes on anything.
    let notActions: PhraseList
    /// Words behind "I will" with which nobody takes on anything.
    let notTasks: Set<String>
    /// Words that name a task.
    let tasks: Set<String>
    /// Words at the beginning that say nothing.
    let fillers: Set<String>
    /// Words right before a rule's that make it say something else.
    let conditions: Set<String>
    let decisions: PhraseList
    let notDecisions: PhraseList
    /// What becomes a decision where somebody else agrees.
    let proposals: PhraseList
    /// How somebody agrees, at the beginning of a short message.
    let agreements: PhraseList
    /// Questions that ask nothing.
    let idleQuestions: PhraseList
    /// How somebody who asked says that it is settled.
    let settled: PhraseList
    let days: DayWords

    /// - Parameters:
    ///   - actions: lines of who, weight and phrase.
    ///   - lists: further lists by their names, each with a phrase or words in a line.
    init(actions: String, lists: [List: String], days: DayWords) {
        var (rules, phrases): ([ActionRule], [Phrase]) = ([], [])
        for line in actions.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, let doer = ActionRule.Doer(rawValue: String(parts[0])),
                let weight = Int(parts[1])
            else { preconditionFailure("a line of who, weight and phrase: \(line)") }
            rules.append(ActionRule(doer: doer, weight: weight))
            phrases.append(Phrase(String(parts[2])))
        }
        (self.rules, self.actions, self.days) = (rules, PhraseList(phrases), days)
        func list(_ list: List) -> PhraseList { PhraseList(lists[list] ?? "") }
        func words(_ list: List) -> Set<String> {
            Set((lists[list] ?? "").split(whereSeparator: \.isWhitespace).map(PhraseList.folded))
        }
        notActions = list(.notActions)
        notTasks = words(.notTasks)
        tasks = words(.tasks)
        fillers = words(.fillers)
        conditions = words(.conditions)
        decisions = list(.decisions)
        notDecisions = list(.notDecisions)
        proposals = list(.proposals)
        agreements = list(.agreements)
        idleQuestions = list(.idleQuestions)
        settled = list(.settled)
    }

    /// The names of the lists.
    enum List {
        case notActions, notTasks, tasks, fillers, conditions
        case decisions, notDecisions, proposals, agreements, idleQuestions, settled
    }

    /// The tables of a language; nil where there are none.
    static func of(_ language: Language) -> Cues? {
        switch language {
        case .english: english
        case .german: german
        case .spanish: spanish
        case .french, .portuguese, .italian, .dutch, .swedish, .russian: nil
        }
    }
}
