import Foundation
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// What no fuzzer draws, no fuzzer finds anything in: a new case fails here until it is drawn.
@Suite("What the fuzzers of steps draw")
struct DrawnCasesTests {
    private static let drawCount = 3_000

    private func draw(_ body: (HostileWorld) throws -> String) throws -> Set<String> {
        let world = try HostileWorld(seed: FuzzPlan.seed)
        return try Set((0..<Self.drawCount).map { _ in try body(world) })
    }

    @Test func `every command is drawn`() throws {
        let names = try draw { world in
            let command = try world.drawnCommand()
            return switch command {
            case .together(let inner): "together \(caseName(of: inner))"
            case .file(let inner): "file \(caseName(of: inner))"
            case .remind(let inner): "remind \(caseName(of: inner))"
            case .schedule(let inner): "schedule \(caseName(of: inner))"
            case .act(_, let inner): "act \(caseName(of: inner))"
            default: caseName(of: command)
            }
        }
        let inner = [
            "together": ("TogetherCommand", "Conversations/TogetherCommand"),
            "file": ("FileCommand", "Files/HeldFile"),
            "remind": ("ReminderCommand", "Conversations/NodeCore+Ringing"),
            "schedule": ("ScheduleCommand", "Conversations/NodeCore+Scheduling"),
            "act": ("CallAct", "Command"),
        ]
        var expected = try cases(of: "Command", in: "Sources/NodeCore/Command")
            .subtracting(inner.keys)
        for (name, place) in inner {
            expected.formUnion(
                try cases(of: place.0, in: "Sources/NodeCore/\(place.1)").map { "\(name) \($0)" })
        }
        #expect(expected.subtracting(names).sorted() == [])
    }

    @Test func `every timer is drawn`() throws {
        let names = try draw { caseName(of: $0.timer()) }
        #expect(
            try cases(of: "TimerID", in: "Sources/NodeCore/Input").subtracting(names).sorted()
                == [])
    }

    @Test func `every frame is drawn`() throws {
        let names = try draw { caseName(of: try $0.frame(of: $0.eve)) }
        #expect(try cases(of: "Frame", in: "Sources/Wire/Frame").subtracting(names).sorted() == [])
    }

    @Test func `everything that a relay says is drawn`() throws {
        var (news, answers): (Set<String>, Set<String>) = ([], [])
        _ = try draw { world in
            let drawn = world.relayNews()
            if case .answered(_, let answer) = drawn { answers.insert(caseName(of: answer)) }
            return news.insert(caseName(of: drawn)).memberAfterInsert
        }
        #expect(
            try cases(of: "RelayNews", in: "Sources/NodeCore/Relays/RelayLine")
                .subtracting(news).sorted() == [])
        #expect(
            try cases(of: "RelayAnswer", in: "Sources/Wire/RelayFrame")
                .subtracting(answers).sorted() == [])
    }

    @Test func `operations of every kind are drawn`() throws {
        let space = { (world: HostileWorld) in world.group }
        let kinds = try draw { "\(try $0.draft(in: space($0)).kind.rawValue)" }
        let all = try SourceText.matches(
            of: #/static let \w+ = OperationKind\(rawValue: (\d+)\)/#,
            under: ["Sources/Wire", "Sources/Roster", "Sources/Conversation"])
        #expect(all.count > 40)
        #expect(all.subtracting(kinds).sorted() == [])
    }

    @Test func `every input reaches a node`() throws {
        let world = try HostileWorld(seed: FuzzPlan.seed)
        let expected = try cases(of: "Input", in: "Sources/NodeCore/Input")
        for _ in 0..<1_000 where !expected.isSubset(of: world.inputs) {
            try world.advance(isLocal: true)
        }
        #expect(expected.subtracting(world.inputs).sorted() == [])
    }

    @Test func `everything that reaches a relay is drawn`() throws {
        var clients = try HostileClients(seed: FuzzPlan.seed)
        var (inputs, actions): (Set<String>, Set<String>) = (["performed", "failed"], [])
        var pipes: Set<String> = []
        for _ in 0..<Self.drawCount {
            // A clock goes wrong and a relay leaves in every other life.
            inputs.insert(caseName(of: try clients.input()))
            actions.insert(caseName(of: clients.action()))
            pipes.insert(caseName(of: clients.pipeFrame()))
        }
        let (relay, wire) = ("Sources/Relaying/Relay", "Sources/Wire/RelayFrame")
        var expected = try cases(of: "RelayInput", in: relay)
        if clients.isOrderly { expected.remove("leaving") }
        #expect(expected.subtracting(inputs).sorted() == [])
        #expect(try cases(of: "RelayAction", in: wire).subtracting(actions).sorted() == [])
        #expect(try cases(of: "PipeFrame", in: wire).subtracting(pipes).sorted() == [])
    }

    private func cases(of type: String, in path: String) throws -> Set<String> {
        try SourceText.cases(of: type, in: path)
    }
}

/// What stands in the sources of this repository.
enum SourceText {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The names of an enumeration's cases.
    static func cases(of type: String, in path: String) throws -> Set<String> {
        let file = root.appendingPathComponent(path + ".swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix("public enum \(type):") })
        let body = lines[start...].prefix { $0 != "}" }
        let names = body.compactMap { $0.firstMatch(of: #/^    case (\w+)/#).map { String($0.1) } }
        try #require(!names.isEmpty)
        return Set(names)
    }

    /// What a pattern finds in all files of these folders.
    static func matches(
        of pattern: Regex<(Substring, Substring)>, under folders: [String]
    ) throws -> Set<String> {
        var found: Set<String> = []
        for folder in folders {
            let url = root.appendingPathComponent(folder)
            let names = try FileManager.default.subpathsOfDirectory(atPath: url.path)
            for name in names where name.hasSuffix(".swift") {
                let text = try String(
                    contentsOf: url.appendingPathComponent(name), encoding: .utf8)
                for match in text.matches(of: pattern) { found.insert(String(match.1)) }
            }
        }
        return found
    }
}
