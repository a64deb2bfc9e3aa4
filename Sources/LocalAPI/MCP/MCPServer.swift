internal import Foundation
public import Parley

/// Speaks with one client, line by line: which requests are being answered, which were cancelled, and what
/// was agreed on at the beginning.
public actor MCPServer {
    private let desk: MCPDesk
    private let write: @Sendable (String) -> Void
    /// The version of a handshake, once there was one.
    private var version: String?
    /// Calls that are being answered, each with its turn: an identifier may come again once it is free.
    /// A stream has no task: it is open until it is cancelled.
    private var calls: [RequestID: (turn: Int, task: Task<Void, Never>?)] = [:]
    private var turn = 0
    /// When the newest messages were sent.
    private var sent: [ContinuousClock.Instant] = []

    /// A server that has a node answer.
    ///
    /// - Parameters:
    ///   - node: asked whatever a client calls.
    ///   - allowed: what a client may do beyond reading.
    ///   - version: of the program.
    ///   - clean: makes the texts of others harmless to look at.
    ///   - completeHint: adds to advised commands which home they are about.
    ///   - write: takes a line, without its end.
    public init(
        node: any NodeService, allowing allowed: Set<MCPScope>, version: String,
        clean: @escaping @Sendable (String) -> String = { $0 },
        completeHint: @escaping @Sendable (String) -> String = { $0 },
        write: @escaping @Sendable (String) -> Void
    ) {
        desk = MCPDesk(
            node: node, allowed: allowed, version: version, clean: clean,
            completeHint: completeHint)
        self.write = write
    }

    /// Takes a line; nil for one that was too long.
    public func take(_ bytes: [UInt8]?) {
        guard let bytes else { return fail(.none, .tooLong) }
        // Nothing is no message, and no mistake either.
        guard bytes.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) else { return }
        do throws(MCPRefusal) {
            guard let message = try MCPMessage(bytes) else { return }
            guard let id = message.id else { return heed(message) }
            try take(message, id)
        } catch {
            fail(error.id, error.failure)
        }
    }

    /// Waits until what was asked before the input ended is answered: a client may end it right after its last
    /// request. What takes too long is told to have failed.
    public func end(within patience: Duration = .seconds(30)) async {
        let deadline = ContinuousClock.now + patience
        while calls.values.contains(where: { $0.task != nil }), ContinuousClock.now < deadline {
            // Cancelled, it looks at once.
            try? await Task.sleep(for: .milliseconds(5))
        }
        for (id, call) in calls.sorted(by: { $0.value.turn < $1.value.turn }) {
            guard let task = call.task else { continue }
            task.cancel()
            fail(
                id,
                MCPFailure(
                    code: -32603, message: "The input ended, and this took too long to wait for."))
        }
        calls = [:]
    }

    // MARK: Requests

    private func take(_ message: MCPMessage, _ id: RequestID) throws(MCPRefusal) {
        guard calls[id] == nil else {
            throw MCPRefusal(id: id, failure: .invalid("This “id” is in use."))
        }
        do throws(MCPFailure) {
            if message.method == "initialize", message.meta("protocolVersion") == nil {
                let (greeting, version) = try desk.greeting(message)
                self.version = version
                return answer(id, greeting)
            }
            let era = try era(of: message)
            guard calls.count < MCP.callCountMax else { throw .tooMany }
            if isTooMuch(message) {
                return answer(
                    id,
                    MCPDesk.mistake(
                        "At most \(MCP.sentCountMax) messages are sent in a minute. Wait, then ask the "
                            + "person."))
            }
            if message.method == "subscriptions/listen", era == .modern {
                return listen(id)
            }
            begin(message, id, era)
        } catch {
            throw MCPRefusal(id: id, failure: error)
        }
    }

    /// How the client speaks in this request.
    private func era(of message: MCPMessage) throws(MCPFailure) -> MCPEra {
        if let told = message.meta("protocolVersion") {
            guard case .text(let told) = told else {
                throw .parameters("The protocol version of a request is a text.")
            }
            guard MCP.modernVersions.contains(told) else { throw .unsupported(told) }
            guard case .object = message.meta("clientCapabilities") else {
                throw .parameters("A request tells the capabilities of its client in “_meta”.")
            }
            return .modern
        }
        if let version { return .handshake(version) }
        if message.method == "ping" { return .handshake(MCP.handshakeVersions[0]) }
        throw .parameters(
            "A request tells its protocol version in “_meta” (\(MCP.modernVersions[0])), or comes after "
                + "“initialize” (\(MCP.handshakeVersions.joined(separator: ", "))).")
    }

    private func begin(_ message: MCPMessage, _ id: RequestID, _ era: MCPEra) {
        turn += 1
        let (turn, desk) = (turn, desk)
        let task = Task {
            let result: Result<JSONTree, MCPFailure>
            do {
                result = .success(try await desk.answer(message, era))
            } catch let failure as MCPFailure {
                result = .failure(failure)
            } catch {
                // Its description might hold what must not leave the node.
                result = .failure(
                    MCPFailure(code: -32603, message: "The node failed (\(type(of: error)))."))
            }
            self.finish(id, turn, result)
        }
        calls[id] = (turn, task)
    }

    /// Writes an answer, unless the call was cancelled.
    private func finish(_ id: RequestID, _ turn: Int, _ result: Result<JSONTree, MCPFailure>) {
        guard calls[id]?.turn == turn else { return }
        calls[id] = nil
        switch result {
        case .success(let tree): answer(id, tree)
        case .failure(let failure): fail(id, failure)
        }
    }

    /// Nothing here tells of changes: a stream is opened, says so, and ends when it is cancelled.
    private func listen(_ id: RequestID) {
        turn += 1
        calls[id] = (turn, nil)
        put([
            "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": [
                "_meta": .object(["io.modelcontextprotocol/subscriptionId": id.tree]),
                "notifications": .object([:]),
            ],
        ])
    }

    /// Whether a call would send more than may be sent in a minute.
    private func isTooMuch(_ message: MCPMessage) -> Bool {
        guard message.method == "tools/call", message.parameters["name"] == "send",
            desk.allowed.contains(.send)
        else { return false }
        let now = ContinuousClock.now
        sent.removeAll { $0.duration(to: now) > .seconds(60) }
        let count = max(1, message.parameters["arguments"]?["texts"]?.elements.count ?? 1)
        guard sent.count + count <= MCP.sentCountMax else { return true }
        sent += Array(repeating: now, count: count)
        return false
    }

    // MARK: Notifications

    private func heed(_ message: MCPMessage) {
        guard message.method == "notifications/cancelled" else { return }
        let id: RequestID
        switch message.parameters["requestId"] {
        case .integer(let number): id = .number(number)
        case .text(let text): id = .text(text)
        default: return
        }
        calls.removeValue(forKey: id)?.task?.cancel()
    }

    // MARK: Answers

    private func answer(_ id: RequestID, _ result: JSONTree) {
        put(["jsonrpc": "2.0", "id": id.tree, "result": result])
    }

    private func fail(_ id: RequestID, _ failure: MCPFailure) {
        put(["jsonrpc": "2.0", "id": id.tree, "error": failure.tree])
    }

    private func put(_ tree: JSONTree) {
        do {
            write(String(decoding: try line(tree).dropLast(), as: UTF8.self))
        } catch {
            // Texts and whole numbers can always be written; a client that gets no answer stops waiting.
        }
    }
}
