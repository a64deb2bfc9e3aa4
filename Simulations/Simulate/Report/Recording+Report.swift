import Foundation
import ParleyCheckers
import ParleySimulation

/// What a report tells of a run that its recording cannot know.
public struct RunCircumstances: Sendable {
    /// The scenario.
    public var scenario: Scenario
    /// The program, as it names itself.
    public var version: String
    /// How long it took, in real milliseconds; nil to leave it out.
    public var realMilliseconds: UInt64?
    /// How often each promise was compared.
    public var invariants: [String: Int]
    /// How often each mark was hit.
    public var marks: [String: Int]
    /// Sizes of databases, by node.
    public var databaseBytes: [String: Int]

    /// Circumstances with these fields.
    public init(
        scenario: Scenario, version: String, realMilliseconds: UInt64? = nil,
        invariants: [String: Int] = [:], marks: [String: Int] = [:],
        databaseBytes: [String: Int] = [:]
    ) {
        self.scenario = scenario
        self.version = version
        self.realMilliseconds = realMilliseconds
        self.invariants = invariants
        self.marks = marks
        self.databaseBytes = databaseBytes
    }
}

extension Scenario {
    /// A hash over all of it, as 16 digits: equal scenarios have the same one.
    public var hash: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            // FNV-1a: it names a file, and guards nothing.
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for byte in try encoder.encode(self) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            return Report.hexadecimal(hash)
        }
    }
}

extension Report {
    static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension Recording {
    /// The report of the run. Call ``finish()`` before.
    public func report(_ circumstances: RunCircumstances) throws -> Report {
        let scenario = circumstances.scenario
        let speed = circumstances.realMilliseconds.map {
            (Double(world.now) / Double(max(1, $0)) * 10).rounded() / 10
        }
        return Report(
            format: Report.format, scenario: scenario.name, scenarioHash: try scenario.hash,
            seed: scenario.seed, version: circumstances.version,
            traceHash: Report.hexadecimal(world.traceHash),
            verdict: ending?.verdict ?? Report.Verdict(.kept),
            verdictAt: ending?.at ?? world.now, virtualMilliseconds: world.now,
            realMilliseconds: circumstances.realMilliseconds, speed: speed,
            nodes: nodes.map { report(of: $0, circumstances.databaseBytes[$0.name]) },
            phases: phases.elements.map { Report.Phase(name: $0.name, at: $0.at) },
            acts: actCounts, refused: refusedCount, faults: faults, frames: traffic.kinds,
            links: linkCount, invariants: circumstances.invariants, marks: circumstances.marks,
            equalSince: isEqual ? equalities.elements.last?.at : nil, divergence: divergence,
            lastEvents: ending?.events ?? [],
            leftOut: Report.LeftOut(
                acts: acts.leftOut, incidents: incidents.leftOut, reaches: reaches.leftOut))
    }

    private func report(of node: NodeRecord, _ databaseBytes: Int?) -> Report.Node {
        Report.Node(
            name: node.name, isDishonest: dishonest.contains(node.name),
            written: node.writtenCount, held: node.held, lacking: node.lacking,
            received: node.receivedCount, duplicates: node.duplicateCount,
            crashes: node.crashCount, powerLosses: node.powerLossCount,
            failedSteps: node.failedStepCount, clockJumps: node.clockJumpCount,
            viewChanges: node.viewChangeCount, framesIn: node.framesIn, bytesIn: node.bytesIn,
            framesOut: node.framesOut, bytesOut: node.bytesOut, databaseBytes: databaseBytes)
    }

    private var faults: [String: Int] {
        func sum(_ count: KeyPath<NodeRecord, Int>) -> Int {
            nodes.reduce(0) { $0 + $1[keyPath: count] }
        }
        return [
            "brokenLinks": brokenLinkCount, "clockJumps": sum(\.clockJumpCount),
            "crashes": sum(\.crashCount), "failedSteps": sum(\.failedStepCount),
            "partings": partingCount, "powerLosses": sum(\.powerLossCount),
        ]
    }
}

extension Report.Verdict {
    /// How a run ended, as its report tells it.
    public init(of verdict: Summary.Verdict) {
        switch verdict {
        case .kept: self.init(.kept)
        case .stuck(let difference): self.init(.stuck, invariant: "I2", sentence: difference)
        case .broken(let violation):
            self.init(.broken, invariant: violation.invariant, sentence: violation.sentence)
        case .untried(let marks):
            self.init(.untried, sentence: "not tried: " + marks.joined(separator: ", "))
        case .slow(let sentence): self.init(.slow, sentence: sentence)
        }
    }
}
