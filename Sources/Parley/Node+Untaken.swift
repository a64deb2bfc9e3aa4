import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage

/// What this person began and nobody accepts is shown, and nobody changes it.
extension Node {
    /// Has something done about one of them, or about any other.
    func write(
        _ command: TogetherCommand, about number: OperationNumber?
    ) async throws -> CommandReply {
        do {
            return try await write(.together(command))
        } catch let error as NodeError where error.code.hasPrefix("unknown-") {
            // For whoever writes there is no such thing: it counts for nobody.
            let other = try await read { views in try number.flatMap { try views.notTaken($0) } }
            throw other ?? error
        }
    }
}

extension Views {
    /// That nobody takes what an operation of this person began; nil where that is not so.
    fileprivate func notTaken(_ number: OperationNumber) throws -> NodeError? {
        let what: String
        let command: String
        if let note = try note(number), note.waiting.contains(where: { $0.change == "note" }) {
            (what, command) = ("note", "parley note show \(number.rawValue)")
        } else if let decision = try decision(number), decision.state == "untaken" {
            (what, command) = ("decision", "parley decision show \(number.rawValue)")
        } else if let poll = try poll(number), poll.state == "untaken" {
            (what, command) = ("poll", "parley poll show \(number.rawValue)")
        } else if let item = try item(number),
            item.waiting.contains(where: {
                $0.change == "item" && Self.untakenStates.contains($0.state)
            })
        {
            (what, command) = ("action item", "parley action show \(number.rawValue)")
        } else {
            return nil
        }
        return NodeError(
            "not-taken",
            "Nobody accepts this \(what): whoever removed you or made you a reader did not have it.",
            hint: "It cannot be changed. `\(command)` shows its text: create another one with it "
                + "where you may write.")
    }
}
