public import Foundation
import ParleyAssistant

/// Conversations of which it is known what the assistant should find.
///
/// It is read from lines of JSON, or from logs of meetings in which somebody told a bot of the results.
public struct AssistantSet: Sendable {
    /// A message with what somebody said of it.
    struct Message: Decodable, Sendable {
        var conversation: String
        var id: Int64
        var author: String
        /// In Unix milliseconds.
        var time: UInt64
        var text: String
        var replyTo: Int64?
        /// `action`, `decision`, `question` or `point`; nil where nobody looked.
        var labels: [String]?
    }

    /// What somebody told a bot while people talked.
    struct Mark: Sendable {
        /// `action`, `decision` or `point`.
        var kind: String
        var text: String
        /// How many messages stand above it.
        var place: Int
    }

    /// A conversation, with one kind of knowledge or another.
    struct Talk: Sendable {
        var name: String
        var messages: [Message] = []
        var marks: [Mark] = []
        /// The kinds of which every message was looked at.
        var judged: Set<String> = []

        var said: [SaidMessage] {
            messages.map { message in
                SaidMessage(
                    number: message.id, author: message.author, name: message.author,
                    time: message.time, text: message.text, replyTo: message.replyTo)
            }
        }
    }

    var talks: [Talk] = []

    /// An empty set.
    public init() {}

    /// A line of JSON for each message.
    ///
    /// - Throws: `DecodingError` of the first line that is none.
    public mutating func add(lines data: Data) throws {
        var found: [String: Talk] = [:]
        var names: [String] = []
        for line in data.split(separator: 10) where !line.isEmpty {
            let message = try JSONDecoder().decode(Message.self, from: Data(line))
            if found[message.conversation] == nil { names.append(message.conversation) }
            var talk = found[message.conversation] ?? Talk(name: message.conversation)
            talk.messages.append(message)
            if message.labels != nil { talk.judged.formUnion(["action", "decision"]) }
            if message.labels?.contains("question") == true { talk.judged.insert("question") }
            found[message.conversation] = talk
        }
        talks += names.compactMap { found[$0] }
    }

    /// Who answers whom, as people annotated it: lines of "a b -", where line b replies to line a.
    ///
    /// - Parameter said: lines of the log, nil for one that is no message.
    public mutating func add(
        log name: String, said: [(author: String, time: UInt64, text: String)?], replies: Data
    ) {
        var answers: [Int: [Int]] = [:]
        var annotated: Set<Int> = []
        for line in String(decoding: replies, as: UTF8.self).split(separator: "\n") {
            let numbers = line.split(separator: " ").prefix(2).compactMap { Int($0) }
            guard numbers.count == 2 else { continue }
            annotated.formUnion(numbers)
            if numbers[0] != numbers[1] { answers[numbers[0], default: []].append(numbers[1]) }
        }
        guard let first = annotated.min(), let last = annotated.max() else { return }
        var talk = Talk(name: name, judged: ["question"])
        for index in max(0, first)..<min(said.count, last + 1) {
            guard let line = said[index] else { continue }
            let isAnswered = (answers[index] ?? []).contains {
                $0 < said.count && said[$0].map { $0.author != line.author } ?? false
            }
            talk.messages.append(
                Message(
                    conversation: name, id: Int64(index), author: line.author, time: line.time,
                    text: line.text, labels: isAnswered ? ["answered"] : []))
        }
        talks.append(talk)
    }

    /// Lines of "channel date [time] <nick> text", a talk for each day. Lines for a bot are marks, and those
    /// of the bot go.
    public mutating func add(meeting name: String, _ data: Data) {
        var talk = Talk(name: "")
        for (number, line) in String(decoding: data, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        {
            guard let row = MeetingLine(line) else { continue }
            if !talk.name.hasSuffix(row.day) {
                if !talk.messages.isEmpty { talks.append(talk) }
                talk = Talk(name: "\(name) \(row.day)")
            }
            if let (kind, text) = row.mark {
                talk.marks.append(Mark(kind: kind, text: text, place: talk.messages.count))
            } else if !row.isOfBot {
                talk.messages.append(
                    Message(
                        conversation: talk.name, id: Int64(number + 1), author: row.author,
                        time: row.time, text: row.text))
            }
        }
        if !talk.messages.isEmpty { talks.append(talk) }
    }
}

/// A line of a log of meetings.
private struct MeetingLine {
    var (day, author, text): (String, String, String)
    var time: UInt64

    init?(_ line: some StringProtocol) {
        let form =
            /\S+ (\d{4}-\d\d-\d\d) (?:\[(\d\d):(\d\d)(?::\d\d)?\])?\s*(?:<(\S+?)>|\* (\S+))\s?(.*)/
        guard let found = String(line).wholeMatch(of: form) else { return nil }
        day = String(found.1)
        author = String(found.4 ?? found.5 ?? "")
        text = found.6.trimmingCharacters(in: .whitespaces)
        let minutes =
            (found.2.flatMap { UInt64($0) } ?? 0) * 60 + (found.3.flatMap { UInt64($0) } ?? 0)
        // A day that no calendar has is the first of all.
        let date = try? Date.ISO8601FormatStyle().year().month().day().parse(day)
        time = UInt64(max(0, date?.timeIntervalSince1970 ?? 0)) * 1_000 + minutes * 60_000
    }

    /// A bot's echo of a mark, and what else it says of the meeting.
    var isOfBot: Bool {
        author == "MootBot" || author == "meetingology"
            || text.wholeMatch(of: /#(start|end)meeting.*/.ignoresCase()) != nil
    }

    /// What is told to the bot; nil of what is said to people.
    var mark: (kind: String, text: String)? {
        guard let found = text.wholeMatch(of: /[\[#](\w+)\]?\s*(.*)/) else { return nil }
        let kinds = [
            "action": "action", "agreed": "decision", "topic": "point", "info": "point",
            "subtopic": "point", "link": "", "vote": "", "endvote": "", "idea": "",
        ]
        return kinds[found.1.lowercased()].map { ($0, String(found.2)) }
    }
}
