import Parley
import Testing

@Suite("A recovery code that was used twice", .timeLimit(.minutes(4)))
struct RecoveredTwiceTests {
    /// Once contacts were told of a device that no command knew.
    @Test("is named as such to contacts and to its person, with what can be done")
    func told() async throws {
        let folder = try TemporaryFolder()
        let (ann, code) = try await Node.create(
            NodeSettings(home: folder.home("ann")), name: "ann")
        let (ben, _) = try await Node.create(NodeSettings(home: folder.home("ben")), name: "ben")
        try await ben.start(listen: ["127.0.0.1:0"])
        try await ann.start(listen: ["127.0.0.1:0"])
        try await ann.perform(AcceptInvite(link: ben.perform(CreateInvite(hours: 1)).link))
        for (node, name) in [(ann, "ben"), (ben, "ann")] {
            try await eventually("they meet", on: node) {
                try await $0.perform(ListConversations()).contains { $0.name == name }
            }
        }
        let file = folder.path + "/backup"
        try await ann.perform(CreateBackup(file: file, replacing: false))
        await ann.shutdown()
        func comeBack(_ home: String) async throws -> Node {
            let (node, _) = try await Node.restore(
                NodeSettings(home: folder.home(home)), backup: file, recoveryCode: code)
            try await node.start(listen: ["127.0.0.1:0"])
            return node
        }
        let first = try await comeBack("first")
        let device = try await first.perform(GetStatus()).device
        try await eventually("ben knows the first", on: ben) {
            try await $0.perform(GetStatus()).links.contains { $0.device == device }
        }
        #expect(try await ben.perform(GetStatus()).notices.isEmpty)
        // The first is away: somebody else's copy would not call either.
        await first.shutdown()
        let second = try await comeBack("second")
        try await eventually("ben is told", on: ben) {
            try await !$0.perform(GetStatus()).notices.isEmpty
        }
        let notice = try #require(try await ben.perform(GetStatus()).notices.first)
        #expect(notice.hasPrefix("The recovery code of ann was used twice"), "\(notice)")
        #expect(notice.contains("parley contact block"), "\(notice)")
        #expect(try await ben.perform(ListContacts()).first?.notices == [notice])
        // She hears of it from ben, and can revoke what she does not know.
        try await eventually("she is told", on: second) {
            try await $0.perform(GetStatus()).notices.contains {
                $0.hasPrefix("Your recovery code was used twice")
            }
        }
        #expect(try await second.perform(ListDevices()).contains { $0.device == device })
        for node in [second, ben] { await node.shutdown() }
    }
}
