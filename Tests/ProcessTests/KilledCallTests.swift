import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Two nodes in processes of their own, and programs for sound and pictures that a shell plays.
///
/// What goes to and fro is a named pipe that Ben's program holds open: Ann's notices when it does
/// so no more, as it would notice that nothing comes through.
private struct CallPair {
    let pair: ProcessPair
    var ann: NodeProcess { pair.ann }
    var ben: NodeProcess { pair.ben }

    init() async throws {
        pair = try await ProcessPair()
        let pipe = pair.folder.path + "/pipe"
        guard mkfifo(pipe, 0o600) == 0 else { throw Late(description: "no pipe at \(pipe)") }
        let programs = [
            (ann, Self.program("{ cat <\(pipe); say disconnected; } &")),
            (ben, Self.program("exec 3<>\(pipe)")),
        ]
        for (node, program) in programs {
            try await node.client?.perform(SetMediaProgram(words: ["/bin/sh", "-c", program]))
        }
    }

    /// - Parameter up: what it does once the connection stands.
    private static func program(_ up: String) -> String {
        """
        while read -r line; do
          leg=${line#*'"leg":"'}; leg=${leg%%'"'*}
          say() { printf '{"news":"%s","leg":"%s","description":"%s"}\\n' "$1" "$leg" "$1"; }
          stand() { \(up)
          say connected; }
          case "$line" in
            *'"order":"offer"'*) say offer ;;
            *'"order":"answer"'*) say answer; stand ;;
            *'"order":"take"'*) stand ;;
            *'"order":"end"'*) exit 0 ;;
          esac
        done
        """
    }

    /// Ann calls, and Ben rings.
    func ring() async throws {
        try await ann.client?.perform(StartCall(conversation: "ben", media: ["microphone"]))
        try await eventually("ben rings", on: [ben]) {
            try await state(of: ben) == ["ringing"]
        }
    }

    /// Ben answers, and they are heard.
    func answer() async throws {
        try await ben.client?.perform(AnswerCall(call: "", media: ["microphone"]))
        try await eventually("they talk", on: [ann, ben]) {
            let both = try await (connection(of: ann), connection(of: ben))
            return both == ("connected", "connected")
        }
    }

    func state(of node: NodeProcess) async throws -> [String] {
        try await node.client?.perform(ListCalls()).map(\.state) ?? []
    }

    private func connection(of node: NodeProcess) async throws -> String? {
        try await node.client?.perform(ListCalls()).first?.members.compactMap(\.connection).first
    }

    /// What a node shows of calls that are over; who looks at it makes no difference.
    private func records(of node: NodeProcess) async throws -> [CallRecordView] {
        let records = try await node.client?.perform(ListCallRecords()) ?? []
        return records.map { record in
            var record = record
            (record.name, record.isOwn, record.isMissed) = ("", false, false)
            (record.wasIn, record.others) = (false, [])
            return record
        }
    }

    /// Waits until both show the same of one call, and that nothing goes on.
    func agree() async throws -> CallRecordView {
        try await eventually("one record, and silence", on: [ann, ben]) {
            let all = try await (records(of: ann), records(of: ben))
            let isSilent = try await state(of: ann) + state(of: ben) == []
            return isSilent && all.0 == all.1 && all.0.count == 1
        }
        return try #require(try await ben.client?.perform(ListCallRecords()).first)
    }

    /// One can be called again, and answers.
    func callAgain() async throws {
        try await ring()
        try await answer()
        try await ben.client?.perform(HangUpCall(call: ""))
        try await eventually("it is over", on: [ann, ben]) {
            try await state(of: ann) + state(of: ben) == []
        }
    }
}

@Suite("Calls whose node is killed", .timeLimit(.minutes(6)))
struct KilledCallTests {
    @Test(
        "end for who is left with a reason, and are on record with both",
        arguments: [false, true])
    func called(comesBackAtOnce: Bool) async throws {
        let calls = try await CallPair()
        let watcher = try #require(try await NodeClient.connect(home: calls.ann.home))
        var changes = try await watcher.changes().makeAsyncIterator()
        try await calls.ring()
        try await calls.answer()
        try await calls.ben.kill()
        let killed = ContinuousClock.now
        if comesBackAtOnce { try await calls.ben.start() }
        var ended: CallView?
        while ended == nil, let change = await changes.next() {
            if let call = change.call, call.state == "ended" { ended = call }
        }
        // 30 s of silence, and what is looked at every 10 s; the machine may be busy.
        #expect(ContinuousClock.now - killed < .seconds(100))
        #expect(ended?.end == "disconnected")
        #expect(ended?.reason?.contains("it was lost") == true)
        if !comesBackAtOnce { try await calls.ben.start() }
        let record = try await calls.agree()
        #expect(record.outcome == "talked" && record.milliseconds > 0 && !record.isMissed)
        #expect(record.people.sorted() == ["ann", "ben"])
        try await calls.callAgain()
        await watcher.close()
    }

    @Test("are told to each side as it was for them, while they go on and when they are over")
    func told() async throws {
        let calls = try await CallPair()
        let vain = try Program(["call", "ben", "--home", calls.ann.home])
        try await vain.says("ringing at ben")
        let rings = try await calls.ann.run("calls").output
        #expect(rings.contains("  calling  ") && !rings.contains("talking"), "\(rings)")
        let watch = try Program(["follow", "--json", "--home", calls.ben.home])
        try await watch.says(#""kind":"start""#)
        #expect(try await calls.ben.run("reject").status == 0)
        #expect(try await vain.ended() == 1)
        #expect(vain.output.hasSuffix("ben declined\n"), "\(vain.output)")
        try await watch.says(#""reason":"you declined""#)
        #expect(!watch.output.contains("ben declined"))
        watch.signal(SIGKILL)

        let talk = try Program(["call", "ben", "--home", calls.ann.home])
        try await talk.says("ringing at ben")
        let answer = try Program(["answer", "--home", calls.ben.home])
        for side in [talk, answer] { try await side.says("connected to ") }
        #expect(try await calls.ann.run("calls").output.contains("  talking  "))
        #expect(try await calls.ben.run("hangup").status == 0)
        for side in [talk, answer] { #expect(try await side.ended() == 0, "\(side.output)") }
        #expect(answer.output.contains("\nyou hung up, after 0:"), "\(answer.output)")
        let end = try #require(talk.output.firstMatch(of: /\nben hung up, after (\d+:\d\d)\n/))
        try await eventually("it is on record", on: [calls.ann]) {
            try await calls.ann.client?.perform(ListCallRecords()).count == 2
        }
        let records = try await calls.ann.run("calls").output
        #expect(records.contains("you called ben, \(end.1)"), "\(records), \(talk.output)")
    }

    /// Once it was a missed call for good, to who had talked.
    @Test("have not been missed by who talked and hung up before the caller's was missed")
    func hungUp() async throws {
        let calls = try await CallPair()
        try await calls.ring()
        try await calls.answer()
        try await calls.ann.kill()
        #expect(try await calls.ben.run("hangup").status == 0)
        try await calls.ann.start()
        try await eventually("it is on record", on: [calls.ann, calls.ben]) {
            try await calls.agree().outcome == "talked"
        }
        let record = try await calls.agree()
        #expect(!record.isMissed && record.wasIn && record.people.sorted() == ["ann", "ben"])
        let shown = try await calls.ben.run("calls").output
        #expect(shown.contains("ann called you, 0:"), "\(shown)")
        let own = try await calls.ann.run("calls").output
        #expect(own.contains("you called ben, 0:"), "\(own)")
    }

    @Test("stop ringing where it was the caller's, and have been missed")
    func caller() async throws {
        let calls = try await CallPair()
        try await calls.ring()
        try await calls.ann.kill()
        // It rings for a minute, though nobody tells it any more.
        try await eventually("ben rings no more", on: [calls.ben]) {
            try await calls.state(of: calls.ben) != ["ringing"]
        }
        try await calls.ann.start()
        let record = try await calls.agree()
        #expect(record.outcome == "begun" && record.isMissed && record.caller == "ann")
        try await calls.callAgain()
    }
}
