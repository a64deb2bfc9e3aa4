import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Nobody takes what a former member wrote: who leaves first waits for it to be delivered.
@Suite("Leaving a group", .timeLimit(.minutes(5)))
struct LeavingProcessTests {
    @Test("is refused while nobody has the last messages, and then takes nothing along")
    func undelivered() async throws {
        let pair = try await ProcessPair()
        let ben = try #require(await pair.ben.client)
        try await pair.ann.kill()
        try await ben.perform(SendMessages(conversation: "log", texts: ["goodbye"]))
        do {
            try await ben.perform(LeaveGroup(conversation: "log"))
            Issue.record("left with a message that nobody has")
        } catch let error as NodeError {
            #expect(error.code == "undelivered")
            #expect(error.message.hasPrefix("Nobody in this group has 1 message of yours"))
            // Who hears of it before the leaving takes it: nobody knows who that will be.
            #expect(error.message.hasSuffix("once you have left others may not accept them."))
            #expect(error.hint?.contains("--anyway") == true)
        }
        let ann = try await pair.ann.start()
        try await eventually("ben has left", on: [pair.ann, pair.ben]) {
            do {
                try await ben.perform(LeaveGroup(conversation: "log"))
                return true
            } catch let error as NodeError where error.code == "undelivered" {
                return false
            }
        }
        try await eventually("ann knows it", on: [pair.ann, pair.ben]) {
            try await ann.perform(GetGroup(conversation: "log")).members.count == 1
        }
        let page = try await ann.perform(ReadMessages(conversation: "log", limit: 9))
        #expect(page.messages.last?.text == "goodbye")
        _ = try await pair.ann.stop()
        _ = try await pair.ben.stop()
    }

    @Test("waits where nobody can know of it, and then is told by whoever knows it")
    func untold() async throws {
        let pair = try await ProcessPair()
        let ben = pair.ben
        #expect(try await ben.run("offline", "on").status == 0)
        #expect(try await ben.run("send", "log", "goodbye").status == 0)
        #expect(try await ben.run("group", "leave", "log", "--anyway").status == 0)
        let outbox = try await ben.run("outbox").output
        #expect(outbox.contains("log  1 saved here  0 on a relay  0 changed  you left, "))
        #expect(outbox.contains("nobody there knows it yet: they may not accept what waits"))
        #expect(try await ben.run("status").output.contains("2 messages and changes"))
        #expect(try await ben.run("why", "log").output.contains("nobody there knows it yet"))
        let kept = try await ben.run("conversations", "delete", "log")
        #expect(kept.status == 1 && kept.output.contains("knows yet that you left"))
        #expect(try await ben.run("offline", "off").status == 0)
        try await eventually("ann knows it", on: [pair.ann, ben]) {
            try await ben.run("outbox").output == "Nothing waits.\n"
        }
        // Whether ann is there or not.
        try await pair.ann.kill()
        #expect(try await ben.run("outbox").output == "Nothing waits.\n")
        #expect(try await ben.run("status").output.contains("0 messages and changes"))
        #expect(try await ben.run("why", "log").output.contains("told to ann, "))
        #expect(try await ben.run("conversations", "delete", "log").status == 0)
        #expect(try await ben.stop() == 0)
    }

    @Test("keeps what was said there to be read, archived and deleted, though all have left")
    func everybody() async throws {
        let pair = try await ProcessPair()
        #expect(try await pair.ben.run("send", "log", "goodbye").status == 0)
        let ben = try #require(await pair.ben.client)
        try await eventually("ben has left", on: [pair.ann, pair.ben]) {
            do {
                try await ben.perform(LeaveGroup(conversation: "log"))
                return true
            } catch let error as NodeError where error.code == "undelivered" {
                return false
            }
        }
        try await eventually("ann knows it", on: [pair.ann, pair.ben]) {
            try await pair.ann.run("group", "show", "log").output.contains("ben") == false
        }
        #expect(try await pair.ann.run("group", "leave", "log", "--anyway").status == 0)
        for words in [["read", "log"], ["archive", "log"], ["why", "log"]] {
            let told = try await pair.ann.run(words)
            #expect(told.status == 0, "\(words): \(told.output)")
        }
        #expect(try await pair.ann.run("read", "log").output.contains("goodbye"))
        let gone = try await pair.ann.run("conversations", "delete", "log")
        #expect(gone.status == 0, "\(gone.output)")
        _ = try await pair.ann.stop()
        _ = try await pair.ben.stop()
    }
}
