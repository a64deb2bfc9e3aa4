import Parley
import ParleyLocalAPI
import Testing

/// Source: Protocol/05-identity.md, "Preferences".
@Suite("How long messages stay in conversations that one begins, at the command line")
struct UsualLifetimeProcessTests {
    @Test("is shown and set, holds for a group that is created then, and can be ended")
    func setting() async throws {
        let pair = try await ProcessPair()
        let ann = pair.ann
        let none = "conversations that you begin  messages stay\n"
        #expect(try await ann.run(["privacy", "disappear"]).output == none)
        let set = try await ann.run(["privacy", "disappear", "4w"])
        #expect(
            set.output
                == "conversations that you begin  messages disappear 4 weeks after they were read\n"
        )
        #expect(
            try await ann.run(["privacy", "disappear", "--json"]).output
                .contains("\"seconds\":2419200"))
        for wrong in [["0s"], ["400d"], ["soon"], ["1d", "--off"]] {
            #expect(try await ann.run(["privacy", "disappear"] + wrong).status == 64)
        }
        _ = try await ann.run(["group", "create", "walks", "ben"])
        let walks = try await ann.run(["conversations", "disappear", "walks"]).output
        #expect(
            walks == "walks  new messages disappear 4 weeks after they were read\n", "\(walks)")
        #expect(
            try await ann.run(["conversations", "disappear", "log"]).output
                == "log  new messages stay\n")
        #expect(try await ann.run(["privacy", "disappear", "--off"]).output == none)
        // What was there before is where it was.
        #expect(try await ann.run(["privacy"]).output.contains("read receipts"))
        _ = try await pair.ann.stop()
        _ = try await pair.ben.stop()
    }
}
