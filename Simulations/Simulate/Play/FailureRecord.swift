public import Foundation

/// A run that failed, as data: all that it takes to see it fail again, here or elsewhere.
public struct FailureRecord: Codable, Equatable, Sendable {
    /// The scenario.
    public var scenario: Scenario
    /// What happened in it.
    public var tape: Tape
    /// How it ended.
    public var verdict: Summary.Verdict
    /// The version of the program that saw it.
    public var version: String

    /// A record with these fields.
    public init(scenario: Scenario, tape: Tape, verdict: Summary.Verdict, version: String) {
        self.scenario = scenario
        self.tape = tape
        self.verdict = verdict
        self.version = version
    }

    /// Reads a record; keys that mean nothing are turned away.
    public init(json: Data) throws(ScenarioError) {
        self = try StrictJSON.decode(FailureRecord.self, from: json)
        try scenario.check()
    }

    /// The record as a file.
    public func json() throws -> Data { try StrictJSON.encode(self) }
}
