import Foundation
import Parley
import Synchronization
import Testing

/// A program on a terminal of its own: what it draws is read, keys are typed.
private final class TerminalProgram: Sendable {
    private let leader: FileHandle
    private let process: Process
    private struct State {
        var screen = ""
        var watchers: [AsyncStream<Void>.Continuation] = []
    }
    private let state = Mutex(State())

    init(_ arguments: [String]) throws {
        var (first, second): (Int32, Int32) = (0, 0)
        var size = winsize(ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&first, &second, nil, nil, &size) == 0 else {
            throw Late(description: "there is no terminal to be had")
        }
        _ = fcntl(first, F_SETFD, FD_CLOEXEC)
        leader = FileHandle(fileDescriptor: first, closeOnDealloc: true)
        let reading = first
        let follower = FileHandle(fileDescriptor: second, closeOnDealloc: true)
        process = Process()
        process.executableURL = URL(fileURLWithPath: Program.path)
        process.arguments = arguments
        process.standardInput = follower
        process.standardOutput = follower
        process.standardError = follower
        try process.run()
        try follower.close()
        Thread.detachNewThread { [weak self] in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(reading, &chunk, chunk.count)
                guard count > 0, let self else { break }
                let text = String(decoding: chunk.prefix(count), as: UTF8.self)
                let watchers = self.state.withLock { state in
                    state.screen += text
                    return state.watchers
                }
                for watcher in watchers { watcher.yield() }
            }
        }
    }

    /// Types keys.
    func type(_ text: String) throws { try leader.write(contentsOf: Data(text.utf8)) }

    /// Waits until it has drawn this since it was last asked; returns all that it drew.
    @discardableResult
    func shows(_ text: String) async throws -> String {
        // A stream serves one wait: the end of that ends it.
        let (beats, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.watchers = [continuation] }
        try await eventually("“\(text)” on the terminal", after: [beats]) {
            state.withLock { $0.screen.contains(text) }
        }
        return state.withLock { state in
            defer { state.screen = "" }
            return state.screen
        }
    }

    /// Ends it, however far it is.
    func end() { process.terminate() }
}

@Suite("A search on a terminal", .timeLimit(.minutes(10)))
struct TypedSearchTests {
    @Test("finds while one types, and leads to where a message stands, and to its thread")
    func typing() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("ann")
        let (node, _) = try await Node.create(
            NodeSettings(home: home, models: folder.home("none")), name: "ann")
        let group = try await node.newConversation(name: "hut", members: [])
        let sent = try await node.send(
            conversation: group.id,
            texts: ["the databases are full", "what about 京都?", "nothing"], replyTo: nil)
        _ = try await node.send(
            conversation: group.id, texts: ["then we empty them"],
            replyTo: MessageReference(sent[0].number))
        await node.shutdown()

        let program = try TerminalProgram(["search", "--home", home])
        defer { program.end() }
        try await program.shows("search: ")
        try program.type("datab")
        let found = try await program.shows("1 found")
        #expect(found.contains("the «databases» are full"))
        // A condition that is half typed is no error.
        try program.type("x\u{7F} from:")
        try await program.shows("from:")
        try program.type("\u{15}京都")
        #expect(try await program.shows("1 found").contains("«京都»"))
        try program.type("\u{15}empty")
        try await program.shows("«empty»")
        try program.type("\r")
        let context = try await program.shows("on from here: parley read")
        #expect(context.contains("nothing"))
        #expect(context.contains("thread"))
        #expect(context.contains("the databases are full"))
    }
}
