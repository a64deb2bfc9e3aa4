import Foundation
import Parley
import Testing

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
