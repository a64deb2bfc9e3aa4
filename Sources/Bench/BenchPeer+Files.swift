import Foundation
import Parley

/// What the other process does with files.
extension BenchPeerProgram {
    /// Fetches the files of a message; where a count of bytes is given, it tells when so many are there.
    static func get(_ words: [String], _ node: Node) async throws {
        let message = MessageReference(words[1])
        // The message may not be here yet.
        try await until { (try? await node.perform(ListMessageFiles(message: message))) != nil }
        let start = seconds()
        _ = try await node.perform(FetchFiles(message: message))
        if words.count == 3, let count = UInt64(words[2]) {
            try await until { try await held(message, node) >= count }
            return answer("part")
        }
        try await until { try await isHere(message, node) }
        answer("got \(seconds() - start)")
    }

    /// Saves the file that came last.
    static func save(_ path: String, _ node: Node) async throws {
        let page = try await node.perform(ListFiles(limit: 1))
        guard let message = page.entries.first?.message else {
            throw NodeError("bench", "No file came.")
        }
        let start = seconds()
        _ = try await node.perform(SaveFile(message: MessageReference(message.id), path: path))
        answer("saved \(seconds() - start)")
    }

    /// Says of each message when it was shown, from now on.
    static func watch(_ node: Node) async throws {
        let changes = try await node.changes()
        Task {
            for await change in changes where change.message?.text?.hasPrefix("ping") == true {
                answer("shown \(seconds())")
            }
        }
    }

    /// Waits until so many files are here.
    static func awaitFiles(_ count: Int, _ node: Node) async throws {
        var (held, next) = (0, String?.none)
        while true {
            let page = try await node.perform(ListFiles(limit: 200, from: next))
            let files = page.entries.flatMap(\.message.files)
            held += files.count { $0.state == "here" }
            if held >= count { return answer("held") }
            if let more = page.next, files.allSatisfy({ $0.state == "here" }) {
                next = more
            } else {
                (held, next) = (0, nil)
                // A benchmark may wait; asking more often would be a good part of what is measured.
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// Goes on with a file after a kill, and tells what came again.
    static func resume(_ id: String, _ node: Node) async throws {
        let message = MessageReference(id)
        let files = try await node.perform(ListMessageFiles(message: message))
        let (size, before) = (files.first?.size ?? 0, try await held(message, node))
        let start = seconds()
        try await node.start(listen: ["127.0.0.1:0"])
        try await until { try await held(message, node) > before }
        let first = seconds() - start
        try await until { try await isHere(message, node) }
        let received = try await node.perform(GetStatus()).receivedByteCount
        // What a frame and its record add to a chunk is part of what has to come.
        let lacking = Double(size - before) * Double(chunkFrameByteCount) / 65_520
        answer("resumed \(first) \(Double(received) - lacking)")
    }

    /// Bytes on the wire of a chunk's 65,520: its seal, its frame's head, and its record's.
    private static let chunkFrameByteCount = 65_536 + 41 + 2 * (2 + 3 + 16)

    private static func held(_ message: MessageReference, _ node: Node) async throws -> UInt64 {
        try await node.perform(ListMessageFiles(message: message))
            .reduce(0) { $0 + $1.heldByteCount }
    }

    private static func isHere(_ message: MessageReference, _ node: Node) async throws -> Bool {
        try await node.perform(ListMessageFiles(message: message)).allSatisfy { $0.state == "here" }
    }
}
