internal import Foundation
public import Parley

/// Answers requests in JSON-RPC 2.0 that came as bytes in one piece: a single one, or a batch.
///
/// The methods are those of the socket, as are the errors. Requests of a batch are answered one after
/// the other, in their order. `follow` is not here: who cannot be told lines reads events otherwise.
public struct RequestDesk: Sendable {
    /// The reply.
    public struct Reply: Equatable, Sendable {
        /// The answer, a line; nil where none was asked for.
        public var bytes: [UInt8]?
        /// Whether it is that a single request was not allowed.
        public var isForbidden = false
        /// Whether it is that the bytes are no JSON.
        public var isMalformed = false
    }

    private let node: any NodeService
    private let completeHint: @Sendable (String) -> String

    /// A desk that asks this node.
    ///
    /// - Parameter completeHint: adds to advised commands which home they are about.
    public init(
        node: any NodeService, completeHint: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.node = node
        self.completeHint = completeHint
    }

    /// Answers what these bytes ask, as far as the token allows it.
    ///
    /// - Parameter bytes: at most ``LocalAPI/lineByteCountMax``.
    public func answer(_ bytes: [UInt8], holding grant: TokenGrant) async -> Reply {
        let isBatch = bytes.first { !Self.blanks.contains($0) } == UInt8(ascii: "[")
        if isBatch { return await answerBatch(bytes, grant) }
        do {
            let answer = await answer(to: try Request(bytes: bytes), grant)
            return Reply(
                bytes: answer.map(Self.bytes),
                isForbidden: answer?.error?.data.code == NodeError.forbiddenCode)
        } catch {
            return Reply(
                bytes: Self.bytes(Answer(id: .none, error: error)), isMalformed: error == .parse)
        }
    }

    /// A page of changes that the holder of the token may see.
    public func changes(
        after cursor: String?, limit: Int, holding grant: TokenGrant
    ) async throws -> ChangePage {
        var page = try await node.perform(ReadChanges(after: cursor, limit: limit))
        page.changes.removeAll { !grant.allows($0) }
        return page
    }

    /// Space, tab, line feed, carriage return. Source: RFC 8259, section 2.
    private static let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]

    private func answerBatch(_ bytes: [UInt8], _ grant: TokenGrant) async -> Reply {
        let batch: Batch
        do {
            batch = try JSONDecoder().decode(Batch.self, from: Data(bytes))
        } catch {
            let failure = Failure(decoding: error)
            return Reply(
                bytes: Self.bytes(Answer(id: .none, error: failure)),
                isMalformed: failure == .parse)
        }
        var parts: [[UInt8]] = []
        var byteCount = 0
        for request in batch.requests {
            var answer: Answer?
            switch request {
            case .failure(let failure): answer = Answer(id: .none, error: failure)
            // The answers so far fill an answer: the rest is not even begun.
            case .success(let request) where byteCount > LocalAPI.lineByteCountMax:
                answer = Answer(id: request.id ?? .none, error: .answerTooLarge)
            case .success(let request): answer = await self.answer(to: request, grant)
            }
            guard let answer else { continue }
            parts.append(Self.bytes(answer).dropLast())
            byteCount += parts.last?.count ?? 0
        }
        guard !parts.isEmpty else { return Reply(bytes: nil) }
        return Reply(
            bytes: Array("[".utf8) + parts.joined(separator: Array(",".utf8)) + [0x5D, 0x0A])
    }

    /// The answer to a request; nil where none is wanted.
    private func answer(to request: Request, _ grant: TokenGrant) async -> Answer? {
        let id = request.id ?? .none
        do {
            let method = try Method.named(request.method)
            let result = try await method.answer(request.arguments, from: node, holding: grant)
            return request.id == nil ? nil : Answer(id: id, result: AnyResult(value: result))
        } catch {
            var failure = Failure(error)
            failure.data.hint = failure.data.hint.map(completeHint)
            return Answer(id: id, error: failure)
        }
    }

    private static func bytes(_ answer: Answer) -> [UInt8] {
        do {
            let bytes = try line(answer)
            guard bytes.count > LocalAPI.lineByteCountMax else { return bytes }
            return try line(Answer(id: answer.id, error: .answerTooLarge))
        } catch {
            // Encoding numbers and texts cannot fail.
            return []
        }
    }
}

/// Requests in a batch. An invalid one gets its own error, and the others are answered.
private struct Batch: Decodable {
    var requests: [Result<Request, Failure>] = []

    private struct Element: Decodable {
        var request: Result<Request, Failure>

        init(from decoder: any Decoder) throws {
            do {
                request = .success(try Request(from: decoder))
            } catch {
                request = .failure(Failure(decoding: error))
            }
        }
    }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        guard let count = container.count, (1...LocalAPI.batchRequestCountMax).contains(count)
        else { throw Failure.tooManyRequests }
        while !container.isAtEnd {
            requests.append(try container.decode(Element.self).request)
        }
    }
}
