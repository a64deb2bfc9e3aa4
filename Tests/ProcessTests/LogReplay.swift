import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Lines of a real log, told again by the devices of a group: each nickname stays with one device.
struct LogReplay {
    /// Who says it, counted from nought by first word, and what.
    let lines: [(speaker: Int, text: String)]

    /// The log that the scenarios use; another where `PARLEY_LOG` names one.
    static func today(atMost count: Int = 120) throws -> LogReplay {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let usual = root.appending(path: "Simulations/Scenarios/evening.log").path
        let path = ProcessInfo.processInfo.environment["PARLEY_LOG"] ?? usual
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        return LogReplay(text.split(separator: "\n").prefix(count).compactMap(said))
    }

    /// `[19:02] <marla> evening all`, as nickname and text; nil for what nobody said.
    private static func said(_ line: Substring) -> (name: Substring, text: String)? {
        guard let start = line.firstIndex(of: "<"), let end = line.firstIndex(of: ">"),
            line.hasPrefix("["), start < end, line.distance(from: line.startIndex, to: start) < 10
        else { return nil }
        let name = line[line.index(after: start)..<end]
        return (name, String(line[start...]))
    }

    private init(_ said: [(name: Substring, text: String)]) {
        var speakers: [Substring: Int] = [:]
        lines = said.map { name, text in
            let speaker = speakers[name] ?? speakers.count
            speakers[name] = speaker
            return (speaker, text)
        }
    }

    private init(lines: [(speaker: Int, text: String)]) { self.lines = lines }

    /// The part between two fractions of it.
    func part(_ from: Double, _ to: Double) -> LogReplay {
        let (first, end) = (Double(lines.count) * from, Double(lines.count) * to)
        return LogReplay(lines: Array(lines[Int(first)..<Int(end)]))
    }

    /// Lets devices say it in a conversation, in order. Returns what each of them said.
    func play(in conversation: String, by nodes: [NodeProcess]) async throws -> [[String]] {
        var said: [[String]] = nodes.map { _ in [] }
        var rest = lines[...]
        while let first = rest.first {
            let device = first.speaker % nodes.count
            let block = rest.prefix { $0.speaker % nodes.count == device }.map(\.text)
            rest = rest.dropFirst(block.count)
            let client = try #require(await nodes[device].client)
            try await client.perform(SendMessages(conversation: conversation, texts: block))
            said[device] += block
        }
        return said
    }
}
