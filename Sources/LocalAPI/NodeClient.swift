internal import Foundation
public import Parley
internal import ParleyTransport

/// A running node, asked over its local socket.
public final class NodeClient: NodeService {
    private struct Question<Parameters: Encodable>: Encodable {
        let jsonrpc = "2.0"
        let id: RequestID
        let method: String
        let params: Parameters
    }

    private struct Reply<Result: Decodable>: Decodable {
        var result: Result
    }

    private let home: String
    private let transport: Transport
    private let link: ClientLink

    /// The node that runs in this home; nil where none does.
    public static func connect(home: String) async throws -> NodeClient? {
        let transport = Transport(threadCount: 1)
        let link = ClientLink()
        do {
            try await transport.dial(path: LocalAPI.socketPath(home: home), handler: link)
            return NodeClient(home: home, transport: transport, link: link)
        } catch {
            await transport.shutdown()
            switch error.code {
            case .refused, .noSuchFile, .notASocket, .pathTooLong: return nil
            // Another user's socket, as in a copied home: nothing tells whether anybody listens.
            // Opening the home reports whose it is, and that it is in use.
            case .notPermitted: return nil
            case .timedOut, .unreachable, .unknownHost, .addressInUse, .addressNotAvailable,
                .notDialable, .closedAtOnce, .shutDown, .system:
                throw NodeError(
                    "no-socket", "Cannot reach the running node in \(home): \(error).")
            }
        }
    }

    private init(home: String, transport: Transport, link: ClientLink) {
        self.home = home
        self.transport = transport
        self.link = link
    }

    /// Hangs up. Requests that wait for an answer fail.
    public func close() async {
        link.hangUp()
        await transport.shutdown()
    }

    /// Asks, and reads the answer as what the caller expects.
    private func ask<Result: Decodable>(
        _ method: String, _ parameters: some Encodable, on link: ClientLink
    ) async throws -> Result {
        let answer = try await link.ask { id in
            let bytes = try line(Question(id: id, method: method, params: parameters))
            guard bytes.count <= LocalAPI.lineByteCountMax else {
                throw NodeError("too-large", "This is more than the node accepts at once.")
            }
            return bytes
        }
        do {
            return try JSONDecoder().decode(Reply<Result>.self, from: Data(answer)).result
        } catch is DecodingError {
            throw NodeError.otherVersion
        }
    }

    /// Has the running node answer a request.
    ///
    /// - Throws: the ``NodeError`` that the node threw.
    @discardableResult
    public func perform<R: NodeRequest>(_ request: R) async throws -> R.Reply {
        try await ask(R.name, request, on: link)
    }

    /// Changes after a cursor, until the node stops; see `NodeService`. They come on a connection of
    /// their own: reading it may be paused, and nothing else waits for that.
    public func changes(
        after cursor: String?, seat: String?
    ) async throws -> AsyncStream<ChangeView> {
        let follower = ClientLink()
        do {
            try await transport.dial(path: LocalAPI.socketPath(home: home), handler: follower)
        } catch {
            throw ClientLink.lost
        }
        do {
            let _: FollowAnswer = try await ask(
                "follow", FollowParameters(after: cursor, seat: seat), on: follower)
        } catch {
            follower.hangUp()
            throw error
        }
        let taker = ChangeTaker(follower)
        return AsyncStream {
            await taker.next()
        } onCancel: {
            taker.end()
        }
    }
}

extension NodeError {
    /// A program was replaced by a newer one while the node of the older one runs on: what either asks
    /// and answers, the other may not know.
    static let otherVersion = NodeError(
        "other-version",
        "The running node is another version of Parley and does not know this request.",
        hint: "Stop that node and start it again with `parley run`.")
}
