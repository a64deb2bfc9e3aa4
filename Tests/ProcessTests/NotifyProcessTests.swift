import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Whether each of these nodes has a contact that was accepted.
private func areContacts(_ nodes: [NodeClient]) async throws -> Bool {
    for node in nodes {
        let contacts = try await node.perform(ListContacts())
        guard contacts.contains(where: { $0.state == "accepted" }) else { return false }
    }
    return true
}

/// What a person is told though they look at no screen, and what a log tells nobody.
@Suite("Notifications and logs", .timeLimit(.minutes(5)))
struct NotifyProcessTests {
    /// A program that keeps what it finds in its environment, a file each, whole when it appears.
    private static func hook(in folder: TemporaryFolder, also: String = "") throws -> String {
        let path = folder.home("hook")
        try FileManager.default.createDirectory(
            atPath: folder.home("told"), withIntermediateDirectories: true)
        let script = """
            #!/bin/sh
            \(also)
            env | grep ^PARLEY_ | sort >'\(folder.home("told"))'/.$$
            tr '\\0' ' ' </proc/$$/cmdline >>'\(folder.home("told"))'/.$$
            mv '\(folder.home("told"))'/.$$ '\(folder.home("told"))'/$$
            """
        try Data(script.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    private static func told(in folder: TemporaryFolder) -> [String] {
        let names =
            (try? FileManager.default.contentsOfDirectory(atPath: folder.home("told"))) ?? []
        return names.filter { !$0.hasPrefix(".") }.compactMap {
            try? String(contentsOfFile: folder.home("told/") + $0, encoding: .utf8)
        }
    }

    /// Waits until the hook was told something with these words.
    private static func tells(
        _ words: String..., in folder: TemporaryFolder
    ) async throws -> String {
        // A file appears without a word: it is looked for ten times a second.
        let beats = AsyncStream<Void> { try? await Task.sleep(for: .milliseconds(100)) }
        func found() -> String? {
            told(in: folder).first { text in words.allSatisfy { text.contains($0) } }
        }
        try await eventually("\(words) in what was told", within: 60, after: [beats]) {
            found() != nil
        }
        return found() ?? ""
    }

    /// Two contacts, of whom ben is told of what comes.
    private struct Pair {
        let folder: TemporaryFolder
        let ann, ben: NodeProcess
        let config: String

        init(_ settings: String, ben environment: [String: String] = [:]) async throws {
            folder = try TemporaryFolder()
            config = folder.home("config.toml")
            try Data(settings.utf8).write(to: URL(fileURLWithPath: config))
            ann = try await NodeProcess(
                home: folder.home("ann"), name: "Annunziata", port: try FreePort.some())
            ben = try await NodeProcess(
                home: folder.home("ben"), name: "Benvenuto", port: try FreePort.some(),
                environment: environment)
            let host = try await ann.start()
            let guest = try await ben.start(options: ["--no-lan", "--config", config])
            let invite = try await host.perform(CreateInvite(hours: 1))
            _ = try await guest.perform(AcceptInvite(link: invite.link))
            try await eventually("a conversation of two", on: [host, guest]) {
                try await areContacts([guest, host])
            }
        }

        func end() async throws {
            _ = try await ann.stop()
            _ = try await ben.stop()
        }
    }

    @Test(
        "Attack 261: a program of the person's is told of a message, and no command line holds it")
    func message() async throws {
        let folder = try TemporaryFolder()
        let hook = try Self.hook(in: folder)
        let pair = try await Pair("[notify]\ncommand = ['\(hook)', 'soft']\ndesktop = false\n")
        let text = "dinner at 'eight'?\n$(touch \(folder.home("mark"))) 😀"
        try await pair.ann.client?.perform(
            SendMessages(conversation: "Benvenuto", texts: [text]))
        let told = try await Self.tells("PARLEY_EVENT=message", in: folder)
        #expect(told.contains("PARLEY_SENDER=Annunziata\n"))
        #expect(told.contains("PARLEY_TEXT=dinner at 'eight'?\n"))
        #expect(told.contains("PARLEY_CONVERSATION=Annunziata\n"))
        #expect(told.hasSuffix("/bin/sh \(hook) soft "), "\(told)")
        #expect(!FileManager.default.fileExists(atPath: folder.home("mark")))
        // What one says oneself is no news; nor is what comes in a conversation that is open, or silenced.
        let guest = try #require(await pair.ben.client)
        try await guest.perform(SendMessages(conversation: "Annunziata", texts: ["mine"]))
        try await guest.perform(NoteOpenConversation(conversation: "Annunziata", seconds: 60))
        try await pair.ann.client?.perform(
            SendMessages(conversation: "Benvenuto", texts: ["unseen one"]))
        try await eventually("it came", on: [guest]) {
            try await guest.perform(ReadMessages(conversation: "Annunziata", limit: 9))
                .messages.contains { $0.text == "unseen one" }
        }
        try await guest.perform(NoteOpenConversation(conversation: "Annunziata", seconds: 0))
        // A change of what is set holds once it was told to be read.
        try Data("[notify]\ncommand = ['\(hook)']\ncontent = 'sender'\ndesktop = false\n".utf8)
            .write(to: URL(fileURLWithPath: pair.config))
        kill(try #require(await pair.ben.processID), SIGHUP)
        try await eventually("it was read again", on: [guest]) {
            await pair.ben.output.contains("was read again")
        }
        try await pair.ann.client?.perform(
            SendMessages(conversation: "Benvenuto", texts: ["hidden"]))
        let hidden = try await Self.tells("PARLEY_SENDER", "\(hook) ", in: folder)
        #expect(!hidden.isEmpty)
        try await eventually(
            "a second one", within: 60,
            after: [
                AsyncStream { try? await Task.sleep(for: .milliseconds(100)) }  // as above
            ]
        ) { Self.told(in: folder).count == 2 }
        let all = Self.told(in: folder).joined()
        #expect(!all.contains("hidden") && !all.contains("mine") && !all.contains("unseen one"))
        try await pair.end()
    }

    @Test("Attack 261: programs that hang are ended, and a flood starts a few of them")
    func flood() async throws {
        let folder = try TemporaryFolder()
        let hook = try Self.hook(
            in: folder,
            also: "echo x >>'\(folder.home("started"))'; [ $PARLEY_TEXT = last ] || sleep 100")
        let pair = try await Pair(
            "[notify]\ncommand = ['\(hook)']\ntime-limit = 1\ndesktop = false\nper-minute = 600\n")
        let texts = (0..<8).map { "\($0)" } + ["last"]
        try await pair.ann.client?.perform(SendMessages(conversation: "Benvenuto", texts: texts))
        // The last one is told of, though all before it hang.
        _ = try await Self.tells("PARLEY_TEXT=last", in: folder)
        #expect(Self.told(in: folder).count == 1)
        let guest = try #require(await pair.ben.client)
        _ = try await guest.perform(GetStatus())
        try await pair.end()
    }

    @Test(
        "a desktop shows it, as a real bus reads the call",
        .enabled(if: Tool.exists("dbus-daemon", "dbus-monitor")))
    func desktop() async throws {
        let folder = try TemporaryFolder()
        let address = "unix:path=" + folder.home("bus")
        let bus = try Program(
            ["--session", "--nofork", "--nopidfile", "--print-address=1", "--address=" + address],
            by: ["dbus-daemon"])
        defer { bus.signal(SIGKILL) }
        try await bus.says("unix:path=")
        let monitor = try Program(
            ["--address", address, "interface='org.freedesktop.Notifications'"],
            by: ["stdbuf", "-oL", "dbus-monitor"])
        defer { monitor.signal(SIGKILL) }
        try await monitor.says("member=NameLost")
        let pair = try await Pair("", ben: ["DBUS_SESSION_BUS_ADDRESS": address])
        try await pair.ann.client?.perform(
            SendMessages(conversation: "Benvenuto", texts: ["tea & <b>cake</b> é😀"]))
        try await monitor.says("tea &amp; &lt;b&gt;cake&lt;/b&gt; é😀")
        #expect(monitor.output.contains("member=Notify"))
        #expect(monitor.output.contains("string \"Annunziata\""))
        try await monitor.says("int32 -1")
        // The bus still talks to it: what it sent was well formed.
        try await pair.ann.client?.perform(
            SendMessages(conversation: "Benvenuto", texts: ["once more"]))
        try await monitor.says("once more")
        try await pair.end()
    }

    @Test("Attack 262: the log of a service holds nothing that somebody said or is called by")
    func log() async throws {
        let folder = try TemporaryFolder()
        var nodes: [Program] = []
        var codes: [String] = []
        let names = ["Annunziata", "Benvenuto"]
        for name in names {
            let home = folder.home("h\(nodes.count)")
            let made = try await Program.run("init", "--home", home, "--name", name)
            codes += made.output.split(separator: "\n").map(String.init).filter {
                $0.split(separator: "-").count == 14
            }
            let port = try FreePort.some()
            // The journal is said to be what standard error is.
            let node = try Program(
                [], environment: ["PARLEY_LOG_LEVEL": "debug"],
                by: [
                    "sh", "-c",
                    "JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec \(Program.path) run --home "
                        + "\(home) --no-lan --listen 127.0.0.1:\(port)",
                ])
            try await node.says("<5>the node is running")
            nodes.append(node)
        }
        defer { for node in nodes { node.signal(SIGKILL) } }
        let ann = try #require(try await NodeClient.connect(home: folder.home("h0")))
        let ben = try #require(try await NodeClient.connect(home: folder.home("h1")))
        _ = try await ben.perform(AcceptInvite(link: ann.perform(CreateInvite(hours: 1)).link))
        try await eventually("a conversation of two", on: [ann, ben]) {
            try await areContacts([ann, ben])
        }
        let group = try await ann.perform(
            CreateConversation(name: "Zwiebelkuchen", members: ["Benvenuto"]))
        for text in ["Donaudampfschiff one", "Donaudampfschiff two"] {
            try await ann.perform(SendMessages(conversation: "Benvenuto", texts: [text]))
            try await ann.perform(SendMessages(conversation: group.id, texts: [text]))
        }
        try await eventually("it came", on: [ben]) {
            try await ben.perform(ReadMessages(conversation: "Annunziata", limit: 9))
                .messages.contains { $0.text == "Donaudampfschiff two" }
        }
        var secrets = names + codes + ["Zwiebelkuchen", "Donaudampfschiff", group.id]
        for client in [ann, ben] {
            let status = try await client.perform(GetStatus())
            secrets += [status.person, status.device]
            await client.close()
        }
        for node in nodes {
            node.signal(SIGHUP)
            try await node.says("was read again")
            node.signal(SIGTERM)
            #expect(try await node.ended() == 0)
            let lines = node.output.split(separator: "\n")
            #expect(lines.count >= 3)
            #expect(lines.allSatisfy { $0.hasPrefix("<") }, "\(node.output)")
            for secret in secrets { #expect(!node.output.contains(secret), "\(secret)") }
        }
    }
}
