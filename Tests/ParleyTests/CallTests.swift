import Foundation
import Parley
import Testing

/// A program for sound and pictures that a shell plays: every connection comes about at once.
let agreeableProgram = """
    while read -r line; do
      leg=${line#*'"leg":"'}; leg=${leg%%'"'*}
      say() { printf '{"news":"%s","leg":"%s","description":"%s"}\\n' "$1" "$leg" "$1"; }
      case "$line" in
        *'"order":"offer"'*) say offer ;;
        *'"order":"answer"'*) say answer; say connected ;;
        *'"order":"take"'*) say connected ;;
        *'"order":"end"'*) exit 0 ;;
      esac
    done
    """

/// Two who know each other and are linked.
struct CallPair {
    let folder: TemporaryFolder
    let ada: Node
    let ben: Node

    init(_ adasProgram: String? = agreeableProgram, _ bensProgram: String? = agreeableProgram)
        async throws
    {
        folder = try TemporaryFolder()
        ada = try await Node.create(NodeSettings(home: folder.home("ada")), name: "Ada").node
        ben = try await Node.create(NodeSettings(home: folder.home("ben")), name: "Ben").node
        for (node, program) in [(ada, adasProgram), (ben, bensProgram)] {
            try await node.start(listen: ["127.0.0.1:0"])
            if let program {
                _ = try await node.perform(SetMediaProgram(words: ["/bin/sh", "-c", program]))
            }
        }
        try await ben.perform(AcceptInvite(link: ada.perform(CreateInvite(hours: 1)).link))
        for (node, name) in [(ada, "Ben"), (ben, "Ada")] {
            try await eventually("the two have met", on: node) {
                try await $0.perform(ListConversations()).contains { $0.name == name }
            }
        }
    }

    func end() async {
        await ada.shutdown()
        await ben.shutdown()
    }
}

/// What is told of calls from now on.
struct CallNews {
    private var changes: AsyncStream<ChangeView>.Iterator

    init(of node: Node) async throws { changes = try await node.changes().makeAsyncIterator() }

    /// The next that suits; the suite's time limit ends a wait for nothing.
    mutating func next(_ suits: (CallView) -> Bool) async -> CallView? {
        while let change = await changes.next() {
            if let call = change.call, suits(call) { return call }
        }
        return nil
    }
}

@Suite("Calls between two nodes", .timeLimit(.minutes(4)))
struct CallTests {
    @Test("ring, are answered, mute, and end with a reason on both sides")
    func talk() async throws {
        let pair = try await CallPair()
        var (adas, bens) = (try await CallNews(of: pair.ada), try await CallNews(of: pair.ben))
        let call = try await pair.ada.perform(StartCall(conversation: "ben", media: ["microphone"]))
        #expect(call.state == "calling" && call.isOwn && call.name == "Ben")
        let rung = await bens.next { $0.state == "ringing" }
        #expect(rung?.caller == "Ada" && rung?.call == call.call)
        #expect(await adas.next { $0.rings == ["Ben"] } != nil)
        try await pair.ben.perform(AnswerCall(call: "", media: ["microphone", "camera"]))
        let isUp = { (call: CallView) in call.members.contains { $0.connection == "connected" } }
        let connecting = await adas.next { $0.state == "connecting" }
        #expect(connecting != nil && connecting?.milliseconds == nil)
        #expect(await adas.next(isUp)?.state == "talking")
        #expect(await bens.next(isUp)?.milliseconds != nil)
        try await pair.ben.perform(SetCallMedia(call: "ada", media: []))
        let muted = await adas.next { call in
            call.members.contains { $0.name == "Ben" && $0.media.isEmpty }
        }
        #expect(muted != nil)
        try await pair.ben.perform(HangUpCall(call: ""))
        #expect(await bens.next { $0.state == "ended" }?.reason == "you hung up")
        let ended = await adas.next { $0.state == "ended" }
        #expect(ended?.reason == "Ben hung up" && ended?.end == "hung-up-by-other")
        #expect(try await pair.ada.perform(ListCalls()).isEmpty)
        #expect(try await pair.ben.perform(ListCalls()).isEmpty)
        for node in [pair.ada, pair.ben] {
            try await eventually("both have it on record", on: node) {
                try await $0.perform(ListCallRecords()).map(\.outcome) == ["talked"]
            }
        }
        let record = try #require(
            try await pair.ben.perform(ListCallRecords(conversation: "ada")).first)
        #expect(record.caller == "Ada" && !record.isMissed && record.people.count == 2)
        await pair.end()
    }

    @Test("are declined, and given up")
    func declined() async throws {
        let pair = try await CallPair()
        var (adas, bens) = (try await CallNews(of: pair.ada), try await CallNews(of: pair.ben))
        try await pair.ada.perform(StartCall(conversation: "ben", media: []))
        _ = await bens.next { $0.state == "ringing" }
        try await pair.ben.perform(RejectCall(call: "ada"))
        #expect(await adas.next { $0.state == "ended" }?.reason == "Ben declined")
        _ = await bens.next { $0.end == "declined" }
        try await eventually("who declined is on record", on: pair.ada) {
            try await $0.perform(ListCallRecords()).map(\.declinedBy) == ["Ben"]
        }
        try await pair.ada.perform(StartCall(conversation: "ben", media: []))
        _ = await bens.next { $0.state == "ringing" }
        try await pair.ada.perform(HangUpCall(call: ""))
        #expect(await bens.next { $0.state == "ended" }?.reason == "you missed the call")
        await pair.end()
    }

    @Test("in a group that one declined are not missed, whoever else could have come")
    func declinedInGroup() async throws {
        let pair = try await CallPair()
        let cara = try await Node.create(NodeSettings(home: pair.folder.home("cara")), name: "Cara")
            .node
        try await cara.start(listen: ["127.0.0.1:0"])
        try await cara.perform(AcceptInvite(link: pair.ada.perform(CreateInvite(hours: 1)).link))
        try await eventually("cara is met", on: pair.ada) {
            try await $0.perform(ListConversations()).contains { $0.name == "Cara" }
        }
        try await pair.ben.perform(SetAdditionPolicy(policy: .contacts))
        try await pair.ada.perform(CreateConversation(name: "club", members: ["Ben", "Cara"]))
        try await eventually("ben takes part", on: pair.ada) {
            try await $0.perform(GetGroup(conversation: "club")).members.contains {
                $0.name == "Ben" && !$0.isInvited
            }
        }
        await cara.shutdown()
        var bens = try await CallNews(of: pair.ben)
        try await pair.ada.perform(StartCall(conversation: "club", media: []))
        _ = await bens.next { $0.state == "ringing" }
        try await pair.ben.perform(RejectCall(call: "club"))
        try await pair.ada.perform(HangUpCall(call: ""))
        try await eventually("ben has it on record", on: pair.ben) {
            let isOver = try await $0.perform(ListCalls()).isEmpty
            let outcomes = try await $0.perform(ListCallRecords()).map(\.outcome)
            return isOver && outcomes == ["cancelled"]
        }
        let record = try #require(
            try await pair.ben.perform(ListCallRecords(conversation: "club")).first)
        #expect(record.isDeclined && !record.isMissed)
        await pair.end()
    }

    @Test("end with the program's own words where it fails")
    func failure() async throws {
        let pair = try await CallPair(
            "read line; read line; echo no microphone >&2; exit 3", agreeableProgram)
        var (adas, bens) = (try await CallNews(of: pair.ada), try await CallNews(of: pair.ben))
        try await pair.ada.perform(StartCall(conversation: "ben", media: ["microphone"]))
        _ = await bens.next { $0.state == "ringing" }
        // It may be over by the time that the answer is shown.
        do { _ = try await pair.ben.perform(AnswerCall(call: "", media: ["microphone"])) } catch {
            #expect((error as? NodeError)?.code == "call-over")
        }
        // Whether it makes the offer or not is drawn with their names: either way it is told more
        // than a line.
        let ended = await adas.next { $0.state == "ended" }
        #expect(ended?.end == "media-failed")
        #expect(ended?.reason?.hasSuffix("ended with status 3: no microphone") == true)
        #expect(await bens.next { $0.state == "ended" } != nil)
        await pair.end()
    }

    @Test("whose caller's program ends are not said to be unanswered, and are missed all the same")
    func callersFailure() async throws {
        let pair = try await CallPair("sleep 1; kill -SEGV $$", agreeableProgram)
        var adas = try await CallNews(of: pair.ada)
        try await pair.ada.perform(StartCall(conversation: "ben", media: ["microphone"]))
        let ended = await adas.next { $0.state == "ended" }
        #expect(ended?.reason?.hasSuffix("ended by signal 11") == true, "\(ended?.reason ?? "")")
        for node in [pair.ada, pair.ben] {
            try await eventually("it is on record", on: node) {
                try await $0.perform(ListCallRecords()).map(\.outcome) == ["cancelled"]
            }
        }
        #expect(try await pair.ben.perform(ListCallRecords()).first?.isMissed == true)
        await pair.end()
    }

    @Test("can be answered once a program was named, where they rang without one")
    func lateProgram() async throws {
        let pair = try await CallPair(agreeableProgram, nil)
        var (adas, bens) = (try await CallNews(of: pair.ada), try await CallNews(of: pair.ben))
        try await pair.ada.perform(StartCall(conversation: "ben", media: ["microphone"]))
        _ = await bens.next { $0.state == "aside" }
        _ = try await pair.ben.perform(SetMediaProgram(words: ["/bin/sh", "-c", agreeableProgram]))
        try await pair.ben.perform(AnswerCall(call: "ada", media: ["microphone"]))
        #expect(await bens.next { $0.state == "talking" } != nil)
        #expect(await adas.next { $0.state == "talking" } != nil)
        await pair.end()
    }

    @Test("are refused with a reason where they cannot be")
    func refusals() async throws {
        let pair = try await CallPair(agreeableProgram, nil)
        func code(_ body: () async throws -> Void) async -> String? {
            let error = await #expect(throws: NodeError.self) { try await body() }
            return error?.code
        }
        let (ada, ben) = (pair.ada, pair.ben)
        #expect(
            await code { _ = try await ben.perform(StartCall(conversation: "ada", media: [])) }
                == "no-media-program")
        #expect(
            await code {
                _ = try await ada.perform(StartCall(conversation: "ben", media: ["smell"]))
            }
                == "bad-media")
        #expect(
            await code { _ = try await ada.perform(StartCall(conversation: "cleo", media: [])) }
                == "unknown-conversation")
        try await ada.perform(CreateConversation(name: "notes", members: []))
        #expect(
            await code { _ = try await ada.perform(StartCall(conversation: "notes", media: [])) }
                == "nobody")
        #expect(await code { try await ada.perform(HangUpCall(call: "")) } == "unknown-call")
        #expect(await code { try await ada.perform(RejectCall(call: "ben")) } == "unknown-call")
        #expect(
            await code { _ = try await ada.perform(AnswerCall(call: "", media: [])) }
                == "unknown-call")
        #expect(
            await code { try await ada.perform(SetPresence(presence: "asleep")) } == "bad-presence")
        #expect(
            await code { _ = try await ada.perform(SetPrivacy(told: "some")) } == "bad-privacy")
        var bens = try await CallNews(of: ben)
        try await ada.perform(StartCall(conversation: "ben", media: []))
        #expect(
            await code { _ = try await ada.perform(StartCall(conversation: "ben", media: [])) }
                == "busy")
        // Without a program it does not go on ringing, and says why.
        let stopped = await bens.next { $0.end == "media-failed" }
        #expect(stopped?.reason == "this device has no program for sound and pictures")
        await pair.end()
    }

    @Test("who types and who is there is shown, and kept by nobody")
    func presence() async throws {
        let pair = try await CallPair(nil, nil)
        let changes = try await pair.ben.changes()
        try await pair.ada.perform(SetTyping(conversation: "ben", on: true))
        try await pair.ada.perform(SetPresence(presence: "online"))
        var (typing, presence): ([String]?, String?) = (nil, nil)
        for await change in changes {
            typing = change.typing ?? typing
            presence = change.presence ?? presence
            if typing != nil, presence != nil { break }
        }
        #expect(typing == ["Ada"] && presence == "online")
        #expect(try await pair.ben.perform(ListPresences()).people.map(\.presence) == ["online"])
        let told = try await pair.ada.perform(SetPrivacy(told: "nothing", person: "ben"))
        #expect(told.own == "online" && told.people.map(\.told) == ["nothing"])
        try await eventually("ben is told nothing", on: pair.ben) {
            try await $0.perform(ListPresences()).people.map(\.presence) == ["offline"]
        }
        await pair.end()
    }
}
