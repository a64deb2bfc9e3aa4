import Foundation
import Parley

/// Files that go from this process to the other one.
extension BenchWorld {
    var peerID: Int32 { there.processID }

    /// Seals files, removes them and sends them with one message.
    ///
    /// - Returns: how long sealing took, and the message.
    func send(_ paths: [String]) async throws -> (sealing: Double, message: MessageView) {
        let start = seconds()
        var tickets: [String] = []
        for path in paths { tickets.append(try await here.perform(StageFile(path: path)).ticket) }
        for ticket in tickets {
            try await until {
                let file = try await self.here.perform(GetStagedFile(ticket: ticket))
                if let failure = file.failure { throw failure }
                return file.isReady
            }
        }
        let time = seconds() - start
        for path in paths { try FileManager.default.removeItem(atPath: path) }
        let sent = try await here.perform(
            SendMessages(conversation: group, texts: [""], files: tickets))
        guard let message = sent.first else { throw NodeError("bench", "Nothing was sent.") }
        return (time, message)
    }

    /// Has the other process fetch the files of a message. Returns how long that took there.
    func fetch(_ message: MessageView) async throws -> Double {
        try there.say("get \(message.id)")
        return try Self.number(after: "got", try there.hear())
    }

    /// Has the other process save the file that it fetched last. Returns how long that took there.
    func saveThere(to path: String) async throws -> Double {
        try there.say("save \(path)")
        return try Self.number(after: "saved", try there.hear())
    }

    /// Waits until the other process holds so many files.
    func untilHeld(_ count: Int) async throws {
        try there.say("held \(count)")
        guard try there.hear() == "held" else { throw NodeError("bench", "Files are missing.") }
    }

    // MARK: Messages meanwhile

    /// Messages, one after the other: what each took until it was shown there.
    func pings(_ count: Int) async throws -> [Double] {
        if !isWatched { try there.say("watch") }
        isWatched = true
        var samples: [Double] = []
        for _ in 0..<count { samples.append(try await ping().time) }
        return samples
    }

    /// The same while the other process fetches the files of a message.
    func pings(
        whileFetching message: MessageView
    ) async throws -> (samples: [Double], time: Double) {
        _ = try await pings(1)
        try there.say("get \(message.id)")
        var samples: [Double] = []
        while true {
            let (time, other) = try await ping()
            if let other { return (samples, try Self.number(after: "got", other)) }
            samples.append(time)
        }
    }

    private func ping() async throws -> (time: Double, other: String?) {
        // So that what goes besides is in every state that it has.
        try await Task.sleep(for: .milliseconds(7))
        let start = seconds()
        try await here.perform(SendMessages(conversation: group, texts: ["ping"]))
        var other: String?
        while true {
            let line = try there.hear()
            guard !line.isEmpty else { throw NodeError("bench", "The peer is gone.") }
            if line.hasPrefix("shown ") {
                return (try Self.number(after: "shown", line) - start, other)
            }
            other = line
        }
    }

    // MARK: Kills

    struct Resumption {
        /// Seconds until the first new chunk.
        var first: Double
        /// Bytes that came besides those that were lacking.
        var againByteCount: Double
    }

    /// Kills the other process once it holds so many bytes of a file, and starts it again.
    func killAndResume(_ message: MessageView, at byteCount: Int) async throws -> Resumption {
        try there.say("get \(message.id) \(byteCount)")
        guard try there.hear() == "part" else { throw NodeError("bench", "Nothing came.") }
        there.kill()
        isWatched = false
        there = try BenchPeer(program: program, home: folder + "/there")
        try there.say("resume \(message.id)")
        let words = try there.hear().split(separator: " ")
        guard words.count == 3, words[0] == "resumed", let first = Double(words[1]),
            let again = Double(words[2])
        else { throw NodeError("bench", "It was not resumed.") }
        return Resumption(first: first, againByteCount: again)
    }

    private static func number(after word: String, _ line: String) throws -> Double {
        let words = line.split(separator: " ")
        guard words.count == 2, words[0] == word, let number = Double(words[1]) else {
            throw NodeError("bench", "The peer said “\(line)”.")
        }
        return number
    }
}
