import Foundation
import Glibc
import Parley
import ParleyLocalAPI
import Testing

/// Stands at the socket of a running node, and signals a process as soon as that answers what has this
/// method: the node did it, and nobody was told. Usually the node is killed, of which it hears nothing.
final class CutLine: Sendable {
    private let path: String
    private let listener: Int32
    private let processID: Int32
    private let method: String
    private let signals: [Int32]
    private let passesOn: Bool

    /// - Parameter passesOn: whether the answer goes on to who asked, after the signals.
    init(
        home: String, processID: Int32, method: String, signals: [Int32] = [SIGKILL],
        passesOn: Bool = false
    ) throws {
        (self.signals, self.passesOn) = (signals, passesOn)
        path = LocalAPI.socketPath(home: home)
        self.processID = processID
        self.method = method
        guard rename(path, path + "1") == 0 else { throw Late(description: "no socket at \(path)") }
        listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard try Self.with(path, { bind(listener, $0, $1) }) == 0, listen(listener, 8) == 0 else {
            throw Late(description: "nobody can listen at \(path)")
        }
        Thread.detachNewThread { self.run() }
    }

    private static func with(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Late(description: "\(path) is too long")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Lets everybody reach the node again, which is still there.
    func giveWay() {
        rename(path + "1", path)
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func run() {
        defer { close(listener) }
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            // A chat asks on one connection, and hears on another.
            Thread.detachNewThread { self.serve(client) }
        }
    }

    private func serve(_ client: Int32) {
        let node = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { for descriptor in [client, node] { close(descriptor) } }
        // The path is as long as one that was bound above, and one letter.
        guard let connected = try? Self.with(path + "1", { connect(node, $0, $1) }), connected == 0
        else { return }
        pass(client, node)
    }

    /// Hands on what either says, until the node is killed or either hangs up.
    private func pass(_ client: Int32, _ node: Int32) {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var asked = ""
        while true {
            var ends = [client, node].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&ends, 2, -1) > 0 else { return }
            for (index, end) in ends.enumerated() where end.revents != 0 {
                let count = read(end.fd, &chunk, chunk.count)
                guard count > 0 else { return }
                if index == 1, asked.contains("\"method\":\"\(method)\"") {
                    if !passesOn { unlink(path) }
                    for number in signals { kill(processID, number) }
                    if !passesOn {
                        shutdown(listener, Int32(SHUT_RDWR))
                        return
                    }
                    asked = ""
                }
                if index == 0 { asked += String(decoding: chunk.prefix(count), as: UTF8.self) }
                _ = write(index == 0 ? node : client, chunk, count)
            }
        }
    }
}

@Suite("A node that is killed after it saved and before it answers", .timeLimit(.minutes(4)))
struct SaidOnceTests {
    /// A home with the group `log`, whose node runs and is cut off once it is asked for this.
    private func cut(
        _ method: String, _ folder: TemporaryFolder
    ) async throws -> (node: NodeProcess, line: CutLine) {
        let node = try await NodeProcess(
            home: folder.home("ann"), name: "ann", port: try FreePort.some())
        let client = try await node.start(isHidden: true)
        try await client.perform(CreateConversation(name: "log", members: []))
        try await client.perform(SendMessages(conversation: "log", texts: ["before"]))
        try await client.perform(KeepDraft(conversation: "log", text: "once"))
        let id = try #require(await node.processID)
        return (node, try CutLine(home: node.home, processID: id, method: method))
    }

    @Test(
        "has said a message once, and the command says so",
        arguments: [
            ["send", "log", "once"], ["reply", "log", "1", "once"], ["draft", "log", "--send"],
            ["send", "log", "once", "--file"],
        ])
    func once(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let (node, line) = try await cut("send", folder)
        var words = words
        if words.last == "--file" {
            let path = folder.path + "/list.txt"
            try Data("a tent".utf8).write(to: URL(filePath: path))
            words.append(path)
        }
        if words[0] == "reply" {
            let shown = try await node.client?.perform(ReadMessages(conversation: "log", limit: 1))
            words[2] = try #require(shown?.messages.first?.id)
        }
        let sent = try Program(words + ["--home", node.home])
        #expect(try await sent.ended() == 0, "\(sent.output)")
        #expect(sent.output.contains("once"), "\(sent.output)")
        withExtendedLifetime(line) {}
        try await node.kill()
        let client = try await node.start(isHidden: true)
        let page = try await client.perform(ReadMessages(conversation: "log", limit: 10))
        #expect(page.messages.compactMap(\.text) == ["before", "once"])
        #expect(await node.processID != nil)
        #expect(try await node.stop() == 0)
    }

    @Test("may have made a poll, and the command says that it may")
    func uncertain() async throws {
        let folder = try TemporaryFolder()
        let (node, line) = try await cut("askPoll", folder)
        let asked = try await node.run("poll", "new", "log", "when?", "now", "later")
        #expect(asked.status == 1, "\(asked.output)")
        #expect(asked.output.contains("before it answered"), "\(asked.output)")
        #expect(asked.output.contains("look before you repeat it"), "\(asked.output)")
        withExtendedLifetime(line) {}
        try await node.kill()
        #expect(try await node.run("poll", "list", "log").output.contains("when?"))
    }
}
