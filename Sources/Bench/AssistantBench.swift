import Foundation
import Glibc
import ParleyAssistant
import ParleyWords

/// How well the assistant reads conversations of which that is known, and what it costs.
///
/// Conversations are cut into two halves by their names: rules may be tuned on the first, and the
/// second says how good they are.
public struct AssistantBench {
    /// How many things of a kind were to be found, and were.
    public struct Score: Codable, Equatable, Sendable {
        /// `tuning` or `held out`.
        public var half: String
        /// What was looked for.
        public var kind: String
        /// How many were found, how many of them are right, and how many there are.
        public var (found, right, labelled): (Int, Int, Int)
        /// The share of what was found that is right.
        public var precision: Double { found == 0 ? 1 : Double(right) / Double(found) }
        /// The share of what there is that was found.
        public var recall: Double { labelled == 0 ? 1 : Double(right) / Double(labelled) }

        private enum CodingKeys: String, CodingKey { case half, kind, found, right, labelled }
    }

    /// A mark is found where something of its kind stands so many messages above it, or a few below.
    private static let (above, below) = (15, 3)
    /// Sentences of a summary that is measured.
    public static let pointCount = 10
    private static let chunkCount = 1_000

    private let talks: [AssistantSet.Talk]

    /// A bench on these conversations.
    public init(_ set: AssistantSet) { talks = set.talks }

    /// How many messages there are.
    public var messageCount: Int { talks.reduce(0) { $0 + $1.messages.count } }

    /// Which half a conversation belongs to: FNV-1a of its name.
    static func isForTuning(_ name: String) -> Bool {
        let hash = name.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return hash % 2 == 0
    }

    /// All scores, the half for tuning first.
    public func scores() -> [Score] {
        ["tuning", "held out"].flatMap { half in
            let talks = talks.filter { Self.isForTuning($0.name) == (half == "tuning") }
            var scores: [String: Score] = [:]
            func add(_ kind: String, _ found: Int, _ right: Int, _ labelled: Int) {
                var score =
                    scores[kind] ?? Score(half: half, kind: kind, found: 0, right: 0, labelled: 0)
                score.found += found
                score.right += right
                score.labelled += labelled
                scores[kind] = score
            }
            for talk in talks {
                let analysis = Analysis(talk.said)
                addLabels(talk, analysis, add)
                addMarks(talk, analysis, add)
                addPoints(talk, analysis, add)
            }
            return scores.values.sorted { $0.kind < $1.kind }
        }
    }

    private typealias Adding = (_ kind: String, _ found: Int, _ right: Int, _ labelled: Int) -> Void

    /// What messages are labelled as, one by one.
    private func addLabels(_ talk: AssistantSet.Talk, _ analysis: Analysis, _ add: Adding) {
        func labelled(_ kind: String) -> Set<Int64> {
            Set(talk.messages.filter { $0.labels?.contains(kind) == true }.map(\.id))
        }
        func compare(_ kind: String, _ found: Set<Int64>, _ wanted: Set<Int64>) {
            guard talk.judged.contains(kind) else { return }
            add(kind, found.count, found.intersection(wanted).count, wanted.count)
        }
        compare("action", Set(analysis.actions().map(\.sentence.message)), labelled("action"))
        compare("decision", Set(analysis.decisions().map(\.sentence.message)), labelled("decision"))
        let asked = Set(analysis.questions().map(\.message))
        let open = Set(analysis.openQuestions().map(\.sentence.message))
        let answered = labelled("answered")
        let wanted = answered.isEmpty ? labelled("question") : asked.subtracting(answered)
        compare("question", open, wanted)
    }

    /// What was told to a bot: the talk above has to say it.
    private func addMarks(_ talk: AssistantSet.Talk, _ analysis: Analysis, _ add: Adding) {
        let found = [
            "action": analysis.actions().map(\.sentence.message),
            "decision": analysis.decisions().map(\.sentence.message),
        ]
        for kind in ["action", "decision"] {
            let marks = talk.marks.filter { $0.kind == kind }
            let places = (found[kind] ?? []).compactMap { number in
                talk.messages.firstIndex { $0.id == number }
            }
            func isNear(_ place: Int, _ mark: AssistantSet.Mark) -> Bool {
                (mark.place - Self.above..<mark.place + Self.below).contains(place)
            }
            let right = marks.count { mark in places.contains { isNear($0, mark) } }
            if !marks.isEmpty { add("mark of \(kind)", places.count, right, marks.count) }
        }
    }

    /// How many key points a summary of fixed length holds, beside plain ways to make one.
    private func addPoints(_ talk: AssistantSet.Talk, _ analysis: Analysis, _ add: Adding) {
        let labelled = Set(
            talk.messages.filter { message in
                ["action", "decision", "point"].contains { message.labels?.contains($0) == true }
            }.map(\.id))
        guard !labelled.isEmpty || !talk.marks.isEmpty else { return }
        let numbers = talk.messages.map(\.id)
        let half = Self.pointCount / 2
        let longest = talk.messages.sorted {
            ($0.text.utf8.count, $0.id) > ($1.text.utf8.count, $1.id)
        }
        let ways: [(String, [Int64])] = [
            ("points", analysis.points(count: Self.pointCount).map(\.message)),
            ("points: first and last", Array(numbers.prefix(half) + numbers.suffix(half))),
            ("points: longest", longest.prefix(Self.pointCount).map(\.id)),
            (
                "points: plain TextRank",
                analysis.centralSentences(count: Self.pointCount).map(\.message)
            ),
        ]
        for (kind, found) in ways {
            let held = Set(found).intersection(labelled).count
            let marks = talk.marks.count { holds($0, found, talk) }
            add(kind, found.count, held + marks, labelled.count + talk.marks.count)
        }
    }

    /// Whether one of these messages stands near a mark and says two of its words.
    private func holds(
        _ mark: AssistantSet.Mark, _ found: [Int64], _ talk: AssistantSet.Talk
    ) -> Bool {
        func terms(_ text: String) -> Set<[UInt8]> {
            Set(
                WordSplitter.words(of: text).filter { !Language.isFrequent($0.folded) }
                    .map { Stemmer.stem($0.folded, in: .english) })
        }
        let wanted = terms(mark.text)
        let near =
            max(0, mark.place - Self.above)..<min(talk.messages.count, mark.place + Self.above)
        return talk.messages[near].contains { message in
            found.contains(message.id)
                && terms(message.text).intersection(wanted).count >= min(2, max(1, wanted.count))
        }
    }

    /// What it costs to read a thousand messages in every way, and how much memory that took at most.
    public func figures() -> [Figure] {
        let all = talks.flatMap(\.said)
        guard !all.isEmpty else { return [] }
        var samples: [Double] = []
        for start in stride(from: 0, to: all.count, by: Self.chunkCount) {
            let chunk = Array(all[start..<min(all.count, start + Self.chunkCount)])
            let begin = seconds()
            read(chunk)
            samples.append((seconds() - begin) * Double(Self.chunkCount) / Double(chunk.count))
        }
        let many = (0..<Analysis.messageCountMax).map { index in
            var message = all[index % all.count]
            message.number = Int64(index)
            return message
        }
        let begin = seconds()
        read(many)
        let whole = seconds() - begin
        // Where nothing tells the peak, there is none to show.
        let peak = (try? Memory.peak(of: getpid())) ?? 0
        return [
            Figure(
                "assistant-1000", samples: samples, unit: "s",
                note: "all rules on 1,000 messages, \(samples.count) times"),
            Figure(
                "assistant-5000", samples: [whole], unit: "s",
                note: "all rules on the most messages that are looked at"),
            Figure(
                "assistant-memory", samples: [Double(peak)], unit: "bytes",
                note: "the most memory that this process had, with the labelled conversations"),
        ]
    }

    private func read(_ messages: [SaidMessage]) {
        let analysis = Analysis(messages)
        _ = (analysis.actions(), analysis.decisions(), analysis.openQuestions())
        _ = analysis.points(count: 5)
    }
}
