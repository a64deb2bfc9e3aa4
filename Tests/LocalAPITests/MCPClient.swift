import Foundation
import Synchronization

@testable import Parley
@testable import ParleyLocalAPI

/// A client of the Model Context Protocol, beside a server that asks a fake node.
final class MCPClient: Sendable {
    let node = FakeNode()
    let server: MCPServer
    private let log = MCPLog()
    private let next = Mutex<Int64>(1_000)

    init(_ allowed: Set<MCPScope> = []) {
        server = MCPServer(
            node: node, allowing: allowed, version: "1", clean: { $0 },
            completeHint: { $0 }, write: { [log] in log.add($0) })
    }

    /// Everything that the server wrote.
    var said: [JSONTree] { log.trees }

    static let meta: JSONTree = [
        "_meta": [
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": .object([:]),
        ]
    ]

    /// Sends a line as it is.
    func send(_ text: String) async { await server.take(Array(text.utf8)) }

    /// Sends a request, and waits for what answers it.
    func ask(
        _ method: String, _ parameters: JSONTree = .object([:]), isModern: Bool = true
    ) async throws -> JSONTree {
        let id = next.withLock { next in
            next += 1
            return next
        }
        var members = parameters.members
        if isModern { members.merge(Self.meta.members) { own, _ in own } }
        let request: JSONTree = [
            "jsonrpc": "2.0", "id": .integer(id), "method": .text(method),
            "params": .object(members),
        ]
        await server.take(Array(try line(request).dropLast()))
        return try await eventually("an answer to \(method)") {
            said.first { $0["id"] == .integer(id) }
        }
    }

    /// The result of a call.
    func call(_ tool: String, _ arguments: JSONTree = .object([:])) async throws -> JSONTree {
        let answer = try await ask("tools/call", ["name": .text(tool), "arguments": arguments])
        return answer["result"] ?? answer
    }

    private func eventually<T>(_ what: String, _ look: () -> T?) async throws -> T {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            if let found = look() { return found }
            // The server answers by itself.
            try await Task.sleep(for: .milliseconds(2))
        }
        throw MCPSilence(what: what)
    }
}

struct MCPSilence: Error {
    var what: String
}

/// What was written, line by line.
private final class MCPLog: Sendable {
    private let lines = Mutex<[JSONTree]>([])

    var trees: [JSONTree] { lines.withLock { $0 } }

    func add(_ text: String) {
        precondition(!text.contains("\n"), "a message is one line")
        do {
            let tree = try JSONDecoder().decode(JSONTree.self, from: Data(text.utf8))
            lines.withLock { $0.append(tree) }
        } catch {
            preconditionFailure("it wrote what is no JSON: \(text)")
        }
    }
}
