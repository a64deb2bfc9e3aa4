import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ben's home is copied, and both go on: ann has read what one wrote, cara what the other did.
@Suite("Two histories of one device", .timeLimit(.minutes(3)))
struct ForkedReadTests {
    @Test("are known to both, and what somebody has read of one stays shown as read there")
    func unread() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        try await all.meet(all.ann, all.cara, named: "cara")
        try await all.client(all.ann).perform(
            AddGroupMember(conversation: "club", person: "cara", role: .member))
        try await eventually("ben and cara are linked", on: [all.ben, all.cara]) {
            let links = try await all.client(all.ben).perform(GetStatus()).links
            return links.contains { $0.name == "cara" }
        }
        for node in [all.ben, all.cara] { #expect(try await node.stop() == 0) }
        let copy = NodeProcess(home: all.ben.home + "2", address: all.ben.address)
        try FileManager.default.copyItem(atPath: all.ben.home, toPath: copy.home)

        try await all.ben.start()
        try await says("one", by: all.ben, to: all.ann, all)
        for node in [all.ann, all.ben] { #expect(try await node.stop() == 0) }
        try await all.cara.start()
        try await copy.start()
        try await says("two", by: copy, to: all.cara, all)

        // Ann has the other branch, and the copy hears of it.
        try await all.ann.start()
        let client = try #require(await copy.client)
        try await eventually("the fork is proven", on: [copy, all.ann, all.cara]) {
            for node in [copy, all.ann, all.cara] {
                guard try await node.client?.perform(GetStatus()).forkedDevices.count == 1 else {
                    return false
                }
            }
            return true
        }
        // Cara has it, whatever others hold at its place.
        let last = try await client.perform(ReadMessages(conversation: "club", limit: 1)).messages
        #expect(last.map(\.state) == ["read"] && last.map(\.isStranded) == [false])
        let shown = try await copy.run("read", "club", "--newest").output
        let line = try #require(shown.split(separator: "\n").first { $0.contains("  two") })
        #expect(line.contains("✓✓ read") && !line.contains("never leaves"), "\(shown)")
        #expect(try await copy.run("status").output.contains("two-faced"))
        try await isAdvised(copy, known: all.ann)
        for node in [all.ann, all.cara, copy] { #expect(try await node.stop() == 0) }
    }

    /// The device itself is told the one way that is open to it, and who knows it whose it is.
    private func isAdvised(_ copy: NodeProcess, known ann: NodeProcess) async throws {
        let backup = "parley backup create --home \(copy.home) FILE"
        for words in [
            ["device", "list"], ["device", "link"], ["send", "club", "on"], ["status"],
        ] {
            let program = try Program(words + ["--home", copy.home])
            try await program.ended()
            #expect(program.output.contains(backup), "\(words): \(program.output)")
            #expect(program.output.contains("parley recover --home FOLDER"))
            #expect(!program.output.contains("device revoke"), "\(words): \(program.output)")
            #expect(!program.output.contains("adds another"), "\(words): \(program.output)")
        }
        for words in [["contacts"], ["why", "ben"], ["status"]] {
            let program = try Program(words + ["--home", ann.home])
            try await program.ended()
            #expect(
                program.output.contains("A device of ben"), "\(words): \(program.output)")
            #expect(program.output.contains("wrote two different histories"))
        }
        let forked = try await ann.client?.perform(GetStatus()).forkedDevices.first
        let device = String(try #require(forked).prefix(12))
        let why = try await Program.run("why", device, "--home", ann.home)
        #expect(
            why.output.contains(
                "somebody else may have its key; seen in club"), "\(why.output)")
    }

    /// One writes, another reads it, and the first knows.
    private func says(
        _ text: String, by author: NodeProcess, to reader: NodeProcess, _ all: Neighbours
    ) async throws {
        #expect(try await author.run("send", "club", text).status == 0)
        try await eventually("“\(text)” is there", on: [reader]) {
            try await all.texts("club", of: reader).contains(text)
        }
        #expect(try await reader.run("read", "club").output.contains(text))
        let client = try await all.client(author)
        try await eventually("“\(text)” is read", on: [author]) {
            try await client.perform(ReadMessages(conversation: "club", limit: 1)).messages
                .map(\.state) == ["read"]
        }
        #expect(try await author.run("read", "club", "--newest").output.contains("✓✓ read"))
    }
}
