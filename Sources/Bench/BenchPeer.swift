import Foundation
import Glibc
import Parley

/// The other process, as this one sees it: lines in, lines out.
final class BenchPeer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var buffer: [UInt8] = []

    init(program: String, home: String) throws {
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["bench-peer", home]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func say(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Array((line + "\n").utf8))
    }

    /// The next line; empty at the end.
    func hear() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { return "" }
            buffer += more
        }
    }

    var processID: Int32 { process.processIdentifier }

    /// Ends it in the midst of whatever it does.
    func kill() {
        Glibc.kill(processID, SIGKILL)
        process.waitUntilExit()
    }

    func end() {
        // Closing its input is how it is told to go; a peer that is gone needs no telling.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

/// What the other process does: answers the lines of a ``BenchPeer``.
public enum BenchPeerProgram {
    /// Runs until its input ends, and then no longer, whatever it was told to wait for: who told it
    /// is gone.
    public static func run(home: String) async throws {
        let settings = NodeSettings(home: home)
        let node: Node
        if Node.exists(at: home) {
            node = try await Node.open(settings)
        } else {
            (node, _) = try await Node.create(settings, name: "there")
        }
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        let work = Task { try await obey(lines, node) }
        // A thread of its own, for reading blocks.
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
            work.cancel()
        }
        let result = await work.result
        await node.shutdown()
        if case .failure(let error) = result, !(error is CancellationError) { throw error }
    }

    private static func obey(_ lines: AsyncStream<String>, _ node: Node) async throws {
        for await line in lines {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "accept" where words.count == 2: try await accept(words[1], node)
            case "group" where words.count == 2: try await waitForGroup(words[1], node)
            case "echo" where words.count == 2: try await echo(Int(words[1]) ?? 0, node)
            case "catchup" where words.count == 3:
                try await catchUp(words[1], count: Int(words[2]) ?? 0, node)
            case "fill" where words.count == 3:
                try await fill(words[2], count: Int(words[1]) ?? 0, node)
            case "get" where words.count >= 2: try await get(words, node)
            case "save" where words.count == 2: try await save(words[1], node)
            case "watch": try await watch(node)
            case "held" where words.count == 2: try await awaitFiles(Int(words[1]) ?? 0, node)
            case "resume" where words.count == 2: try await resume(words[1], node)
            case "digest" where words.count == 2:
                let digests = try await node.perform(ListDigests())
                answer(digests.first { $0.conversation == words[1] }?.digest ?? "none")
            default: throw NodeError("bench", "Unknown line: \(line)")
            }
        }
    }

    static func answer(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static func until(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(1)) }
    }

    private static func accept(_ link: String, _ node: Node) async throws {
        try await node.start(listen: ["127.0.0.1:0"])
        try await node.perform(AcceptInvite(link: link))
        try await node.perform(SetAdditionPolicy(policy: .contacts))
        try await until {
            try await node.perform(ListConversations()).contains { $0.name == "here" }
        }
        answer("ready")
    }

    private static func waitForGroup(_ id: String, _ node: Node) async throws {
        try await until { try await node.perform(ListConversations()).contains { $0.id == id } }
        answer("group")
    }

    private static func echo(_ count: Int, _ node: Node) async throws {
        let changes = try await node.changes()
        answer("echoing")
        var seen = 0
        for await change in changes where change.message?.text?.hasPrefix("ping") == true {
            answer("shown \(seconds())")
            seen += 1
            if seen == count { return }
        }
    }

    private static func fill(_ id: String, count: Int, _ node: Node) async throws {
        var words = WordStream()
        for start in stride(from: 0, to: count, by: 100) {
            try Task.checkCancellation()
            let texts = (0..<min(100, count - start)).map { _ in words.text(120) }
            try await node.perform(SendMessages(conversation: id, texts: texts))
        }
        answer("filled")
    }

    private static func catchUp(_ id: String, count: Int, _ node: Node) async throws {
        let before = try await node.perform(GetStatus()).operationCount
        let known =
            try await node.perform(ListDigests()).first { $0.conversation == id }?.operationCount
            ?? 0
        let start = seconds()
        try await node.start(listen: ["127.0.0.1:0"])
        var first50: Double?
        while true {
            if first50 == nil {
                let page = try await node.perform(ReadMessages(conversation: id, limit: 50))
                if page.messages.count == 50 { first50 = seconds() - start }
            }
            let held = try await node.perform(GetStatus()).operationCount
            if held - before >= count - known { break }
            try await Task.sleep(for: .milliseconds(2))
        }
        let whole = seconds() - start
        let bytes = try await node.perform(GetStatus()).receivedByteCount
        answer("caught \(first50 ?? whole) \(whole) \(bytes)")
    }
}
