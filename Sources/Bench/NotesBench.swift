public import Foundation
import ParleyNotes
import ParleySearch

/// The cost of computing the text of a note from its edits.
public enum NotesBench {
    /// A history that was played.
    public struct Played: Codable, Equatable, Sendable {
        /// SHA-256 of the text in UTF-8, in hex.
        public var hash: String
        /// How many scalars were inserted and deleted.
        public var events: Int
        /// How many scalars the text has.
        public var scalars: Int
        /// How long the text took, in seconds.
        public var seconds: Double
        /// Whether it is the text that the file expects; nil where it expects none.
        public var isExpected: Bool?
    }

    /// A history of edits, or several, as a file holds them.
    ///
    /// `{"txns":[{"span":[0,2],"parents":[],"agent":"a","seqStart":0,"ops":[[0,0,"hi"]]}],"endContent":"hi"}`:
    /// an operation is a position, how many scalars go and what comes; `span` numbers the scalars that go
    /// and come; ties are broken by agent, then by `seqStart`.
    struct History: Decodable {
        struct Transaction: Decodable {
            var span: [Int]
            var parents: [Int]
            var agent: String
            var seqStart: UInt64?
            var ops: [Operation]
        }

        struct Operation: Decodable {
            var position: Int
            var deletedCount: Int
            var text: String

            init(from decoder: any Decoder) throws {
                var fields = try decoder.unkeyedContainer()
                position = try fields.decode(Int.self)
                deletedCount = try fields.decode(Int.self)
                text = try fields.decode(String.self)
            }
        }

        var txns: [Transaction]
        var endContent: String?
    }

    /// What is wrong with a file.
    public struct Malformed: Error {
        /// In a sentence.
        public let reason: String
    }

    /// Plays the histories of a file: one, or a list of them.
    public static func play(_ data: Data) throws -> [Played] {
        let decoder = JSONDecoder()
        let histories: [History]
        do {
            // A list begins with a bracket, whatever stands before it.
            let isList = data.first { !" \n\r\t".utf8.contains($0) } == UInt8(ascii: "[")
            histories =
                isList
                ? try decoder.decode([History].self, from: data)
                : [try decoder.decode(History.self, from: data)]
        } catch {
            throw Malformed(reason: "It is no JSON of histories with \"txns\".")
        }
        return try histories.map { history in
            let log = try log(of: history)
            let start = seconds()
            let text = log.text()
            let took = seconds() - start
            let string = text.string
            return Played(
                hash: SHA256.hexHash(Array(string.utf8)), events: log.graph.count,
                scalars: text.count, seconds: took,
                isExpected: history.endContent.map { $0.utf8.elementsEqual(string.utf8) })
        }
    }

    private static func log(of history: History) throws -> EditLog {
        let agents = Set(history.txns.map(\.agent)).sorted()
        var tags: [String: UInt64] = [:]
        for agent in agents { tags[agent] = UInt64(tags.count) }
        var log = EditLog()
        var sequences: [String: UInt64] = [:]
        for (number, transaction) in history.txns.enumerated() {
            let edits = transaction.ops.map {
                TextEdit(
                    at: $0.position, deleting: $0.deletedCount,
                    inserting: Array($0.text.unicodeScalars))
            }
            let count = edits.reduce(0) { $0 + $1.deletedCount + $1.inserted.count }
            let first = log.graph.count
            guard transaction.ops.allSatisfy({ $0.position >= 0 && $0.deletedCount >= 0 }),
                count > 0, transaction.span == [first, first + count],
                transaction.parents.allSatisfy({ (0..<first).contains($0) })
            else { throw Malformed(reason: "Transaction \(number) does not fit those before it.") }
            let sequence = transaction.seqStart ?? sequences[transaction.agent] ?? 0
            sequences[transaction.agent] = sequence + UInt64(count)
            log.append(
                edits, by: EditLog.Author(tag: tags[transaction.agent] ?? 0, sequence: sequence),
                after: log.graph.version(of: transaction.parents))
        }
        return log
    }

    // MARK: Figures

    /// Somebody writes a long text alone; two part, write much, and meet again.
    public static func figures() -> [Figure] {
        let alone = typed(250_000)
        let apart = parted(10_000)
        return [
            figure(
                "notes-linear", alone,
                "the text of 250,000 edits of one device, every tenth at another place"),
            figure(
                "notes-merge", apart,
                "two branches of 10,000 edits each, over a text of 20,000"),
        ]
    }

    private static func figure(_ name: String, _ log: EditLog, _ note: String) -> Figure {
        var samples: [Double] = []
        for _ in 0..<5 {
            let start = seconds()
            let text = log.text()
            samples.append(seconds() - start)
            precondition(text.count > 0, "a text came of it")
        }
        return Figure(name, samples: samples, unit: "s", budget: 0.3, note: note)
    }

    /// Every edit is one scalar; every tenth goes elsewhere, every fifth deletes.
    private static func typed(_ count: Int) -> EditLog {
        var log = EditLog()
        write(count, in: &log, tag: 0, after: [], length: 0)
        return log
    }

    private static func parted(_ count: Int) -> EditLog {
        var log = EditLog()
        let base = write(20_000, in: &log, tag: 0, after: [], length: 0)
        let length = log.text().count
        for tag in [1, 2] as [UInt64] {
            write(count, in: &log, tag: tag, after: base, length: length)
        }
        return log
    }

    @discardableResult
    private static func write(
        _ count: Int, in log: inout EditLog, tag: UInt64, after parents: [Int], length: Int
    ) -> [Int] {
        var random = tag &+ 0x9E37_79B9_7F4A_7C15
        func draw(_ bound: Int) -> Int {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            return Int(random % UInt64(max(1, bound)))
        }
        var (parents, length, cursor) = (parents, length, length)
        for number in 0..<UInt64(count) {
            if number % 10 == 0 { cursor = draw(length + 1) }
            let isDeletion = number % 5 == 4 && cursor > 0
            let edit = TextEdit(
                at: isDeletion ? cursor - 1 : cursor, deleting: isDeletion ? 1 : 0,
                inserting: isDeletion ? [] : [Unicode.Scalar(UInt8(97 + draw(26)))])
            cursor += isDeletion ? -1 : 1
            length += isDeletion ? -1 : 1
            let events = log.append(
                [edit], by: EditLog.Author(tag: tag, sequence: number), after: parents)
            parents = [events.upperBound - 1]
        }
        return parents
    }
}
