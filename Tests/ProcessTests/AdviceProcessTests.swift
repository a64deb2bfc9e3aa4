import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("What commands advise can be done", .serialized, .timeLimit(.minutes(3)))
struct AdviceProcessTests {
    private func made(_ folder: TemporaryFolder, _ name: String) async throws -> (
        home: String, code: String
    ) {
        let home = folder.home(name)
        let made = try await Program.run("init", "--home", home, "--name", name)
        #expect(made.status == 0)
        let code = made.output.split(separator: "\n").map(String.init).first {
            $0.split(separator: "-").count == 14
        }
        let file = folder.path + "/\(name).code"
        try Data(try #require(code).utf8).write(to: URL(filePath: file))
        return (home, file)
    }

    @Test("a backup never takes another person's place, and proving it is said with its name")
    func backups() async throws {
        let folder = try TemporaryFolder()
        let (ada, adasCode) = try await made(folder, "ada")
        let (ben, _) = try await made(folder, "ben")
        let file = folder.path + "/a backup"
        func create(_ home: String, _ more: String...) async throws -> (Int32, String) {
            let program = try Program(["backup", "create", file, "--home", home] + more)
            return (try await program.ended(), program.output)
        }
        let first = try await create(ada)
        #expect(first.0 == 0 && first.1.contains("parley backup verify '\(file)'"), "\(first.1)")
        let bytes = try Data(contentsOf: URL(filePath: file))
        for more in [[], ["--replace"]] {
            let program = try Program(["backup", "create", file, "--home", ben] + more)
            #expect(try await program.ended() == 1)
            #expect(program.output.contains("another person's"), "\(program.output)")
            let today = MomentWords(.current).day(UInt64(Date.now.timeIntervalSince1970 * 1_000))
            #expect(
                program.output.contains("written on \(today.dropFirst(4)) "), "\(program.output)")
            #expect(!program.output.contains("UTC"))
            #expect(try Data(contentsOf: URL(filePath: file)) == bytes)
        }
        let again = try await create(ada)
        #expect(again.0 == 1 && again.1.contains("--replace"), "\(again.1)")
        #expect(try Data(contentsOf: URL(filePath: file)) == bytes)
        #expect(try await create(ada, "--replace").0 == 0)
        let proven = try await Program.run(
            "backup", "verify", file, "--code-file", adasCode)
        #expect(proven.status == 0)
    }

    @Test("a restored home says that whoever looks at it tells others of it")
    func restored() async throws {
        let folder = try TemporaryFolder()
        let (ada, code) = try await made(folder, "ada")
        let (file, new) = (folder.path + "/backup", folder.home("new"))
        #expect(try await Program.run("backup", "create", file, "--home", ada).status == 0)
        let restored = try await Program.run(
            "backup", "restore", file, "--home", new, "--code-file", code, "--yes")
        #expect(restored.status == 0, "\(restored.output)")
        let said = restored.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            said.contains(
                "the others do not know yet that this device is yours and the revoked ones are not"),
            "\(said)")
        #expect(said.contains("next: parley run --home \(new)"), "\(said)")
    }

    @Test("a hint has a home behind a command that takes one, and behind no other")
    func homes() async throws {
        let folder = try TemporaryFolder()
        let (ada, _) = try await made(folder, "ada")
        let nobody = try await Program.run("contacts", "--home", ada)
        #expect(
            nobody.output.contains("No contacts yet. `parley invite --home"), "\(nobody.output)")
        #expect(try await Program.run("group", "create", "notes", "--home", ada).status == 0)
        #expect(try await Program.run("send", "notes", "one", "--home", ada).status == 0)
        let lost = try await Program.run("reply", "notes", "999", "x", "--home", ada)
        #expect(lost.output.contains("parley read --home \(ada) CONVERSATION"), "\(lost.output)")
        let page = try await Program.run("read", "notes", "--json", "--home", ada)
        let number = try JSONDecoder().decode(
            MessagePage.self, from: Data(page.output.utf8)
        ).messages.first?.number
        // No model is there: the hint stands as the command that installs one takes it.
        let similar = try Program(
            ["similar", "\(try #require(number))", "--home", ada],
            environment: ["PARLEY_MODELS": folder.path + "/none"])
        #expect(try await similar.ended() == 1)
        #expect(similar.output.contains("parley model install"), "\(similar.output)")
        #expect(!similar.output.contains("install --home"), "\(similar.output)")
    }

    @Test("without its keys a home says what is left to do, in words")
    func keys() async throws {
        let folder = try TemporaryFolder()
        let (ada, _) = try await made(folder, "ada")
        for (name, bytes) in [
            ("key", Data(repeating: 7, count: 32)), ("keystore", Data("no keystore".utf8)),
            ("key", nil), ("keystore", nil),
        ] {
            let file = URL(filePath: ada + "/" + name)
            let whole = try Data(contentsOf: file)
            try FileManager.default.removeItem(at: file)
            if let bytes {
                try bytes.write(to: file)
                chmod(file.path, 0o600)
            }
            let refused = try await Program.run("status", "--home", ada)
            #expect(refused.status == 1)
            #expect(refused.output.contains("parley recover --home FOLDER"), "\(refused.output)")
            #expect(refused.output.contains("parley device link"))
            #expect(!refused.output.contains("notAKeystore"), "\(refused.output)")
            try whole.write(to: file)
            chmod(file.path, 0o600)
        }
        #expect(try await Program.run("status", "--home", ada).status == 0)
    }

    @Test(
        "a text for a new device is not spent on a disk without room, and is void with its command")
    func links() async throws {
        let folder = try TemporaryFolder()
        let ann = try await NodeProcess(
            home: folder.home("ann"), name: "ann", port: try FreePort.some())
        try await ann.start()
        func offer() async throws -> (Program, String) {
            let link = try Program(["device", "link", "--home", ann.home])
            try await link.says("waiting for")
            let text = link.output.split(separator: "\n").first { $0.hasPrefix("parley-") }
            return (link, String(try #require(text)))
        }
        // More than once: a signal right behind the words that it is waited for was lost now and then.
        var void = ""
        for _ in 0..<4 {
            let (ended, text) = try await offer()
            ended.signal(SIGTERM)
            #expect(try await ended.ended() == 130)
            #expect(ended.output.contains("the text no longer works"), "\(ended.output)")
            void = text
        }
        let late = try await Program.run(
            "device", "accept-link", void, "--home", folder.home("late"))
        #expect(late.status == 1, "\(late.output)")

        let (link, text) = try await offer()
        let home = folder.home("phone")
        let accept = ["device", "accept-link", text, "--name", "phone", "--home", home]
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        // Only who may mount has so small a disk.
        if getuid() != 0 {
            link.signal(SIGTERM)
            return
        }
        let small = try Program(
            accept,
            by: [
                "unshare", "--mount", "sh", "-c",
                "mount -t tmpfs -o size=1m,mode=700 none \"$0\" && exec \"$@\"", home,
                Program.path,
            ])
        #expect(try await small.ended() == 1)
        #expect(small.output.contains("is full"), "\(small.output)")
        #expect(!small.output.contains("[Parley]"), "\(small.output)")
        let accepted = try Program(accept)
        #expect(try await accepted.ended() == 0, "\(accepted.output)")
        #expect(try await link.ended() == 0)
        // What is to be done on the other device is not said of this home.
        let used = try await Program.run(
            "device", "accept-link", text, "--home", folder.home("tablet"))
        #expect(used.status == 1 && used.output.contains("there: “parley device link”"))
        #expect(!used.output.contains("link --home"), "\(used.output)")
        #expect(try await ann.stop() == 0)
    }
}
