import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire
import Testing

@testable import Parley

@Suite("Words that are not here")
struct AbsentWordsTests {
    /// Takes the payload out of the newest operation of what somebody wrote, as a deletion does that
    /// then counts no more.
    private func spoil(_ home: String) throws {
        let store = try SQLiteStore.open(home: Home(home), unlock: .keyFile)
        try store.transact(.full) {
            for space in try store.spaces() {
                for log in try store.logs(in: space.number)
                where log.lane == .content && log.end > 0 {
                    let last = try #require(try store.operation(at: log.end - 1, in: log.number))
                    try store.erase(last.number, commitment: Digest(reinterpreting: last.id))
                }
            }
        }
        try store.close()
    }

    @Test("are told to be missing to programs as to a person, and not to be saved")
    func missing() async throws {
        let folder = try TemporaryFolder()
        let settings = NodeSettings(home: folder.home("ann"))
        let (before, _) = try await Node.create(settings, name: "ann")
        try await before.perform(CreateConversation(name: "notes", members: []))
        let sent = try await before.perform(
            SendMessages(conversation: "notes", texts: ["one"]))
        await before.shutdown()
        try spoil(settings.home)
        let node = try await Node.open(settings)
        let shown = try await node.perform(ReadMessages(conversation: "notes", limit: 9)).messages
        #expect(shown.map(\.text) == [nil] && shown.map(\.isMissing) == [true])
        let facts = try await node.perform(ExplainState(subject: "\(sent[0].number)")).facts
        #expect(facts.contains { $0.what == "saved, without its text" }, "\(facts)")
        await node.shutdown()
    }
}
