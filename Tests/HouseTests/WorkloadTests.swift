import Foundation
import Testing

/// Whatever a node can be asked for, and every kind of operation it writes, is in what simulated
/// people do: a feature that is not there is judged by no swarm.
@Suite("The simulator's workload")
struct WorkloadTests {
    @Test("has every command of a node")
    func commands() throws {
        let commands = try #require(SourceTree.read("Sources/NodeCore/Command.swift"))
        let start = try #require(commands.range(of: "public enum Command:"))
        let end = try #require(
            commands.range(of: "\n}", range: start.upperBound..<commands.endIndex))
        let names = commands[start.upperBound..<end.lowerBound]
            .matches(of: /\n    case ([a-zA-Z]+)/).map { String($0.output.1) }
        #expect(names.count > 10, "found only \(names)")
        let deeds = SourceTree.swift.filter {
            $0.path.hasPrefix("Simulations/Simulate/Play/Stage")
                || $0.path == "Simulations/Harness/World+Devices.swift"
                || $0.path == "Simulations/Harness/World+Relays.swift"
        }.map(\.text).joined()
        let missing = names.filter {
            !deeds.contains(".\($0)(") && !Self.laterCommands.contains($0)
        }
        #expect(missing.isEmpty, "nobody in a simulated world ever does \(missing)")
    }

    /// What nobody in a simulated world does yet. A conversation that is deleted: every checker would
    /// have to know that what was saved is gone on purpose. Servers of calls, whether links get previews, and
    /// when the recovery code was asked back, are kept as what is told of presence is, and used by no core;
    /// an alias is kept as that is that somebody was verified. Whoever wants no more to come into a group is as they were before
    /// they took the link. What is sent under a key is written as what is sent is: `SentOnceTests` let its store
    /// fail at each call.
    static let laterCommands: Set<String> = [
        "deleteConversation", "setCallServer", "removeCallServer", "noteRecoveryCheck", "setAlias",
        "withdrawJoin", "sendOnce", "setLinkPreviews",
    ]

    /// What nobody in a simulated world writes yet.
    static let later: Set<String> = [
        "6", "7", "8", "10", "11", "12", "14", "35", "36",
    ]

    @Test("must write every kind of operation")
    func kinds() throws {
        let marks = try #require(SourceTree.read("Simulations/Checkers/Marks.swift"))
        var kinds: [String] = []
        for file in SourceTree.swift where file.path.hasPrefix("Sources/") {
            kinds += file.text.matches(of: /OperationKind\(rawValue: (\d+)\)/).map {
                String($0.output.1)
            }
        }
        #expect(kinds.count > 8, "found only \(kinds)")
        // A merge operation is written only beside more than 16 open heads.
        let missing = kinds.filter {
            $0 != "0" && !Self.later.contains($0) && !marks.contains("\"kind-\($0)\"")
        }
        #expect(missing.isEmpty, "no swarm has to write the kinds \(missing)")
    }

    @Test("has every deed in the usual mix that people can do by themselves")
    func mix() throws {
        let acts = try #require(SourceTree.read("Simulations/Simulate/Scenario/Act.swift"))
        let start = try #require(acts.range(of: "// MARK: What people do"))
        let end = try #require(acts.range(of: "/// Misbehaves"))
        let names = acts[start.upperBound..<end.lowerBound]
            .matches(of: /\n    case ([a-zA-Z]+)/).map { String($0.output.1) }
        let mix = try #require(SourceTree.read("Simulations/Simulate/Tape/Mix.swift"))
        let missing = names.filter { !mix.contains("\"\($0)\":") }
        #expect(names.count > 10 && missing.isEmpty, "\(names), of which \(missing) is in no mix")
    }
}
