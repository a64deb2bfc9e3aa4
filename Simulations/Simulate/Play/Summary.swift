public import ParleyCheckers

/// What came of one run.
public struct Summary: Codable, Equatable, Sendable {
    /// How a run ends.
    public enum Verdict: Codable, Equatable, Sendable {
        /// Every promise was kept.
        case kept
        /// Faults were over, and the nodes did not become equal: what still differed.
        case stuck(String)
        /// A promise was broken: which, and what was seen.
        case broken(Violation)
        /// Promises were kept, and these marks that were to be hit were not.
        case untried([String])
        /// It took longer than it may: how far it had come.
        case slow(String)

        /// The promise that it is about, as "I4", or "time"; nil where all were kept.
        public var invariant: String? {
            switch self {
            case .kept, .untried: nil
            case .stuck: "I2"
            case .broken(let violation): violation.invariant
            case .slow: "time"
            }
        }

        /// What a process ends with: 0, 124 where it took longer than it may, 128 where nodes did not
        /// become equal, 129 where a promise was broken.
        public var exitStatus: Int32 {
            switch self {
            case .kept: 0
            case .slow: 124
            case .stuck: 128
            case .broken, .untried: 129
            }
        }
    }

    /// The scenario's name.
    public var name: String
    /// The seed.
    public var seed: UInt64
    /// How it ended.
    public var verdict: Verdict
    /// A hash over every input, effect and final digest.
    public var traceHash: UInt64
    /// Virtual milliseconds that passed.
    public var milliseconds: UInt64
    /// Nodes that were there in the end.
    public var nodeCount: Int
    /// What kind of world it was, as ``Scenario/classes``.
    public var classes: [String]
    /// Operations held in all stores together.
    public var operationCount: Int
    /// How often each promise was compared, by its number.
    public var checks: [String: Int]
    /// What happened at least once, and how often.
    public var marks: [String: Int]
    /// Acts that were played, by their name.
    public var deeds: [String: Int]

    /// The summary in one line.
    public var line: String {
        let word =
            switch verdict {
            case .kept: "kept"
            case .stuck(let difference): "STUCK \(difference)"
            case .broken(let violation): "BROKEN \(violation)"
            case .untried(let marks): "UNTRIED \(marks.joined(separator: ", "))"
            case .slow(let sentence): "SLOW \(sentence)"
            }
        let checks = checks.sorted { number($0.key) < number($1.key) }
        return "seed \(seed) \(word); operations \(operationCount),"
            + " virtual \(milliseconds / 1_000) s, trace \(String(traceHash, radix: 16));"
            + " checks \(checks.map { "\($0.key) \($0.value)" }.joined(separator: " "))"
    }

    private func number(_ invariant: String) -> Int { Int(invariant.dropFirst()) ?? 0 }
}
