import Foundation
import ParleySignalling
import ParleyWire
import Synchronization
import Testing

@testable import Parley

/// A program for sound and pictures that a shell plays, and what it said.
private final class Player: Sendable {
    let process: MediaProcess
    let words: AsyncStream<Result<MediaWord, MediaFailure>>

    /// - Parameter script: its lines on standard output are news.
    init(_ script: String) throws {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Result<MediaWord, MediaFailure>.self)
        words = stream
        process = try MediaProcess(["/bin/sh", "-c", script]) { word in
            continuation.yield(word)
            if case .failure = word { continuation.finish() }
        }
    }

    /// Everything until it fails.
    func all() async -> [Result<MediaWord, MediaFailure>] {
        var all: [Result<MediaWord, MediaFailure>] = []
        for await word in words { all.append(word) }
        return all
    }

    var failure: MediaFailure? {
        get async {
            for await case .failure(let failure) in words { return failure }
            return nil
        }
    }
}

@Suite("A program for sound and pictures", .timeLimit(.minutes(2)))
struct MediaProcessTests {
    static let leg = DeviceID(Array(repeating: 0xAB, count: 32))
    static let name = String(repeating: "ab", count: 32)

    @Test("is told what the transcript shows")
    func transcript() throws {
        let leg = try #require(Self.leg)
        let call = CallID(Check(high: 0x0707_0707_0707_0707, low: 0x0707_0707_0707_0707))
        let servers = [
            try #require(TurnServer(address: "stun:stun.example:3478", access: .open)),
            try #require(TurnServer(address: "turn:turn.example:3478", access: .secret("north"))),
        ]
        let lines = [
            MediaLine.begin(
                call, on: leg, [.microphone, .camera],
                servers: servers.map { $0.told(at: 1_700_000_000_000, label: "3f9c") }),
            MediaLine(.makeOffer(startsAnew: false), of: leg),
            MediaLine(.answer("v=0…"), of: leg),
            MediaLine(.take("v=0…"), of: leg),
            MediaLine(
                .add(
                    Candidate(
                        text: "candidate:1 1 udp 2130706431 192.0.2.7 40000 typ host",
                        part: "0", index: 0)), of: leg),
            MediaLine.media([]),
            MediaLine(.close, of: leg),
            MediaLine.end,
        ]
        let page = try String(contentsOfFile: "Protocol/12-media.md", encoding: .utf8)
        for line in lines {
            let text = String(decoding: line.bytes.dropLast(), as: UTF8.self)
            #expect(
                page.contains(text.replacingOccurrences(of: Self.name, with: "ABAB…")), "\(text)")
        }
    }

    @Test("says what the transcript shows")
    func news() throws {
        let leg = try #require(Self.leg)
        let page = try String(contentsOfFile: "Protocol/12-media.md", encoding: .utf8)
        let lines = page.split(separator: "\n").filter {
            $0.hasPrefix("{\"") && $0.contains("news")
        }
        let words = try lines.map { line in
            try MediaWord.read(Array(line.replacingOccurrences(of: "ABAB…", with: Self.name).utf8))
        }
        #expect(
            words == [
                .leg(leg, .offer("v=0…")),
                .leg(
                    leg,
                    .candidate(
                        Candidate(
                            text: "candidate:1 1 udp 2130706431 192.0.2.7 40000 typ host",
                            part: "0", index: 0))),
                .leg(leg, .candidate(Candidate(text: "", part: "0", index: 0))),
                .leg(leg, .answer("v=0…")), .leg(leg, .wantsOffer), .leg(leg, .connected),
                .leg(leg, .disconnected), .leg(leg, .failed), .media([.microphone]), .hangUp,
                .failed("no microphone"), nil,
            ])
    }

    @Test("is listened to line by line, and what is not known is passed over")
    func talk() async throws {
        let player = try Player(
            """
            while read -r line; do
              case "$line" in
                *'"order":"offer"'*) printf '{"news":"offer","leg":"\(Self.name)",'
                  printf '"description":"hello","colour":{"deep":[1]}}\\n\\n'
                  echo '{"news":"weather","leg":7}'
                  echo '{"news":"connected","leg":"\(Self.name)"}' ;;
                *'"order":"end"'*) exit 0 ;;
              esac
            done
            """)
        let leg = try #require(Self.leg)
        player.process.tell(MediaLine(.makeOffer(startsAnew: false), of: leg))
        var words = player.words.makeAsyncIterator()
        #expect(await words.next() == .success(.leg(leg, .offer("hello"))))
        #expect(await words.next() == .success(.leg(leg, .connected)))
        player.process.finish()
        await player.process.ended()
    }

    @Test(
        "ends the call with a reason where it fails",
        arguments: [
            ("echo no microphone >&2; exit 3", "ended with status 3: no microphone"),
            ("kill -KILL $$", "ended by signal 9"),
            ("exec >&-; exec sleep 100", "ended by signal 15"),
            ("echo hello", "not a JSON object"),
            ("echo '{\"news\":\"offer\",\"leg\":\"\(name)\"}'", "without a description"),
            ("echo '{\"news\":\"connected\",\"leg\":\"abab\"}'", "without a leg"),
            ("echo '{\"news\":\"media\",\"media\":[\"smell\"]}'", "“media” without"),
            ("echo '{\"news\":\"failure\",\"reason\":\"no camera\"}'; cat", "failed: no camera"),
            ("head -c 70000 /dev/zero | tr '\\0' a; cat", "a line of more than 65536 bytes"),
            ("yes '{\"news\":\"x\"}'", "more than 512 lines in a second"),
        ])
    func failures(script: String, words: String) async throws {
        let player = try Player(script)
        let failure = await player.failure
        #expect(failure?.sentence.contains(words) == true, "\(failure?.sentence ?? "-")")
        await player.process.ended()
    }

    @Test("ends the call where it does not read")
    func deaf() async throws {
        let player = try Player("exec sleep 100")
        let leg = try #require(Self.leg)
        let line = MediaLine(.answer(String(repeating: "x", count: 30_000)), of: leg)
        for _ in 0..<60 { player.process.tell(line) }
        #expect(await player.failure == .deaf)
        await player.process.ended()
    }

    @Test("that is not there is not started")
    func absent() {
        #expect(throws: MediaFailure.notStarted("No such file or directory")) {
            try MediaProcess(["/nowhere/media"]) { _ in }
        }
        #expect(throws: MediaFailure.none) { try MediaProcess([]) { _ in } }
    }

    @Test("is gone soon after the call, with all that it started, even if it does not want to")
    func stubborn() async throws {
        let player = try Player(
            "trap '' TERM; (trap '' TERM; sleep 100)& echo '{\"news\":\"hangup\"}'; wait; sleep 100"
        )
        var words = player.words.makeAsyncIterator()
        #expect(await words.next() == .success(.hangUp))
        player.process.finish(patience: .milliseconds(10))
        await player.process.ended()
    }

    @Test(
        "Attack 296: what a program started ends with it, though nothing of it is open any more")
    func orphan() async throws {
        let folder = try TemporaryFolder()
        let pipe = folder.home("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let player = try Player(
            "(trap '' TERM HUP; exec sleep 100 </dev/null >'\(pipe)' 2>&1)& read -r line; exit 0")
        // It is there as soon as its end of the pipe is, and gone once that is.
        let reader = await Self.detached { open(pipe, O_RDONLY) }
        #expect(reader >= 0)
        // So long that no signal comes of it meanwhile.
        player.process.finish(patience: .seconds(600))
        await player.process.ended()
        let isOver = await Self.detached {
            // The one deadline of the test: it only ever ends a failure.
            var waited = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            return poll(&waited, 1, 60_000) == 1 && waited.revents & Int16(POLLHUP) != 0
        }
        #expect(isOver)
        close(reader)
    }

    /// Does what blocks on a thread of its own.
    private static func detached<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    @Test("has nothing of the node's open, and heeds signals that the node ignores")
    func clean() async throws {
        let player = try Player(
            "n=$(ls /proc/self/fd | wc -l); kill -TERM $$; sleep 5; exit $n")
        #expect(await player.failure == .ended(status: -15, lastWords: ""))
        let counter = try Player("exit $(ls /proc/self/fd | wc -l)")
        // Three of its own, and the folder that is listed.
        #expect(await counter.failure == .ended(status: 4, lastWords: ""))
    }
}

@Suite("Settings of calls")
struct CallSettingsTests {
    @Test("are kept, shown without secrets, and refused where they cannot be")
    func settings() async throws {
        let folder = try TemporaryFolder()
        let home = NodeSettings(home: folder.home("ada"))
        let (made, _) = try await Node.create(home, name: "Ada")
        #expect(
            try await made.perform(GetCallSettings()) == CallSettingsView(program: [], servers: []))
        try await made.perform(SetMediaProgram(words: ["/bin/sh", "-c", "true"]))
        try await made.perform(
            AddTurnServer(address: "turn:t.example:3478", secret: "squeamish ossifrage"))
        try await made.perform(
            AddTurnServer(address: "turns:t.example:5349", name: "ada", password: "magic words"))
        await made.shutdown()

        let ada = try await Node.open(home)
        let kept = try await ada.perform(GetCallSettings())
        #expect(kept.program == ["/bin/sh", "-c", "true"])
        #expect(kept.servers.map(\.access) == ["secret", "name"])
        let shown = String(decoding: try JSONEncoder().encode(kept), as: UTF8.self)
        #expect(!shown.contains("ossifrage") && !shown.contains("magic"))
        for (path, code) in [("/nowhere", "bad-program"), ("/tmp", "bad-program")] {
            let error = await #expect(throws: NodeError.self) {
                try await ada.perform(SetMediaProgram(words: [path]))
            }
            #expect(error?.code == code)
        }
        for (address, name, password) in [
            ("http://t.example", nil, nil), ("turn:", nil, nil), ("turn:t.example", "ada", nil),
            ("turn:t.example", "", "x"), ("turn:t example", nil, nil),
        ] {
            let error = await #expect(throws: NodeError.self) {
                try await ada.perform(
                    AddTurnServer(address: address, name: name, password: password))
            }
            #expect(error?.code == "bad-server")
        }
        let left = try await ada.perform(RemoveTurnServer(address: "turn:t.example:3478"))
        #expect(left.servers.map(\.address) == ["turns:t.example:5349"])
        let error = await #expect(throws: NodeError.self) {
            try await ada.perform(RemoveTurnServer(address: "turn:t.example:3478"))
        }
        #expect(error?.code == "unknown-server")
        await ada.shutdown()
        // No file holds a word of them.
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.home("ada"))
        for file in files {
            let bytes = FileManager.default.contents(atPath: folder.home("ada") + "/" + file)
            for word in ["ossifrage", "magic words", "/bin/sh", "t.example"] {
                #expect(bytes?.range(of: Data(word.utf8)) == nil, "\(word) in \(file)")
            }
        }
    }
}
