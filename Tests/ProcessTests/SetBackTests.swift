import Foundation
import Parley
import Testing

/// Ann, whose files are meddled with, and ben, who knows what she wrote.
struct SetBackPair {
    let folder: TemporaryFolder
    let settings: NodeSettings
    let ben: Node

    var home: String { settings.home }
    private var copy: String { folder.home("copy") }

    /// Both have met; then a copy of ann's home is made, and ann writes on.
    init(written texts: [String], after earlier: [String]) async throws {
        folder = try TemporaryFolder()
        settings = NodeSettings(home: folder.home("a"))
        (ben, _) = try await Node.create(NodeSettings(home: folder.home("b")), name: "ben")
        try await ben.start(listen: ["127.0.0.1:0"])
        var (ann, _) = try await Node.create(settings, name: "ann")
        try await ann.perform(
            AcceptInvite(link: try await ben.perform(CreateInvite(hours: 1)).link))
        let first = ann
        try await eventually("they meet", on: [ann, ben]) {
            try await first.perform(ListConversations()).contains { $0.name == "ben" }
        }
        try await says(earlier, ann)
        await ann.shutdown()
        try FileManager.default.copyItem(atPath: settings.home, toPath: copy)
        ann = try await Node.open(settings)
        try await says(texts, ann)
        await ann.shutdown()
    }

    /// Ann writes, and ben has it.
    private func says(_ texts: [String], _ ann: Node) async throws {
        guard !texts.isEmpty else { return }
        try await ann.perform(SendMessages(conversation: "ben", texts: texts))
        try await eventually("ben has it", on: [ben, ann]) {
            let page = try await ben.perform(ReadMessages(conversation: "ann", limit: 1000))
            let pending = try await ann.perform(GetStatus()).pendingCount
            return page.messages.last?.text == texts.last && pending == 0
        }
    }

    /// Puts files of the copy in the place of what is there.
    func setBack(_ isMeant: (String) -> Bool) throws {
        let manager = FileManager.default
        for name in try manager.contentsOfDirectory(atPath: home) where isMeant(name) {
            try manager.removeItem(atPath: home + "/" + name)
        }
        for name in try manager.contentsOfDirectory(atPath: copy) where isMeant(name) {
            try manager.copyItem(atPath: copy + "/" + name, toPath: home + "/" + name)
        }
    }

    /// Ann has it all back, writes on, and there is one history.
    func isWhole(_ ann: Node, _ texts: [String]) async throws {
        try await eventually("ann has her past back", on: [ann, ben]) {
            let page = try await ann.perform(ReadMessages(conversation: "ben", limit: 1000))
            let reason = try await ann.perform(GetStatus()).readOnlyReason
            return page.messages.map(\.text) == texts && reason == nil
        }
        try await ann.perform(SendMessages(conversation: "ben", texts: ["and on"]))
        try await eventually("both agree", on: [ann, ben]) {
            let (mine, theirs) = (
                try await ann.perform(ListDigests()), try await ben.perform(ListDigests())
            )
            return mine.map(\.digest) == theirs.map(\.digest)
        }
        for node in [ann, ben] {
            #expect(try await node.perform(GetStatus()).forkedDevices.isEmpty)
            #expect(try await node.perform(GetStatus()).refusals["forked-log"] == nil)
            #expect(try await node.perform(CheckStore()).checks.allSatisfy(\.isFine))
        }
        await ann.shutdown()
        let again = try await Node.open(settings)
        #expect(try await again.perform(GetStatus()).readOnlyReason == nil)
        await again.shutdown()
        await ben.shutdown()
    }

    /// Ann may read, and is told why she may not write.
    func isReadOnly(_ ann: Node, because reason: String) async throws {
        let status = try await ann.perform(GetStatus())
        #expect(status.readOnlyReason?.contains(reason) == true)
        #expect(status.warnings.contains { $0.contains(reason) })
        let error = await #expect(throws: NodeError.self) {
            try await ann.perform(SendMessages(conversation: "ben", texts: ["a fork"]))
        }
        #expect(error?.code == "rejoining")
        #expect(error?.hint != nil)
        try await ann.perform(ReadMessages(conversation: "ben", limit: 10))
    }

    /// Opens ann while ben cannot be reached, looks, and lets them meet.
    func open(_ look: (Node) async throws -> Void) async throws -> Node {
        try await ben.perform(SetOffline(on: true))
        let ann = try await Node.open(settings)
        try await look(ann)
        try await ben.perform(SetOffline(on: false))
        // Ann tries again in a second or two; taking back being offline means: try now.
        try await ann.perform(SetOffline(on: true))
        try await ann.perform(SetOffline(on: false))
        return ann
    }
}

@Suite("A home that was set back", .serialized, .timeLimit(.minutes(4)))
struct SetBackTests {
    static let texts = (1...700).map { "after the copy \($0)" }

    @Test(
        "with a guard that remembers more writes nothing until it has its own past back",
        arguments: [[], ["before the copy"]])
    func database(earlier: [String]) async throws {
        let pair = try await SetBackPair(written: Self.texts, after: earlier)
        try pair.setBack { $0.hasPrefix("database") }
        let ann = try await pair.open {
            try await pair.isReadOnly($0, because: "before the last operation")
        }
        try await pair.isWhole(ann, earlier + Self.texts)
    }

    @Test(
        "Attack 34: what was set back as a whole takes back what its peer holds, and forks nothing")
    func wholeHome() async throws {
        let pair = try await SetBackPair(written: Self.texts, after: ["before the copy"])
        try pair.setBack { _ in true }
        let ann = try await pair.open { ann in
            // Nothing on this machine knows of it.
            let reason = try await ann.perform(GetStatus()).readOnlyReason
            #expect(reason == nil)
        }
        try await pair.isWhole(ann, ["before the copy"] + Self.texts)
    }

    @Test("without a guard, or with a broken one, writes again after it has met its peer")
    func noGuard() async throws {
        for isMissing in [true, false] {
            let pair = try await SetBackPair(written: ["two"], after: ["one"])
            let file = pair.home + "/guard"
            try FileManager.default.removeItem(atPath: file)
            if !isMissing {
                try Data(repeating: 9, count: 64).write(to: URL(filePath: file))
                chmod(file, 0o600)
            }
            let ann = try await pair.open {
                try await pair.isReadOnly($0, because: "the guard file")
            }
            try await pair.isWhole(ann, ["one", "two"])
        }
    }

    @Test("without its guard stays so over any number of commands, and until a peer is met")
    func noGuardOverCommands() async throws {
        let pair = try await SetBackPair(written: Self.texts, after: ["one"])
        try pair.setBack { !$0.hasPrefix("guard") }
        try FileManager.default.removeItem(atPath: pair.home + "/guard")
        try await pair.ben.perform(SetOffline(on: true))
        for _ in 1...3 {
            let sent = try await Program.run("send", "ben", "a fork", "--home", pair.home)
            #expect(
                sent.status == 1
                    && sent.output.contains(
                        "has lost some of what it wrote"),
                "\(sent.output)")
            let status = try await Program.run("status", "--home", pair.home)
            #expect(status.output.contains("the guard file is missing"), "\(status.output)")
            let doctor = try await Program.run("doctor", "--home", pair.home)
            #expect(doctor.status == 1 && doctor.output.contains("✗"), "\(doctor.output)")
        }
        let ann = try await pair.open {
            try await pair.isReadOnly($0, because: "the guard file")
        }
        try await pair.isWhole(ann, ["one"] + Self.texts)
    }
}
