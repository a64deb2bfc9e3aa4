internal import Parley

extension Route {
    /// What can be asked about searching.
    static let aboutSearch: [Route] = [
        Route("search", ["text", "limit", "isTyping?", "isExplained?", "order?"]) { node, a in
            try await node.search(
                SearchRequest(
                    a("text"), limit: a("limit"), isTyping: a.optional("isTyping") ?? false,
                    isExplained: a.optional("isExplained") ?? false,
                    order: a.optional("order") ?? .newest))
        },
        Route("similar", ["message", "limit"]) { node, a in
            try await node.similar(message: a("message"), limit: a("limit"))
        },
        Route("context", ["message", "limit"]) { node, a in
            try await node.context(message: a("message"), limit: a("limit"))
        },
        Route("searchStats") { node, _ in try await node.searchStats() },
        Route("checkSearch") { node, _ in try await node.checkSearch() },
        Route("rebuildSearch") { node, _ in
            try await node.rebuildSearch()
            return Nothing()
        },
        Route("setWordIndex", ["on"]) { node, a in
            try await node.setWordIndex(on: a("on"))
            return Nothing()
        },
    ]
}
