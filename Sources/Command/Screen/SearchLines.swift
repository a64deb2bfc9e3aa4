import Foundation
import Parley

/// Hits as lines: number, time, author and conversation, then the text with what matches marked.
///
/// ```
///   #7  25 Dec 2004 09:14  ada in hut  word
///       the «key» hangs at the farm
/// ```
enum SearchLines {
    /// A text is shown up to so many characters.
    private static let textCountMax = 400

    /// Writes an answer, and its notes for the person.
    ///
    /// - Parameter none: the text if nothing was found.
    static func show(
        _ reply: SearchReply, json: Bool, as text: String, none: String
    ) throws {
        try Output.show(reply, json: json, as: text)
        guard !json else { return }
        if reply.hits.isEmpty { World.current.say(none) }
        for note in reply.notes { World.current.say(harmless(note)) }
    }

    static func text(_ reply: SearchReply) -> String {
        reply.hits.flatMap { lines($0) }.joined(separator: "\n")
    }

    static func lines(_ hit: SearchHit) -> [String] {
        var lines = [
            "  #\(hit.message.number)  \(Clock().moment(hit.message.time))  "
                + "\(harmless(hit.message.author)) in \(harmless(hit.conversation))  \(hit.reason)"
        ]
        let width = World.current.output.columnCount.map { $0 - 6 }
        lines += Columns.wrap(marked(hit), to: width).map { "      " + $0 }
        if let figures = hit.explanation {
            lines += Columns.wrap(explained(figures), to: width).map { "      " + $0 }
        }
        return lines
    }

    private static func marked(_ hit: SearchHit) -> String {
        oneLine(hit.pieces.map { $0.isMatch ? "«\($0.text)»" : $0.text }.joined())
    }

    static func oneLine(_ text: String) -> String {
        let line = harmless(text.split(whereSeparator: \.isNewline).joined(separator: " "))
        return line.count <= textCountMax ? line : line.prefix(textCountMax) + "…"
    }

    private static func explained(_ figures: SearchHit.Explanation) -> String {
        var parts: [String] = []
        if let rank = figures.wordRank { parts.append("words: place \(rank)") }
        if let rank = figures.meaningRank { parts.append("meaning: place \(rank)") }
        for (model, cosine) in figures.cosines.sorted(by: { $0.key < $1.key }) {
            parts.append("\(model) cosine \(String(format: "%.3f", cosine))")
        }
        if let deviation = figures.deviation {
            parts.append("z \(String(format: "%.2f", deviation))")
        }
        parts.append("recency \(String(format: "%.4f", figures.recency))")
        parts.append("score \(String(format: "%.4f", figures.score))")
        return parts.joined(separator: " · ")
    }
}
