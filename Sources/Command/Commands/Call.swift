import ArgumentParser
import Parley

/// The media that a device sends in a call.
struct MediaOptions: ParsableArguments {
    @Flag(name: .long, help: "send video as well")
    var video = false
    @Flag(name: .long, help: "share your screen as well")
    var screen = false
    @Flag(name: .long, help: "start muted")
    var muted = false

    /// Whether any of it is named.
    var isSaid: Bool { video || screen || muted }

    var words: [String] {
        (muted ? [] : ["microphone"]) + (video ? ["camera"] : []) + (screen ? ["screen"] : [])
    }
}

/// Commands that need a running node: nothing of a call outlives its process.
enum RunningOnly {
    @discardableResult
    static func lend<R: Sendable>(
        _ place: HomeOptions, _ body: (any NodeService) async throws -> R
    ) async throws -> R {
        try await World.current.lend(place) { access in
            guard access.isRunning else {
                // What may not write does not run either.
                throw refusal(try await access.node.perform(GetStatus()).readOnlyReason)
            }
            return try await body(access.node)
        }
    }

    /// That it does not run.
    ///
    /// - Parameter bar: why it may not write.
    static func refusal(_ bar: String?) -> NodeError {
        NodeError(
            "not-running", "The node is not running" + (bar.map { ": \($0)." } ?? "."),
            hint: bar == nil ? "Start it with `parley run`." : nil)
    }
}

/// A call that is watched until it is over.
struct CallWatch {
    let node: any NodeService
    let output: OutputOptions
    let isDetached: Bool

    /// Starts a call, and shows its progress. Ctrl-C hangs up.
    func run(_ begin: (any NodeService) async throws -> CallView) async throws {
        // Asked for first: nothing falls between the beginning and the changes.
        let changes = try await node.changes()
        let call = try await begin(node)
        var lines = CallLines()
        try show(call, &lines)
        if isDetached { return }
        let node = node
        let stop = Task {
            for await _ in Stop.signals() {
                // Where it is over already there is nothing to hang up.
                _ = try? await node.perform(HangUpCall(call: call.call))
            }
        }
        defer { stop.cancel() }
        for await change in changes {
            guard let now = change.call, now.call == call.call else { continue }
            try show(now, &lines)
            guard now.state == "ended" || (now.state == "aside" && now.end != nil) else { continue }
            // A call in which people talked was a success.
            if now.milliseconds == nil { throw ExitCode.failure }
            return
        }
        throw NodeError("node-stopped", "The node has stopped.", hint: "`parley run` starts it.")
    }

    private func show(_ call: CallView, _ lines: inout CallLines) throws {
        if output.json { return World.current.write(try Output.json(call)) }
        for line in lines.add(call) { World.current.write(line) }
    }
}

struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "call everybody in a conversation",
        discussion: """
            Needs a running node, and a program for sound and pictures: see parley calls media. \
            Shows the state of the call until it is over; Ctrl-C hangs up. The exit status is 1 if \
            you talked with nobody.

            Example:
              parley call ben --video
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var media: MediaOptions
    @Flag(name: .long, help: "do not wait until the call is over")
    var detach = false
    @Argument(help: "the conversation, or the person")
    var conversation: String

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run() async throws {
        try await RunningOnly.lend(place) { node in
            try await CallWatch(node: node, output: output, isDetached: detach).run {
                try await $0.perform(StartCall(conversation: conversation, media: media.words))
            }
        }
    }
}

struct Answer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer", abstract: "answer a call, or join one that is in progress",
        discussion: """
            Shows the state of the call until it is over, as parley call does.

            Example:
              parley answer
              parley answer trip --muted --detach
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var media: MediaOptions
    @Flag(name: .long, help: "do not wait until the call is over")
    var detach = false
    @Argument(help: "the call, or its conversation; without it, the one that rings")
    var call = ""

    func run() async throws {
        try await RunningOnly.lend(place) { node in
            try await CallWatch(node: node, output: output, isDetached: detach).run {
                try await $0.perform(AnswerCall(call: call, media: media.words))
            }
        }
    }
}

struct Reject: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reject", abstract: "reject a call that rings",
        discussion: """
            Your other devices stop ringing too, and the caller is told.

            Example:
              parley reject
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the call, or its conversation; without it, the one that rings")
    var call = ""

    func run() async throws {
        try await RunningOnly.lend(place) { try await $0.perform(RejectCall(call: call)) }
    }
}

struct HangUp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hangup", abstract: "leave a call, or stop calling",
        discussion: """
            Example:
              parley hangup
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the call, or its conversation; without it, the one that this device is in")
    var call = ""

    func run() async throws {
        try await RunningOnly.lend(place) { try await $0.perform(HangUpCall(call: call)) }
    }
}

struct CallsList: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract:
            "list the calls that ring or are in progress, and past ones",
        discussion: """
            Example:
              parley calls
              parley calls list --limit 100 --json
            """)

    /// Current calls, and the outcome of others.
    private struct Listed: Encodable {
        var current: [CallView]
        var records: [CallRecordView]
    }

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Option(name: .long, help: "how many past calls at most, 0 to 1000")
    var limit = 20

    func validate() throws {
        guard (0...1000).contains(limit) else {
            throw ValidationError("--limit must be from 0 to 1000.")
        }
    }

    func run(with node: any NodeService) async throws {
        let calls = try await node.perform(ListCalls())
        let names = Set(calls.map(\.call))
        let all = try await node.perform(ListCallRecords())
        let records = Array(all.filter { !names.contains($0.call) }.suffix(limit))
        var lines = records.compactMap { record in
            CallLines.text(record).map { text in
                "\(Clock().moment(record.time))  \(harmless(record.name))  \(text)"
            }
        }
        if !calls.isEmpty { lines.append(CallLines.table(calls)) }
        try Output.show(
            Listed(current: calls, records: records), json: output.json,
            as: lines.joined(separator: "\n"))
        guard !output.json, lines.isEmpty else { return }
        World.current.say("no calls yet")
    }
}

struct CallsSend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "mute, or send video, in the current call",
        discussion: """
            Sets what is sent from now on: microphone, camera, screen, or nothing. The options of \
            parley call do the same.

            Example:
              parley calls send microphone camera
              parley calls send --muted
              parley calls send nothing
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "microphone, camera, screen, or nothing")
    var media: [String] = []
    @OptionGroup var options: MediaOptions

    func validate() throws {
        let words: Set<String> = ["microphone", "camera", "screen"]
        guard media.isEmpty == options.isSaid,
            media == ["nothing"] || media.allSatisfy(words.contains)
        else {
            throw ValidationError(
                "Give microphone, camera, screen, or nothing; or --muted, --video and --screen.")
        }
    }

    func run() async throws {
        let words = options.isSaid ? options.words : media == ["nothing"] ? [] : media
        let call = try await RunningOnly.lend(place) {
            try await $0.perform(SetCallMedia(call: "", media: words))
        }
        try Output.show(call, json: output.json, as: "")
    }
}
