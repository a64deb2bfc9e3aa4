import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("Files that were freed and fetched again", .serialized, .timeLimit(.minutes(4)))
struct ForgottenFileTests {
    private func lack(_ client: NodeClient) async throws -> [String] {
        try await client.perform(GetStatus()).files.lackedBy.map { "\($0.name) \($0.count)" }
    }

    @Test("a file that goes to nobody is not sealed first, and takes no room")
    func toNobody() async throws {
        let pair = try await ProcessPair()
        let (folder, ann) = (try TemporaryFolder(), pair.ann)
        let path = folder.home("file.bin")
        try Data(repeating: 7, count: 300_000).write(to: URL(filePath: path))
        let sent = try await ann.run("send", "nobody", "--file", path)
        #expect(sent.status == 1 && sent.output.contains("nobody"), "\(sent.output)")
        let kept = try? FileManager.default.contentsOfDirectory(atPath: ann.home + "/files")
        #expect(kept?.isEmpty != false, "\(kept ?? [])")
        #expect(try await ann.run("send", "log", "--file", path).status == 0)
        let sealed = try FileManager.default.contentsOfDirectory(atPath: ann.home + "/files")
        #expect(!sealed.isEmpty, "that is where it would lie")
    }

    /// Once the sender no longer named those who lack it, nor who has it.
    @Test("of a file that one sent it stays known who lacks it and who has it")
    func own() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        try await all.meet(all.ann, all.cara, named: "cara")
        let ann = try await all.client(all.ann)
        try await ann.perform(CreateConversation(name: "club", members: ["ben", "cara"]))
        try await eventually("all take part", on: [all.ann]) {
            let members = try await ann.perform(GetGroup(conversation: "club")).members
            return members.count == 3 && members.allSatisfy { !$0.isInvited }
        }
        #expect(try await all.cara.stop() == 0)
        let path = all.folder.home("file.bin")
        try Data(repeating: 7, count: 300_000).write(to: URL(filePath: path))
        #expect(try await all.ann.run("send", "club", "--file", path).status == 0)
        func file() async throws -> FileView? {
            try await ann.perform(ListFiles()).entries.first?.message.files.first
        }
        try await eventually("ben has it", on: [all.ann]) {
            try await file()?.holders == ["ben"]
        }
        #expect(try await lack(ann) == ["cara 1"])
        let id = try #require(try await ann.perform(ListFiles()).entries.first).message.id
        #expect(try await all.ann.run("files", "forget", id).status == 0)
        #expect(try await file()?.state == "absent")
        #expect(try await lack(ann) == ["cara 1"])
        #expect(try await all.ann.run("files", "get", id).status == 0)
        try await eventually("it is back", on: [all.ann]) { try await file()?.state == "here" }
        #expect(try await lack(ann) == ["cara 1"])
        #expect(try await file()?.holders == ["ben"])
        let why = try await all.ann.run("files", "why", id).output
        #expect(why.contains("On devices of: ben."), "\(why)")
        let outbox = try await all.ann.run("outbox").output
        #expect(outbox.contains("cara lacks 1 file of yours"), "\(outbox)")
        try await all.end()
    }
}
