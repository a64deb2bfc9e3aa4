import Foundation
import Parley
import ParleyLocalAPI
import Synchronization
import Testing

/// Two nodes in processes of their own that know each other and share the group `log`.
struct ProcessPair {
    let folder: TemporaryFolder
    let ann: NodeProcess
    let ben: NodeProcess

    init() async throws {
        folder = try TemporaryFolder()
        ann = try await NodeProcess(
            home: folder.home("ann"), name: "ann", port: try FreePort.some())
        ben = try await NodeProcess(
            home: folder.home("ben"), name: "ben", port: try FreePort.some())
        let (first, second) = (try await ann.start(), try await ben.start())
        let invite = try await first.perform(CreateInvite(hours: 1))
        try await second.perform(AcceptInvite(link: invite.link))
        try await second.perform(SetAdditionPolicy(policy: .contacts))
        try await eventually("they meet", on: [ann, ben]) {
            let conversations =
                try await first.perform(ListConversations()) + second.perform(ListConversations())
            return Set(conversations.map(\.name)) == ["ann", "ben"]
        }
        try await first.perform(CreateConversation(name: "log", members: ["ben"]))
        try await eventually("ben has the group", on: [ben]) {
            try await second.perform(ListConversations()).contains { $0.name == "log" }
        }
    }

    /// Kills one of the two at a random moment, and runs it again.
    func killOne(using random: inout SeededRandom, within milliseconds: Int) async throws {
        let victim = Bool.random(using: &random) ? ann : ben
        let moment = Int.random(in: 0...milliseconds, using: &random)
        // That the moment depends on nothing is the point of the test: there is no event to wait
        // for, and sleep is what makes it random.
        try await Task.sleep(for: .milliseconds(moment))
        try await victim.kill()
        try await victim.start()
    }

    /// Waits until both show the same, and returns how many operations that are.
    @discardableResult
    func agree(within seconds: Double) async throws -> Int {
        let first = try #require(await ann.client)
        let second = try #require(await ben.client)
        var count = 0
        do {
            try await eventually("equal digests", on: [ann, ben], within: seconds) {
                // The short answer first: a digest reads all messages.
                guard try await first.perform(GetStatus()).pendingCount == 0,
                    try await second.perform(GetStatus()).pendingCount == 0
                else { return false }
                let (mine, theirs) = (
                    try await first.perform(ListDigests()), try await second.perform(ListDigests())
                )
                count = mine.reduce(0) { $0 + $1.operationCount }
                // A direct conversation is called after the other: only the hashes are the same.
                return mine.map(\.digest).sorted() == theirs.map(\.digest).sorted()
            }
        } catch let late as Late {
            throw Late(
                description: """
                    \(late.description)
                    ann: \(try await Self.account(of: first))
                    ben: \(try await Self.account(of: second))
                    """)
        }
        return count
    }

    /// What a node says of itself when two do not agree.
    private static func account(of node: NodeClient) async throws -> String {
        let status = try await node.perform(GetStatus())
        let digests = try await node.perform(ListDigests())
            .map { "\($0.name) \($0.operationCount) \($0.digest.prefix(8))" }
        return """
            \(status.operationCount) operations, \(status.pendingCount) wait, \
            links \(status.links.map(\.name)), \(digests), refused \(status.refusals), \
            catching up \(status.isCatchingUp), read-only \(status.readOnlyReason ?? "no"), \
            warnings \(status.warnings)
            """
    }

    /// Ends both in good order, checks what lies on the disk, and runs them again.
    func stopAndCheck() async throws {
        for node in [ann, ben] {
            #expect(try await node.stop() == 0)
            let doctor = try await Program.run("doctor", "--home", node.home)
            #expect(doctor.status == 0, "\(doctor.output)")
            let client = try await node.start()
            let status = try await client.perform(GetStatus())
            #expect(status.readOnlyReason == nil)
            #expect(status.forkedDevices.isEmpty)
        }
    }
}

/// Every message of a conversation, newest first.
func everyMessage(of node: any NodeService, in conversation: String) async throws -> [MessageView] {
    var messages: [MessageView] = []
    var before: String?
    repeat {
        let page = try await node.perform(
            ReadMessages(
                conversation: conversation, before: before, limit: LocalAPI.pageMessageCountMax))
        messages += page.messages.reversed()
        before = page.cursor
    } while before != nil
    return messages
}

/// What nodes said they had saved.
final class SavedTexts: Sendable {
    private let texts = Mutex<Set<String>>([])
    var all: Set<String> { texts.withLock { $0 } }
    func add(_ more: [String]) { texts.withLock { $0.formUnion(more) } }
}

@Suite("Nodes that are killed", .serialized, .timeLimit(.minutes(6)))
struct KilledNodeTests {
    /// Writes, one small batch after the other, until it is done or the node is gone.
    /// - Parameter saved: takes what the node said was saved.
    static func write(
        _ name: String, through client: NodeClient?, into saved: SavedTexts
    ) async {
        for batch in 0..<12 {
            let texts = (0..<5).map { "\(name) \(batch).\($0)" }
            // A node that was killed says nothing, and then nothing is claimed.
            guard
                let sent = try? await client?.perform(
                    SendMessages(conversation: "log", texts: texts))
            else { return }
            saved.add(sent.compactMap(\.text))
        }
    }

    /// Six logs of five hundred lines each.
    static func logs(in folder: TemporaryFolder) throws -> [String] {
        let words = ["kernel", "driver", "coffee", "why", "reboot", "maybe", "thanks", "screen"]
        var random = SeededRandom(seed: 42)
        return try (1...6).map { day in
            let path = folder.path + "/2008-04-0\(day).log"
            let lines = (0..<500).map { line in
                let text = (0..<8).map { _ in words[Int(random.next() % 8)] }
                let time = String(format: "%02d:%02d", line / 60, line % 60)
                return "[\(time)] <nick\(line % 7)> \(text.joined(separator: " "))\n"
            }
            try lines.joined().write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }
    }

    /// Imports, as often as it takes.
    static func bring(_ files: [String], into home: String) async throws {
        for _ in 0..<200 {
            let program = try Program(["import", "irc", "--home", home, "--into", "log"] + files)
            if try await program.ended() == 0 { return }
        }
        throw Late(description: "the import never came through")
    }

    @Test("Attack 33: killed nodes lose nothing that they said was saved, and end with the same")
    func fiftyKills() async throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("seed of the kills: \(seed)")
        var random = SeededRandom(seed: seed)
        let pair = try await ProcessPair()
        let saved = SavedTexts()
        let files = try Self.logs(in: pair.folder)
        async let imported: Void = Self.bring(files, into: pair.ann.home)
        for round in 0..<50 {
            let (first, second) = (await pair.ann.client, await pair.ben.client)
            async let ann: Void = Self.write("ann \(round)", through: first, into: saved)
            async let ben: Void = Self.write("ben \(round)", through: second, into: saved)
            try await pair.killOne(using: &random, within: 150)
            _ = await (ann, ben)
        }
        try await imported
        try await pair.agree(within: 120)
        try await pair.stopAndCheck()
        try await pair.agree(within: 120)
        let claimed = saved.all
        print("\(claimed.count) messages were said to be saved")
        #expect(claimed.count > 300)
        for node in [pair.ann, pair.ben] {
            let messages = try await everyMessage(
                of: try #require(await node.client), in: "log")
            let written = messages.filter { !$0.isImported }.compactMap(\.text)
            #expect(claimed.subtracting(written).isEmpty)
            #expect(Set(written).count == written.count)
            #expect(messages.count { $0.isImported } == 3_000)
            #expect(messages.allSatisfy { !$0.isMissing })
            _ = try await node.stop()
        }
    }

    @Test("that are told to stop while they write end in good order, and lose nothing either")
    func stops() async throws {
        var random = SeededRandom(seed: 7)
        let pair = try await ProcessPair()
        let saved = SavedTexts()
        for round in 0..<10 {
            let client = await pair.ann.client
            async let writing: Void = Self.write("stop \(round)", through: client, into: saved)
            let moment = Int.random(in: 0...60, using: &random)
            // As for a kill: sleep is what makes the moment random.
            try await Task.sleep(for: .milliseconds(moment))
            #expect(try await pair.ann.stop() == 0)
            try await pair.ann.start()
            await writing
            #expect(try await pair.ann.client?.perform(GetStatus()).readOnlyReason == nil)
        }
        try await pair.agree(within: 120)
        try await pair.stopAndCheck()
        for node in [pair.ann, pair.ben] {
            let client = try #require(await node.client)
            let written = try await everyMessage(of: client, in: "log").compactMap(\.text)
            #expect(saved.all.subtracting(written).isEmpty)
            _ = try await node.stop()
        }
    }

    /// Real logs, where this machine has them.
    static let logFiles: [String] = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let folder =
            ProcessInfo.processInfo.environment["PARLEY_IRC_LOGS"]
            ?? root.path + "/shared/data/irc-ubuntu/logs"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".log") }.sorted().prefix(20).map { folder + "/" + $0 }
    }()

    @Test(
        "bring twenty real logs to the other while both are killed",
        .enabled(if: logFiles.count == 20, "no logs here: PARLEY_IRC_LOGS names a folder"))
    func twentyLogs() async throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("seed of the kills: \(seed)")
        var random = SeededRandom(seed: seed)
        let pair = try await ProcessPair()
        _ = try await pair.ben.stop()
        try await Self.bring(Self.logFiles, into: pair.ann.home)
        try await pair.ben.start()
        var held: [Int] = []
        for _ in 0..<50 {
            try await pair.killOne(using: &random, within: 40)
            held.append(try await pair.ben.client?.perform(GetStatus()).operationCount ?? 0)
        }
        let count = try await pair.agree(within: 240)
        let interrupted = held.count { $0 < count * 9 / 10 }
        print("\(count) operations on both; \(interrupted) kills hit the sync: \(held)")
        #expect(count > 10_000)
        #expect(interrupted > 0)
        try await pair.stopAndCheck()
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
    }
}
