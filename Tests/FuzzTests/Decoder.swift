import Foundation
import Testing

/// Something that makes a value of bytes from outside.
struct Decoder: Sendable, CustomTestStringConvertible {
    let name: String
    /// The files that it reads with, and how often each makes a reader: a test of the house finds
    /// a decoder that is in no list.
    let sources: [String: Int]
    /// Whether what it accepts is written again as the same bytes.
    var hasOneSpelling = true
    /// Valid inputs to begin with.
    let inputs: @Sendable () throws -> [[UInt8]]
    /// What it accepts, written anew; nil for what it refuses.
    let decode: @Sendable ([UInt8]) -> [UInt8]?

    var testDescription: String { name }
}

/// What a run of a decoder came to.
struct FuzzReport {
    var inputCount = 0
    var acceptedCount = 0
    /// The first that was accepted and came back as other bytes.
    var respelled: [UInt8]?
    /// Microseconds that the slowest input took.
    var slowest = 0
}

/// Which, how long and from which seed; without the variables all, a moment, and the same inputs
/// each time.
enum FuzzPlan {
    static let seconds = number("PARLEY_FUZZ_SECONDS") ?? 0.3
    static let seed = number("PARLEY_FUZZ_SEED").map { UInt64($0) } ?? 56

    /// Those that `PARLEY_FUZZ_ONLY` names, divided by commas; all without it.
    static func chosen(of all: [Decoder]) -> [Decoder] {
        guard let names = ProcessInfo.processInfo.environment["PARLEY_FUZZ_ONLY"] else {
            return all
        }
        let chosen = names.split(separator: ",").map(String.init)
        precondition(chosen.allSatisfy { name in all.contains { $0.name == name } })
        return all.filter { chosen.contains($0.name) }
    }

    private static func number(_ name: String) -> Double? {
        ProcessInfo.processInfo.environment[name].flatMap(Double.init)
    }

    /// Feeds a decoder for so long, or so many inputs.
    static func run(
        _ decoder: Decoder, for seconds: Double, atMost inputCountMax: Int = .max
    ) throws -> FuzzReport {
        var mutator = Mutator(seed: seed, purpose: decoder.name)
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        let valid = try decoder.inputs()
        var pool = valid
        var report = FuzzReport()
        while clock.now < end, report.inputCount < inputCountMax {
            let input = mutator.next(from: pool)
            let start = clock.now
            let output = decoder.decode(input)
            report.slowest = max(report.slowest, Int((clock.now - start) / .microseconds(1)))
            report.inputCount += 1
            guard let output else { continue }
            report.acceptedCount += 1
            if decoder.hasOneSpelling, output != input, report.respelled == nil {
                report.respelled = input
            }
            // What is accepted leads further, if it is small enough to be quick.
            guard input.count < 4096 else { continue }
            if pool.count < valid.count + 64 {
                pool.append(input)
            } else {
                pool[valid.count + report.acceptedCount % 64] = input
            }
        }
        return report
    }
}
