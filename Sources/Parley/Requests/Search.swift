import ParleyLedger
import ParleySearch
import ParleyStorage
import ParleyWire

/// Finds messages by their words and, if models are installed, by their meaning.
public struct SearchMessages: NodeRequest, Equatable {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "search", RequestScope.read,
        "Finds messages by their words and, if models are installed, by their meaning."
    )
    /// An example of the request.
    public static let example = SearchMessages("key from:ben -snow", isExplained: true)

    /// Which come first of those that have all words.
    public enum Order: String, Codable, Sendable, CaseIterable {
        /// The newest.
        case newest
        /// Those that say the rarest of the words most often in the fewest (BM25), of the newest
        /// 1,000.
        case relevance
    }
    /// Words, phrases and conditions: `key "at the farm" -snow from:ann in:hut after:7d`.
    public var text: String
    /// At most so many hits, 1 to 200.
    public var limit: Int
    /// Whether the last word may be the beginning of one.
    public var isTyping: Bool
    /// Whether the figures behind each hit are wanted.
    public var isExplained: Bool
    /// Which come first of those that have all words.
    public var order: Order

    /// A request with these parameters.
    public init(
        _ text: String, limit: Int = 20, isTyping: Bool = false, isExplained: Bool = false,
        order: Order = .newest
    ) {
        self.text = text
        self.limit = limit
        self.isTyping = isTyping
        self.isExplained = isExplained
        self.order = order
    }

    /// Reads a request; all but `text` and `limit` may be left out.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        text = try container.decode(String.self, forKey: .text)
        limit = try container.decode(Int.self, forKey: .limit)
        isTyping = try container.decodeIfPresent(Bool.self, forKey: .isTyping) ?? false
        isExplained = try container.decodeIfPresent(Bool.self, forKey: .isExplained) ?? false
        order = try container.decodeIfPresent(Order.self, forKey: .order) ?? .newest
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> SearchReply {
        var reply = try await node.explaining { try await node.desk.find(self) }
        reply.mayHaveMore = reply.hits.count >= limit
        return reply
    }
}

/// Messages that mean about the same as this one, the nearest first.
public struct FindSimilar: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "similar", RequestScope.read,
        "Messages with about the same meaning as this one, the nearest first."
    )
    /// An example of the request.
    public static let example = FindSimilar(message: 12, limit: 10)

    /// The message.
    public var message: MessageReference
    /// At most so many hits.
    public var limit: Int

    /// A request with these parameters.
    public init(message: MessageReference, limit: Int) {
        self.message = message
        self.limit = limit
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> SearchReply {
        let number = try await node.read { try $0.message(message) }
        return try await node.explaining {
            try await node.desk.similar(to: number.rawValue, limit: limit)
        }
    }
}

/// The page of the timeline around a message, and the thread that it belongs to.
public struct GetContext: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "context", RequestScope.read,
        "The page of the timeline around a message, and the thread that it belongs to."
    )
    /// An example of the request.
    public static let example = GetContext(message: 12, limit: 20)

    /// The message.
    public var message: MessageReference
    /// At most so many messages, 1 to 200.
    public var limit: Int

    /// A request with these parameters.
    public init(message: MessageReference, limit: Int) {
        self.message = message
        self.limit = limit
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ContextView {
        guard (1...200).contains(limit) else {
            throw NodeError("bad-limit", "A page holds from 1 to 200 messages.")
        }
        return try await node.read {
            try $0.context(of: $0.message(message).rawValue, limit: limit)
        }
    }
}

/// What is indexed, how far, and the cost.
public struct GetSearchStats: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "searchStats", RequestScope.read,
        "What is indexed, how far, and what it costs."
    )
    /// An example of the request.
    public static let example = GetSearchStats()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> SearchStats {
        let memory = await node.desk.memory
        let installed = node.indexer.shelf.folder.installed
        let damages = await node.damagedModels()
        let (state, held, byteCount) = try await node.read { views in
            (
                try views.store.wordIndexState(), views.store.operationCount,
                try views.store.wordIndexByteCount()
            )
        }
        var stats = SearchStats(indexes: [
            SearchStats.Index(
                name: "words", state: state.isOff ? "off" : "on",
                indexed: state.isOff || !state.isCurrent ? 0 : Int(state.through), held: held,
                byteCount: byteCount,
                memoryByteCount: memory.places)
        ])
        let models = try await node.read { try $0.store.models() }
        for package in ModelPackage.allCases {
            let model = models.first { $0.name.bytes == package.name }
            let rows = try await node.vectorCount(of: model)
            let damage = damages[package]
            let state = installed.contains(package) ? "on" : "no-model"
            stats.indexes.append(
                SearchStats.Index(
                    name: package.rawValue, state: damage == nil ? state : "damaged",
                    indexed: Int(model?.through ?? 0), held: held, rows: rows.count,
                    byteCount: rows.byteCount, memoryByteCount: memory.models[package] ?? 0,
                    damage: damage.map { "\($0)" }))
        }
        return stats
    }
}

/// Compares the indexes with the messages, removes vectors that belong to nothing, and has texts read again
/// of which no vector opens.
public struct CheckSearch: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "checkSearch", RequestScope.write,
        "Compares the indexes with the messages, and removes vectors that belong to nothing."
    )
    /// An example of the request.
    public static let example = CheckSearch()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> DoctorReport {
        let known = ModelPackage.allCases.map(\.name)
        return try await node.explaining {
            // If nothing may be written, findings are only returned.
            guard await node.running.bar == nil else {
                return DoctorReport(try await node.compareSearch(), removed: nil)
            }
            var removed = 0
            for model in try await node.read({ try $0.store.models() })
            where !known.contains(model.name.bytes) {
                removed += try await node.drop(model)
            }
            removed += try await node.dropStrangeVectors()
            let faults = try await node.compareSearch()
            try await node.readAgain(faults.unread)
            if removed + faults.unread.count > 0 { await node.desk.forget() }
            node.indexer.poke()
            return DoctorReport(faults, removed: removed)
        }
    }
}

/// Rebuilds the indexes; they fill in the background.
public struct RebuildSearch: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "rebuildSearch", RequestScope.admin,
        "Rebuilds the indexes; they fill in the background."
    )
    /// An example of the request.
    public static let example = RebuildSearch()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        try await node.explaining {
            try await node.running.transact { store throws(StoreError) in
                try store.resetWordIndex(isOff: try store.wordIndexState().isOff)
            }
            for model in try await node.read({ try $0.store.models() }) {
                _ = try await node.drop(model)
            }
            await node.desk.forget()
            // Also where it was opened for this alone: who asked may wait for it.
            await node.indexer.start()
            node.indexer.poke()
            return NoReply()
        }
    }
}

/// Turns the index of words on or off. Off, every hash of a word leaves the disk.
public struct SetWordIndex: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setWordIndex", RequestScope.admin,
        "Turns the word index on or off."
    )
    /// An example of the request.
    public static let example = SetWordIndex(on: false)

    /// Whether it is kept.
    public var on: Bool

    /// A request with these parameters.
    public init(on: Bool) {
        self.on = on
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let isOff = !on
        return try await node.explaining {
            try await node.running.transact { store throws(StoreError) in
                try store.resetWordIndex(isOff: isOff)
            }
            if isOff { try await node.running.write { store in _ = try store.checkpoint() } }
            node.indexer.poke()
            return NoReply()
        }
    }
}
