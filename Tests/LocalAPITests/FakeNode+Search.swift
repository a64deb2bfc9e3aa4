@testable import Parley

extension FakeNode {
    /// A search that finds what holds the text as it is.
    func answerSearch() {
        answer(SearchMessages.self) { state, request in
            let found = try state.page("home", before: nil, limit: 200).messages
                .filter { $0.text?.contains(request.text) == true }
            return SearchReply(
                hits: found.map(Self.hit), semantic: "unavailable",
                notes: ["Searched by words alone."], milliseconds: 1)
        }
        answer(AskQuestion.self) { state, request in
            let found = try state.page("home", before: nil, limit: 200).messages
                .filter { $0.text?.contains(request.question) == true }
            return AnswersView(
                passages: found.map(Self.hit).prefix(request.limit).map(PassageView.init),
                semantic: "unavailable", notes: ["Searched by words alone."], milliseconds: 1)
        }
        answer(FindSimilar.self) { _, _ in
            throw NodeError("no-model", "No model is installed.", hint: "parley model install")
        }
        answer(GetContext.self) { state, request in
            ContextView(
                message: Int64(request.message.text) ?? 0,
                page: try state.page("home", before: nil, limit: request.limit), thread: [])
        }
        answer(GetSearchStats.self) { state, _ in
            let indexed = min(4, state.indexedCount)
            state.indexedCount += 1
            return SearchStats(indexes: [
                .init(
                    name: "words", state: "on", indexed: indexed, held: 4, byteCount: 4096,
                    memoryByteCount: 0)
            ])
        }
        answer(CheckSearch.self) { _, _ in
            DoctorReport(checks: [.init(name: "words", isFine: true, detail: "none is missing")])
        }
        answer(RebuildSearch.self) { state, _ in
            state.indexedCount = 3
            return NoReply()
        }
        answer(SetWordIndex.self) { _, _ in NoReply() }
    }

    private static func hit(_ message: MessageView) -> SearchHit {
        SearchHit(
            message: message, conversation: "home", reason: "word",
            pieces: [.init(text: message.text ?? "", isMatch: true)], cursor: "00")
    }
}
