import Synchronization

@testable import Parley

/// A search that finds what holds the text as it is.
extension FakeNode {
    func search(_ request: SearchRequest) async throws -> SearchReply {
        let found = try await messages(conversation: "home", before: nil, limit: 200).messages
            .filter { $0.text?.contains(request.text) == true }
        return SearchReply(
            hits: found.map(hit), semantic: "unavailable",
            notes: ["Searched by words alone."], milliseconds: 1)
    }

    private func hit(_ message: MessageView) -> SearchHit {
        SearchHit(
            message: message, conversation: "home", reason: "word",
            pieces: [.init(text: message.text ?? "", isMatch: true)], cursor: "00")
    }

    func similar(message: MessageReference, limit: Int) async throws -> SearchReply {
        throw NodeError("no-model", "No model is installed.", hint: "parley model install")
    }

    func context(message: MessageReference, limit: Int) async throws -> ContextView {
        ContextView(
            message: Int64(message.text) ?? 0,
            page: try await messages(conversation: "home", before: nil, limit: limit), thread: [])
    }

    func searchStats() async throws -> SearchStats {
        let indexed = state.withLock { state in
            defer { state.indexedCount += 1 }
            return min(4, state.indexedCount)
        }
        return SearchStats(indexes: [
            .init(
                name: "words", state: "on", indexed: indexed, held: 4, byteCount: 4096,
                memoryByteCount: 0)
        ])
    }

    func checkSearch() async throws -> DoctorReport {
        DoctorReport(checks: [.init(name: "words", isFine: true, detail: "none is missing")])
    }

    func rebuildSearch() async throws { state.withLock { $0.indexedCount = 3 } }
    func setWordIndex(on: Bool) async throws {}
}
