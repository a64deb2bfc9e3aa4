import Foundation
import Parley
import Testing

@Suite("Logs that are brought in again", .timeLimit(.minutes(2)))
struct ImportAgainTests {
    @Test("grow, repeat on another day, and begin with a byte order mark")
    func again() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        #expect(try await Program.run("init", "--name", "ann", "--home", home).status == 0)
        func bring(_ name: String, _ text: String) async throws -> String {
            let file = folder.path + "/" + name
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            return try await Program.run(
                "import", "irc", file, "--into", "old", "--json", "--home", home
            ).output
        }
        func lines(_ count: Int) -> String {
            (0..<count).map { "[10:00] <a> line \($0)\n" }.joined()
        }
        #expect(try await bring("2021-03-01.log", lines(300)).contains(#""stored":300"#))
        let grown = try await bring("2021-03-01.log", lines(400))
        #expect(grown.contains(#""stored":100"#) && grown.contains(#""known":300"#), "\(grown)")
        let next = try await bring("2021-03-02.log", lines(400))
        #expect(next.contains(#""stored":400"#), "\(next)")
        let marked = try await bring("2021-03-03.log", "\u{FEFF}[09:00] <bot> good morning\n")
        #expect(marked.contains(#""stored":1"#), "\(marked)")
    }
}

/// Somebody brings in words under other names: who it was is seen beside them.
@Suite("Imported words", .timeLimit(.minutes(3)))
struct ImportProcessTests {
    @Test("are shown with who brought them in, on the screen and to programs, on both sides")
    func bringer() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let log = all.folder.path + "/2004-12-25.log"
        // As if ben had said so.
        try Data("[09:14] <ben> I owe ann a hundred\n[09:15] <zoe> me too\n".utf8)
            .write(to: URL(fileURLWithPath: log))
        #expect(try await all.ann.run("import", "irc", log, "--into", "club").status == 0)
        try await eventually("ben has it", on: [all.ben]) {
            try await all.texts("club", of: all.ben).count == 3
        }
        for (node, bringer) in [(all.ann, "ann"), (all.ben, "ann")] {
            let shown = try await node.run("read", "club").output
            for words in ["ben  I owe ann a hundred", "zoe  me too"] {
                #expect(shown.contains("\(words)  (imported by \(bringer))"), "\(shown)")
            }
            let page = try JSONDecoder().decode(
                MessagePage.self,
                from: Data(try await node.run("read", "club", "--newest", "--json").output.utf8))
            let own = try #require(page.messages.first { $0.text == "welcome" })
            #expect(!own.isImported && own.importedBy == nil)
            let imported = page.messages.filter(\.isImported)
            #expect(imported.map(\.author).sorted() == ["ben", "zoe"])
            #expect(imported.allSatisfy { $0.importedBy == bringer && $0.person == own.person })
        }
        try await all.end()
    }
}
