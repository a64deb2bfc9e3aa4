public import Foundation

/// What came of a run, for programs: see "The report" in `Simulations/README.md`, which is a
/// contract. A field that is nil is left out.
public struct Report: Codable, Equatable, Sendable {
    /// How a run ends.
    public struct Verdict: Codable, Equatable, Sendable {
        /// In one word.
        public enum Outcome: String, Codable, Sendable {
            /// Every promise was kept.
            case kept
            /// Faults were over, and the nodes did not become equal.
            case stuck
            /// A promise was broken.
            case broken
            /// All was kept, and what the scenario is about did not happen.
            case untried
            /// It took longer than it may.
            case slow
        }

        /// In one word.
        public var outcome: Outcome
        /// The promise that was broken, as "I4".
        public var invariant: String?
        /// What was seen.
        public var sentence: String?

        /// A verdict with these fields.
        public init(_ outcome: Outcome, invariant: String? = nil, sentence: String? = nil) {
            self.outcome = outcome
            self.invariant = invariant
            self.sentence = sentence
        }
    }

    /// What came of one node.
    public struct Node: Codable, Equatable, Sendable {
        /// Its name.
        public var name: String
        /// Whether it misbehaved, so that nothing is promised about it.
        public var isDishonest: Bool
        /// Operations that it wrote itself, while recorded.
        public var written: Int
        /// Operations of conversations that it holds.
        public var held: Int
        /// Operations of its conversations that others hold and it does not.
        public var lacking: Int
        /// Operations that frames brought.
        public var received: Int
        /// Those among them that it held already.
        public var duplicates: Int
        /// Deaths of its process alone.
        public var crashes: Int
        /// Deaths of its machine.
        public var powerLosses: Int
        /// Steps that were undone because the store failed.
        public var failedSteps: Int
        /// Jumps of its wall clock.
        public var clockJumps: Int
        /// Rows of views that changed.
        public var viewChanges: Int
        /// Frames that reached it, and their bytes.
        public var framesIn: Int
        /// Bytes that reached it.
        public var bytesIn: Int
        /// Frames that it sent.
        public var framesOut: Int
        /// Bytes that it sent.
        public var bytesOut: Int
        /// Size of its database, where it is known.
        public var databaseBytes: Int?
    }

    /// A stretch of the run.
    public struct Phase: Codable, Equatable, Sendable {
        /// Its name.
        public var name: String
        /// When it began, in virtual milliseconds.
        public var at: UInt64
    }

    /// What was too much to keep, and is only counted.
    public struct LeftOut: Codable, Equatable, Sendable {
        /// Acts.
        public var acts: Int
        /// Deaths, starts, failed steps and jumps of clocks.
        public var incidents: Int
        /// Changes of who reaches whom.
        public var reaches: Int
    }

    /// The version of this form.
    public static let format = 1

    /// ``format``.
    public var format: Int
    /// The name of the scenario.
    public var scenario: String
    /// A hash over the scenario: equal ones are the same scenario.
    public var scenarioHash: String
    /// What decided all that the scenario leaves open.
    public var seed: UInt64
    /// The program that ran it.
    public var version: String
    /// A hash over every input, effect and final digest.
    public var traceHash: String
    /// How it ended.
    public var verdict: Verdict
    /// When the verdict was known, in virtual milliseconds.
    public var verdictAt: UInt64
    /// Virtual milliseconds that passed.
    public var virtualMilliseconds: UInt64
    /// Real ones, where the caller measured.
    public var realMilliseconds: UInt64?
    /// Virtual milliseconds in a real one.
    public var speed: Double?
    /// Each node, in the order of the scenario.
    public var nodes: [Node]
    /// Each phase.
    public var phases: [Phase]
    /// How often each deed was done, by its name; faults among them.
    public var acts: [String: Int]
    /// How many acts were refused.
    public var refused: Int
    /// What broke, by class, as it was seen from outside.
    public var faults: [String: Int]
    /// Frames that were sent, by kind.
    public var frames: [String: Int]
    /// Links that opened, counted at both ends.
    public var links: Int
    /// How often each promise was compared: one that never was proves nothing.
    public var invariants: [String: Int]
    /// How often each mark was hit.
    public var marks: [String: Int]
    /// Since when all are equal, where they are.
    public var equalSince: UInt64?
    /// The first time that two who hold the same showed another.
    public var divergence: Happening?
    /// Where it did not end well, the last events of the nodes that the sentence names.
    public var lastEvents: [Happening]
    /// What was only counted.
    public var leftOut: LeftOut

    /// The report as text: keys in order, and the same bytes for the same report.
    public func json() throws -> Data { try StrictJSON.encode(self) + Data([0x0a]) }
}

extension Report {
    /// Reads what ``json()`` writes; keys that mean nothing are turned away.
    public init(json: Data) throws(ScenarioError) {
        self = try StrictJSON.decode(Self.self, from: json)
    }
}
