public import Parley

/// The part of `NodeService` that is about searching.
extension NodeClient {
    /// See `SearchService.search(_:)`.
    public func search(_ request: SearchRequest) async throws -> SearchReply {
        try await call(
            "search",
            [
                "text": request.text, "limit": request.limit, "isTyping": request.isTyping,
                "isExplained": request.isExplained, "order": request.order,
            ])
    }

    /// See `SearchService.similar(message:limit:)`.
    public func similar(message: MessageReference, limit: Int) async throws -> SearchReply {
        try await call("similar", ["message": message, "limit": limit])
    }

    /// See `SearchService.context(message:limit:)`.
    public func context(message: MessageReference, limit: Int) async throws -> ContextView {
        try await call("context", ["message": message, "limit": limit])
    }

    /// See `SearchService.searchStats()`.
    public func searchStats() async throws -> SearchStats { try await call("searchStats") }

    /// See `SearchService.checkSearch()`.
    public func checkSearch() async throws -> DoctorReport { try await call("checkSearch") }

    /// See `SearchService.rebuildSearch()`.
    public func rebuildSearch() async throws {
        let _: Nothing = try await call("rebuildSearch")
    }

    /// See `SearchService.setWordIndex(on:)`.
    public func setWordIndex(on: Bool) async throws {
        let _: Nothing = try await call("setWordIndex", ["on": on])
    }
}
