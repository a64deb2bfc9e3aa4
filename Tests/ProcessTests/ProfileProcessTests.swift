import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("Profiles and descriptions at the command line", .serialized, .timeLimit(.minutes(3)))
struct ProfileProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("contacts see what one says of oneself, as it is now")
    func profile() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "hello")
        let ben = try await all.client(all.ben)
        let said = try await run(
            "profile", "--status", "at the lake", "--time-zone", "Europe/Berlin", at: all.ann)
        #expect(said.contains("at the lake") && said.contains("Europe/Berlin"), "\(said)")
        try await eventually("ben sees it", on: [all.ben]) {
            try await ben.perform(GetProfile(person: "ann")).status == "at the lake"
        }
        let shown = try await run("profile", "ann", at: all.ben)
        #expect(shown.contains("time zone  Europe/Berlin"), "\(shown)")
        _ = try await run("profile", "--status", "", at: all.ann)
        try await eventually("ben sees that it is gone", on: [all.ben]) {
            try await ben.perform(GetProfile(person: "ann")).status == nil
        }
        #expect(try await ben.perform(GetProfile(person: "ann")).timeZone == "Europe/Berlin")
        let refused = try await Program.run(
            "profile", "--time-zone", "on the moon", "--home", all.ann.home)
        #expect(refused.status == 1 && refused.output.contains("Europe/Berlin"), "\(refused)")
        let long = try await Program.run(
            "profile", "--status", String(repeating: "x", count: 400), "--home", all.ann.home)
        #expect(long.status == 1 && long.output.contains("x…” cannot be used for that"), "\(long)")
        #expect(!long.output.contains(String(repeating: "x", count: 81)), "\(long)")
        for (option, value) in [("--time-zone", "Mars/X"), ("--language", "german!")] {
            let refused = try await Program.run("profile", option, value, "--home", all.ann.home)
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.output.contains("“\(value)” cannot be used for that"), "\(refused)")
        }
        let spoken = try await run("profile", "--language", "pt-BR", at: all.ann)
        #expect(spoken.contains("pt-BR") && spoken.contains("Europe/Berlin"), "\(spoken)")
        try await all.end()
    }

    @Test("a group is described by its admins, for all in it")
    func description() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "hello")
        let ben = try await all.client(all.ben)
        let said = try await run("group", "describe", "club", "books, monthly", at: all.ann)
        #expect(said.contains("books, monthly"), "\(said)")
        try await eventually("ben sees it", on: [all.ben]) {
            try await ben.perform(GetGroup(conversation: "club")).description == "books, monthly"
        }
        #expect(try await run("group", "show", "club", at: all.ben).contains("  books, monthly"))
        let refused = try await Program.run(
            "group", "describe", "club", "mine", "--home", all.ben.home)
        #expect(refused.status == 1, "\(refused)")
        #expect(
            refused.output.contains("Only an owner or an admin of the group may do that."),
            "\(refused)")
        let remark = [0xFF, 0xFE, 0, 8] + Array("SECRET".utf8)
        let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8, 0, 48, 0, 64, 1, 1, 0x11, 0]
        let scan =
            [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0] + [UInt8](repeating: 7, count: 30_000)
            + [0xFF, 0xD9]
        let picture = Data([0xFF, 0xD8] + frame + scan)
        let shown = Data([0xFF, 0xD8] + remark + frame + scan).base64EncodedString()
        let ann = try await all.client(all.ann)
        try await ann.perform(ChangeGroupPicture(conversation: "club", picture: shown))
        try await eventually("ben is shown it", on: [all.ben]) {
            try await ben.perform(GetGroup(conversation: "club")).hasPicture
        }
        let file = all.folder.home("club.jpg")
        let saved = try await run("group", "picture", "club", "--save", file, at: all.ben)
        #expect(saved == "saved \(file)\n", "\(saved)")
        #expect(try Data(contentsOf: URL(filePath: file)) == picture)
        for words in [["--save", file], ["--remove"], [file]] {
            let refused = try Program(
                ["group", "picture", "club"] + words + ["--home", all.ben.home])
            #expect(try await refused.ended() == 1, "\(words): \(refused.output)")
        }
        _ = try await run("group", "picture", "club", "--remove", at: all.ann)
        try await eventually("ben sees that it is gone", on: [all.ben]) {
            try await !ben.perform(GetGroup(conversation: "club")).hasPicture
        }
        _ = try await run("group", "describe", "club", "--remove", at: all.ann)
        try await eventually("ben sees that it is gone", on: [all.ben]) {
            try await ben.perform(GetGroup(conversation: "club")).description == nil
        }
        try await all.end()
    }
}
