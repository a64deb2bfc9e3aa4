import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("A home that something is wrong with", .serialized, .timeLimit(.minutes(3)))
struct BrokenHomeTests {
    /// The code with which a home is refused.
    private func refusal(_ settings: NodeSettings) async throws -> NodeError {
        try #require(await #expect(throws: NodeError.self) { _ = try await Node.open(settings) })
    }

    /// A node that has written a few messages and was closed.
    private func made(_ home: String, passphrase: String? = nil) async throws -> NodeSettings {
        let settings = NodeSettings(home: home, passphrase: passphrase.map { Array($0.utf8) })
        let (node, _) = try await Node.create(settings, name: "ann")
        try await node.perform(CreateConversation(name: "notes", members: []))
        try await node.perform(SendMessages(conversation: "notes", texts: ["one", "two"]))
        await node.shutdown()
        return settings
    }

    private func examine(_ settings: NodeSettings) async throws {
        let node = try await Node.open(settings)
        let page = try await node.perform(ReadMessages(conversation: "notes", limit: 10))
        #expect(page.messages.map(\.text) == ["one", "two"])
        #expect(try await node.perform(CheckStore()).checks.allSatisfy(\.isFine))
        #expect(try await node.perform(GetStatus()).readOnlyReason == nil)
        await node.shutdown()
    }

    @Test("is not opened with a wrong passphrase or none, and nothing is changed by trying")
    func passphrase() async throws {
        let folder = try TemporaryFolder()
        let settings = try await made(folder.home("a"), passphrase: "right")
        let wrong = NodeSettings(home: settings.home, passphrase: Array("wrong".utf8))
        #expect(try await refusal(wrong).code == "wrong-passphrase")
        #expect(try await refusal(NodeSettings(home: settings.home)).code == "passphrase-needed")
        let file = folder.path + "/passphrase"
        try Data("wrong\n".utf8).write(to: URL(fileURLWithPath: file))
        let told = try await Program.run(
            "status", "--home", settings.home, "--passphrase-file", file)
        #expect(told.status == 1)
        #expect(told.output.contains("parley: error: The passphrase does not open"))
        #expect(told.output.contains("parley: hint: Try again"))
        try await examine(settings)
    }

    @Test("with a broken keystore is refused, and whole again once that is put back")
    func keystore() async throws {
        let folder = try TemporaryFolder()
        let settings = try await made(folder.home("a"))
        let file = URL(fileURLWithPath: settings.home + "/keystore")
        let whole = try Data(contentsOf: file)
        for place in [0, 5, 9, whole.count / 2, whole.count - 1] {
            var broken = whole
            broken[place] ^= 0x40
            try broken.write(to: file)
            #expect(try await refusal(settings).code == "keystore-broken", "at \(place)")
        }
        try whole.prefix(20).write(to: file)
        #expect(try await refusal(settings).code == "keystore-broken")
        try FileManager.default.removeItem(at: file)
        #expect(try await refusal(settings).code == "key-missing")
        try whole.write(to: file)
        // As a copy by hand often leaves it.
        let told = try await refusal(settings)
        #expect(told.code == "open-to-others" && told.hint?.contains("chmod") == true)
        chmod(file.path, 0o600)
        try await examine(settings)
    }

    @Test("with the database of another node, or one that is none, is refused")
    func foreignDatabase() async throws {
        let folder = try TemporaryFolder()
        let (own, other) = (try await made(folder.home("a")), try await made(folder.home("b")))
        let file = URL(fileURLWithPath: own.home + "/database")
        let mine = try Data(contentsOf: file)
        try Data(contentsOf: URL(fileURLWithPath: other.home + "/database")).write(to: file)
        #expect(try await refusal(own).code == "foreign-database")
        try Data(repeating: 7, count: 8192).write(to: file)
        #expect(try await refusal(own).code == "damaged")
        try mine.write(to: file)
        try await examine(own)
        try await examine(other)
    }

    @Test("in use by a process is refused to a second one, which is told by whom")
    func locked() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("a"), name: "ann", port: try FreePort.some())
        let client = try await node.start()
        let process = try #require(await node.processID)
        let error = try await refusal(NodeSettings(home: node.home))
        #expect(error.code == "locked")
        #expect(error.message.contains("process \(process) (parley run)"))
        let second = try await Program.run("run", "--home", node.home)
        #expect(second.status == 1)
        #expect(second.output.contains("parley: error: "))
        #expect(try await client.perform(GetStatus()).name == "ann")
        #expect(try await node.stop() == 0)
        await (try await Node.open(NodeSettings(home: node.home))).shutdown()
    }

    @Test(
        "that may not be written is read, and says so where it would be written",
        .enabled(if: SmallDisk.canMount, "only root may mount a disk for this"),
        arguments: [true, false])
    func readOnly(wasClosed: Bool) async throws {
        let folder = try TemporaryFolder()
        let disk = try SmallDisk(at: folder.path + "/disk", megabytes: 32)
        defer { disk.unmount() }
        let settings = try await made(folder.path + "/disk/a")
        var home = settings.home
        if !wasClosed {
            // As power that is lost, or a copy by hand, leaves it: the newest in the log of changes.
            let node = try await Node.open(settings)
            try await node.perform(SendMessages(conversation: "notes", texts: ["three"]))
            home = folder.path + "/disk/b"
            try FileManager.default.copyItem(atPath: settings.home, toPath: home)
            await node.shutdown()
        }
        let before = try files(in: home)
        try disk.makeReadOnly()
        let read = try await Program.run("read", "notes", "--home", home)
        #expect(read.status == 0 && read.output.contains("two"), "\(read.output)")
        #expect(read.output.contains("three") == !wasClosed)
        for words in [
            ["conversations"], ["status"], ["search", "one"], ["contacts"], ["doctor"],
            ["summary", "notes"], ["catchup"], ["questions", "notes"],
            ["action", "suggest", "notes"], ["decision", "suggest", "notes"],
        ] {
            let program = try Program(words + ["--home", home])
            #expect(try await program.ended() == 0, "\(words): \(program.output)")
        }
        // What would be refused is not advised.
        for (words, said) in [
            (["contacts"], "No contacts yet.\n"), (["relays"], "No relay yet.\n"),
            (["device", "list"], "You have one device.\n"),
        ] {
            let program = try Program(words + ["--home", home])
            #expect(try await program.ended() == 0)
            #expect(program.output.hasSuffix(said), "\(words): \(program.output)")
        }
        let cut = try await Program.run("offline", "on", "--home", home)
        #expect(cut.status == 1 && cut.output.contains("The node is not running:"), "\(cut.output)")
        #expect(!cut.output.contains("parley run"), "\(cut.output)")
        let found = try await Program.run("search", "one", "--home", home)
        #expect(
            found.output.contains("nothing more is indexed here: the home is read-only."),
            "\(found.output)")
        #expect(!found.output.contains("the rest follows"))
        let doctor = try await Program.run("doctor", "--home", home)
        #expect(doctor.output.contains("–  What is shown"), "\(doctor.output)")
        for words in [["send", "notes", "four"], ["run"], ["passphrase", "remove"]] {
            let program = try Program(words + ["--home", home])
            #expect(try await program.ended() == 1, "\(words): \(program.output)")
            #expect(program.output.contains("parley: error: "))
        }
        let sent = try await Program.run("send", "notes", "four", "--json", "--home", home)
        #expect(sent.output.contains(#""code":"read-only""#), "\(sent.output)")
        try disk.makeWritable()
        #expect(try files(in: home) == before)
        if wasClosed { try await examine(settings) }
    }

    /// Once these were refused there, though they only look.
    @Test(
        "that may not be written is compared with its index and its recovery code",
        .enabled(if: SmallDisk.canMount, "only root may mount a disk for this"))
    func comparedReadOnly() async throws {
        let folder = try TemporaryFolder()
        let disk = try SmallDisk(at: folder.path + "/disk", megabytes: 32)
        defer { disk.unmount() }
        let home = folder.path + "/disk/a"
        let (node, code) = try await Node.create(NodeSettings(home: home), name: "ann")
        try await node.perform(CreateConversation(name: "notes", members: []))
        await node.shutdown()
        let file = folder.path + "/code"
        try code.write(toFile: file, atomically: true, encoding: .utf8)
        try disk.makeReadOnly()
        for (words, said) in [
            (["search", "check"], "every indexed text can be found"),
            (["recovery", "check", "--code-file", file], "that is the recovery code of this node"),
            (
                ["presence"],
                "no node is running here, so nobody's presence is known: the home is read-only"
            ),
        ] {
            let program = try Program(words + ["--home", home])
            #expect(try await program.ended() == 0, "\(words): \(program.output)")
            #expect(program.output.contains(said), "\(words): \(program.output)")
        }
        try disk.makeWritable()
    }

    @Test(
        "of another user is told as that, and no node is said to run there",
        .enabled(if: geteuid() == 0, "only root may be somebody else"))
    func foreign() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("a"), name: "ann", port: try FreePort.some())
        let way = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", Program.path]
        for isRunning in [false, true] {
            if isRunning { try await node.start() }
            let other = try Program(["status", "--home", node.home], by: way)
            #expect(try await other.ended() == 1)
            #expect(
                other.output.contains("\(node.home) belongs to another user"), "\(other.output)")
            #expect(!other.output.contains("running node"), "\(other.output)")
        }
        #expect(try await node.stop() == 0)
    }

    private func files(in home: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: home) {
            files[name] = try Data(contentsOf: URL(fileURLWithPath: home + "/" + name))
        }
        return files
    }

    @Test(
        "on a disk that fills up says which lines were sent, and the same words go on there",
        .enabled(if: SmallDisk.canMount, "only root may mount a disk for this"))
    func halfSent() async throws {
        let folder = try TemporaryFolder()
        let disk = try SmallDisk(at: folder.path + "/disk", megabytes: 12)
        defer { disk.unmount() }
        let settings = try await made(folder.path + "/disk/a")
        let lines = (1...900).map { "line \($0) " + String(repeating: "x", count: 16_000) }
        let input = folder.path + "/lines"
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: input))
        let words = ["send", "notes", "--lines", "--home", settings.home]
        let stopped = try Piped.run(words, input: input)
        #expect(stopped.status == 1)
        #expect(stopped.output.contains("of 900 messages are saved, the others are not"))
        #expect(stopped.output.contains("The disk is full"), "\(stopped.output)")
        #expect(!stopped.output.contains("nothing was saved"))
        try disk.grow(to: 64)
        let rest = try Piped.run(words, input: input)
        #expect(rest.status == 0, "\(rest.output)")
        let node = try await Node.open(settings)
        let page = try await node.perform(ReadMessages(conversation: "notes", limit: 1000))
        var found = page.messages.compactMap(\.text)
        var cursor = page.cursor
        while let before = cursor {
            let page = try await node.perform(
                ReadMessages(conversation: "notes", before: before, limit: 1000))
            found = page.messages.compactMap(\.text) + found
            cursor = page.cursor
        }
        #expect(found == ["one", "two"] + lines, "each once, in order")
        await node.shutdown()
    }

    @Test(
        "is read by commands on a full disk, which is told where something would be written",
        .enabled(if: SmallDisk.canMount, "only root may mount a disk for this"))
    func fullFromTheStart() async throws {
        let folder = try TemporaryFolder()
        let disk = try SmallDisk(at: folder.path + "/disk", megabytes: 12)
        defer { disk.unmount() }
        let settings = try await made(folder.path + "/disk/a")
        try disk.fill()
        let read = try await Program.run("read", "notes", "--home", settings.home)
        #expect(read.status == 0 && read.output.contains("two"), "\(read.output)")
        for words in [["send", "notes", "three"], ["run", "--no-listen"]] {
            let program = try Program(words + ["--home", settings.home])
            #expect(try await program.ended() == 1, "\(words): \(program.output)")
            let fate = words[0] == "run" ? "the node does not start" : "this was not saved"
            #expect(
                program.output.contains("The disk is full: \(fate)"), "\(words): \(program.output)")
        }
        try disk.free()
        try await examine(settings)
    }

    @Test(
        "on a full disk frees what takes room",
        .enabled(if: SmallDisk.canMount, "only root may mount a disk for this"))
    func freeing() async throws {
        let folder = try TemporaryFolder()
        let disk = try SmallDisk(at: folder.path + "/disk", megabytes: 40)
        defer { disk.unmount() }
        let settings = try await made(folder.path + "/disk/a")
        let picture = folder.path + "/file"
        try Data(repeating: 7, count: 1_000_000).write(to: URL(fileURLWithPath: picture))
        for _ in 0..<2 {
            let sent = try await Program.run(
                "send", "notes", "--file", picture, "--home", settings.home)
            #expect(sent.status == 0, "\(sent.output)")
        }
        // A node that runs, and a command alone, which is only read from where the disk is full from the
        // start: there the room that is kept is given back, and the next one frees.
        let node = try await Node.open(settings)
        let list = try await node.perform(ListFiles())
        let numbers = list.entries.map(\.message.number)
        try #require(numbers.count == 2)
        try disk.fill()
        let freed = try await node.perform(
            ForgetFiles(message: MessageReference(numbers[0]), anyway: true))
        #expect(freed.count == 1 && freed.byteCount > 1_000_000)
        await node.shutdown()
        try disk.free()
        try await Node.open(settings).shutdown()
        try disk.fill()
        let words = ["files", "forget", "\(numbers[1])", "--anyway", "--home", settings.home]
        let first = try Program(words)
        if try await first.ended() != 0 {
            #expect(first.output.contains("Try again"), "\(first.output)")
            let second = try Program(words)
            #expect(try await second.ended() == 0, "\(second.output)")
        }
        try disk.free()
        let after = try await Node.open(settings)
        #expect(try await after.perform(GetFileRoom()).fileCount == 0)
        #expect(try await after.perform(ListFiles()).entries.count == 2)
        await after.shutdown()
    }

    @Test(
        "on a full disk is read on, refuses to write, and goes on once there is room",
        .enabled(if: SmallDisk.canMount, "only root may mount a disk for this"))
    func fullDisk() async throws {
        let folder = try TemporaryFolder()
        let disk = try SmallDisk(at: folder.path + "/disk", megabytes: 12)
        defer { disk.unmount() }
        let settings = try await made(folder.path + "/disk/a")
        let node = try await Node.open(settings)
        try disk.fill()
        // What is written goes over room that the database has already, as long as that lasts.
        var saved = ["one", "two"]
        var failure: NodeError?
        while failure == nil, saved.count < 1_000 {
            let text = "\(saved.count) " + String(repeating: "x", count: 20_000)
            do {
                try await node.perform(SendMessages(conversation: "notes", texts: [text]))
                saved.append(text)
            } catch let error as NodeError {
                failure = error
            }
        }
        #expect(failure?.code == "disk-full")
        let known = saved
        func newest(_ node: Node) async throws -> [String?] {
            try await node.perform(ReadMessages(conversation: "notes", limit: 1000))
                .messages.map(\.text)
        }
        #expect(try await newest(node) == known)
        #expect(
            try await node.perform(GetStatus()).warnings.contains {
                $0.contains("The disk is full: nothing is saved")
            })
        try disk.free()
        try await node.perform(SendMessages(conversation: "notes", texts: ["there is room"]))
        #expect(try await newest(node) == known + ["there is room"])
        #expect(try await node.perform(CheckStore()).checks.allSatisfy(\.isFine))
        await node.shutdown()
        let again = try await Node.open(settings)
        #expect(try await newest(again) == known + ["there is room"])
        #expect(try await again.perform(GetStatus()).readOnlyReason == nil)
        await again.shutdown()
    }
}

/// A file system in memory of a few megabytes; only the administrator may mount one.
struct SmallDisk {
    static let canMount: Bool = {
        guard let folder = try? TemporaryFolder(),
            let disk = try? SmallDisk(at: folder.path + "/disk", megabytes: 1)
        else { return false }
        disk.unmount()
        return true
    }()

    private let path: String

    init(at path: String, megabytes: Int) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Self.run("/bin/mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path)
    }

    func makeReadOnly() throws { try Self.run("/bin/mount", "-o", "remount,ro", path) }

    func makeWritable() throws { try Self.run("/bin/mount", "-o", "remount,rw", path) }

    /// Gives it more room.
    func grow(to megabytes: Int) throws {
        try Self.run("/bin/mount", "-o", "remount,size=\(megabytes)m", path)
    }

    /// Leaves no byte free.
    func fill() throws {
        let handle = fopen(path + "/filler", "we")
        defer { fclose(handle) }
        while fputs(String(repeating: "x", count: 4096), handle) >= 0, fflush(handle) == 0 {}
    }

    /// Gives that room back, also where a program that another test started meanwhile holds the
    /// file open.
    func free() throws {
        truncate(path + "/filler", 0)
        try FileManager.default.removeItem(atPath: path + "/filler")
    }

    func unmount() { try? Self.run("/bin/umount", "-l", path) }

    private static func run(_ program: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Late(description: program) }
    }
}

/// The program with a file as its input.
enum Piped {
    static func run(_ words: [String], input: String) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Program.path)
        process.arguments = words
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: input))
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
