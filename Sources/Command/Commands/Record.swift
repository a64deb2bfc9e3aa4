import ArgumentParser
import Foundation
import Glibc
import Parley
import Synchronization

struct Record: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "record a voice note, and send it",
        discussion: """
            It records from the microphone until you press Enter or Ctrl-C, and sends what you \
            said. It uses programs of this machine: parecord, pw-record or arecord records, and \
            ffmpeg makes the note. `parley send --voice FILE` sends an existing recording.

            Example:
              parley record trip
              parley record trip --seconds 10
            """)

    /// A note is at most an hour long.
    private static let secondsMax = 3_600

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Argument(help: "a text that goes with it")
    var text: String?
    @Option(name: .long, help: "stop after so many seconds")
    var seconds: Int?

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        if let text { try Check.text(text) }
        if let seconds, !(1...Self.secondsMax).contains(seconds) {
            throw ValidationError("--seconds must be from 1 to \(Self.secondsMax).")
        }
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "parley-record-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        // What was said stays in the message alone.
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "voice.wav").path
        var isRecorded = false
        let sent = try await World.current.lendOnce(place) { node, once in
            if !isRecorded { try await Recorder.record(to: file, for: seconds ?? Self.secondsMax) }
            isRecorded = true
            let tickets = try await FileStaging.stage(
                [StageFile(path: file, isVoice: true)], on: node, json: output.json)
            return try await node.perform(
                SendMessages(
                    conversation: conversation, texts: [text ?? ""], files: tickets, once: once))
        }
        try Output.show(sent, json: output.json, as: MessageLines.text(sent))
    }
}

/// Records from the microphone, by a program of the machine.
enum Recorder {
    private static let programs: [(name: String, words: [String])] = [
        ("parecord", ["--file-format=wav", "--channels=1", "--rate=48000", "--format=s16le"]),
        ("pw-record", ["--channels=1", "--rate=48000", "--format=s16"]),
        ("arecord", ["-q", "-t", "wav", "-f", "S16_LE", "-c", "1", "-r", "48000"]),
    ]

    /// A recording of that length, and room to spare: what runs away is ended.
    private static let byteCountMax = 512 << 20

    private static func byteCount(of file: String) -> Int {
        var status = stat()
        return stat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Records until the person ends it.
    static func record(to file: String, for seconds: Int) async throws {
        let found = programs.lazy.compactMap { program in
            SoundProgram.path(program.name).map { (path: $0, words: program.words) }
        }.first
        guard let found else {
            throw NodeError(
                "no-recorder", "No program that records sound is installed.",
                hint:
                    "`apt install alsa-utils` installs arecord; or record elsewhere, and "
                    + "`parley send --voice FILE` sends it.")
        }
        let child = try SoundProgram(found.path, found.words + [file])
        World.current.say(
            World.current.isInputTerminal
                ? "recording: Enter ends it" : "recording: Ctrl-C ends it")
        let wish = Wish(watchesInput: World.current.isInputTerminal)
        defer { wish.cancel() }
        let end = ContinuousClock.now + .seconds(seconds)
        while child.status == nil, !wish.isSaid, ContinuousClock.now < end,
            byteCount(of: file) < byteCountMax
        {
            try await Task.sleep(for: .milliseconds(50))
        }
        await child.stop()
        let size = byteCount(of: file)
        // A head without a sound.
        guard size > 100 else {
            let name = (found.path as NSString).lastPathComponent
            throw NodeError(
                "no-microphone", "\(name) recorded nothing" + child.lastWords,
                hint: "Is there a microphone? `arecord -l` lists them.")
        }
    }
}

/// That the person wants it to end: by Enter, or as they end a program.
private final class Wish: Sendable {
    private let said = Mutex(false)
    private let signals: Mutex<SignalSources?> = Mutex(nil)

    init(watchesInput: Bool) {
        let sources = Stop.watch { [self] _ in said.withLock { $0 = true } }
        signals.withLock { $0 = sources }
        guard watchesInput else { return }
        Thread.detachNewThread { [self] in
            _ = readLine()
            said.withLock { $0 = true }
        }
    }

    var isSaid: Bool { said.withLock { $0 } }

    func cancel() { signals.withLock { $0?.cancel() } }
}

/// A program for sound, which runs beside this one for as long as it sounds.
final class SoundProgram: Sendable {
    private static let patience: Duration = .seconds(2)

    private let child: MediaChild
    private let end = Mutex<Int32?>(nil)
    private let isOpen = Mutex(true)

    /// Starts it.
    init(_ path: String, _ words: [String]) throws {
        do {
            child = try MediaChild.start(path, [path] + words)
        } catch {
            throw NodeError("not-started", "\(path) cannot be started: \(error.reason).")
        }
        close(child.output)
        let process = child.process
        Thread.detachNewThread { [self] in
            let status = MediaChild.wait(for: process)
            end.withLock { $0 = status }
        }
    }

    deinit {
        closeInput()
        close(child.errors)
    }

    /// Where a program is, as a shell finds it.
    static func path(_ name: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// How it ended; nil while it runs.
    var status: Int32? { end.withLock { $0 } }

    /// Gives it something to play; nothing once it ended.
    func write(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while status == nil, !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(child.input, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Tells it that nothing follows.
    func closeInput() {
        isOpen.withLock { isOpen in
            if isOpen { close(child.input) }
            isOpen = false
        }
    }

    /// Waits until it ends by itself.
    func ended() async {
        // Who is cancelled meanwhile waits all the same.
        while status == nil { try? await Task.sleep(for: .milliseconds(20)) }
    }

    /// Asks it to end, and ends it where it does not.
    func stop() async {
        signal(SIGINT)
        let end = ContinuousClock.now + Self.patience
        while status == nil, ContinuousClock.now < end {
            // Who is cancelled meanwhile waits all the same.
            try? await Task.sleep(for: .milliseconds(20))
        }
        signal(SIGKILL)
        await ended()
    }

    private func signal(_ number: Int32) {
        // The number of a process that was waited for may be another one's by now.
        end.withLock { if $0 == nil { _ = kill(-child.process, number) } }
    }

    /// What it complained of last, behind a colon.
    var lastWords: String {
        var chunk = [UInt8](repeating: 0, count: 4_096)
        _ = fcntl(child.errors, F_SETFL, O_NONBLOCK)
        let count = read(child.errors, &chunk, chunk.count)
        let said = String(decoding: chunk[..<max(0, count)], as: UTF8.self)
        let line = said.split(separator: "\n").last.map { harmless(String($0)) } ?? ""
        return line.isEmpty ? "." : ": \(line.prefix(200))"
    }
}
