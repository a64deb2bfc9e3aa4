internal import Foundation
internal import Parley
internal import ParleyTransport

/// A running node, asked over its local socket.
public final class NodeClient: Sendable {
    /// Parameters by their names.
    typealias Parameters = [String: any Encodable & Sendable]

    private struct Question: Encodable {
        let jsonrpc = "2.0"
        let id: RequestID
        let method: String
        let params: [String: AnyResult]
    }

    private struct Reply<Result: Decodable>: Decodable {
        var result: Result
    }

    private let transport: Transport
    private let link: ClientLink

    /// The node that runs in this home; nil where none does.
    public static func connect(home: String) async throws -> NodeClient? {
        let transport = Transport(threadCount: 1)
        let link = ClientLink()
        do {
            try await transport.dial(path: LocalAPI.socketPath(home: home), handler: link)
            return NodeClient(transport: transport, link: link)
        } catch {
            await transport.shutdown()
            switch error.code {
            case .refused, .noSuchFile, .notASocket, .pathTooLong: return nil
            case .timedOut, .unreachable, .unknownHost, .addressInUse, .addressNotAvailable,
                .notPermitted, .notDialable, .closedAtOnce, .shutDown, .system:
                throw NodeError(
                    "no-socket", "cannot reach the node that runs in \(home): \(error)")
            }
        }
    }

    private init(transport: Transport, link: ClientLink) {
        self.transport = transport
        self.link = link
    }

    /// Hangs up. Requests that wait for an answer fail.
    public func close() async {
        link.hangUp()
        await transport.shutdown()
    }

    /// Asks, and reads the answer as what the caller expects.
    func call<Result: Decodable>(
        _ method: String, _ parameters: Parameters = [:], as: Result.Type = Result.self
    ) async throws -> Result {
        let answer = try await link.ask { id in
            let question = Question(
                id: id, method: method, params: parameters.mapValues { AnyResult(value: $0) })
            let bytes = try line(question)
            guard bytes.count <= LocalAPI.lineByteCountMax else {
                throw NodeError("too-large", "this is more than the node takes at once")
            }
            return bytes
        }
        return try JSONDecoder().decode(Reply<Result>.self, from: Data(answer)).result
    }

    func follow() async throws -> AsyncStream<ChangeView> {
        let changes = link.changes()
        let _: Nothing = try await call("follow")
        return changes
    }
}
