import Dispatch
import Foundation
import ParleyNodeCore
import Synchronization

/// A program for sound and pictures, run as a child for one call.
///
/// It exchanges lines on its standard input and output; its standard error is read only for its
/// last words. It runs in its own process group: whatever it starts ends with it, and a Ctrl-C goes
/// to the node, which then says goodbye. It inherits no open files of the node.
final class MediaProcess: Sendable {
    /// Bytes of a line, its end included: a description with every line's end written out, and
    /// room to spare.
    static let lineByteCountMax = 65_536
    /// Lines within a second: a first offer with all its ways comes to some dozens.
    static let lineCountMax = 512
    /// Bytes that may wait until the program reads.
    static let waitingByteCountMax = 1 << 20
    /// How long it may take to end by itself, and once more after a signal.
    static let patience: Duration = .seconds(2)

    private struct State {
        var waiting: [[UInt8]] = []
        var waitingByteCount = 0
        var isClosed = false
        /// Whether nothing that it does from now on is a failure.
        var isFinishing = false
        var isReaped = false
        var lastWords = ""
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let hasLastWords = DispatchSemaphore(value: 0)
    private let process: pid_t
    private let told: @Sendable (Result<MediaWord, MediaFailure>) -> Void

    /// Starts it.
    ///
    /// - Parameters:
    ///   - words: the program's path and its arguments.
    ///   - told: called in order with its news, and at most once, last, with the reason of failure.
    init(
        _ words: [String], told: @escaping @Sendable (Result<MediaWord, MediaFailure>) -> Void
    ) throws(MediaFailure) {
        guard let program = words.first else { throw .none }
        self.told = told
        let child: MediaChild
        do {
            child = try MediaChild.start(program, words)
        } catch {
            throw .notStarted(error.reason)
        }
        process = child.process
        Thread.detachNewThread { [self] in write(to: child.input) }
        Thread.detachNewThread { [self] in listen(to: child.output) }
        Thread.detachNewThread { [self] in overhear(child.errors) }
    }

    /// Tells it something.
    func tell(_ line: MediaLine) {
        let bytes = line.bytes
        let isDeaf = state.withLock { state in
            guard !state.isClosed else { return false }
            guard state.waitingByteCount + bytes.count <= Self.waitingByteCountMax else {
                return true
            }
            state.waiting.append(bytes)
            state.waitingByteCount += bytes.count
            return false
        }
        if isDeaf { fail(.deaf) } else { wake.signal() }
    }

    /// Tells it that the call is over, and sees to it that it ends.
    func finish(patience: Duration = MediaProcess.patience) {
        // Before the order is sent: a quick program has ended by the time the order is written.
        let isFirst = state.withLock { state in
            defer { state.isFinishing = true }
            return !state.isFinishing
        }
        tell(.end)
        state.withLock { $0.isClosed = true }
        wake.signal()
        if isFirst { end(after: patience) }
    }

    /// Returns once it is gone.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isReaped = state.withLock { state in
                if !state.isReaped { state.watchers.append(continuation) }
                return state.isReaped
            }
            if isReaped { continuation.resume() }
        }
    }

    // MARK: Ends

    private func fail(_ failure: MediaFailure) {
        let isFirst = state.withLock { state in
            defer {
                state.isFinishing = true
                state.isClosed = true
            }
            return !state.isFinishing
        }
        wake.signal()
        guard isFirst else { return }
        end(after: .zero)
        told(.failure(failure))
    }

    /// A signal that asks, and later one that does not.
    private func end(after patience: Duration) {
        let queue = DispatchQueue.global()
        let wait = DispatchTimeInterval.milliseconds(Int(patience / .milliseconds(1)))
        queue.asyncAfter(deadline: .now() + wait) { self.signal(SIGTERM) }
        queue.asyncAfter(deadline: .now() + wait + wait + .milliseconds(200)) {
            self.signal(SIGKILL)
        }
    }

    private func signal(_ number: Int32) {
        // The number of a process that was waited for may belong to another one by now.
        state.withLock { if !$0.isReaped { _ = kill(-process, number) } }
    }

    // MARK: Threads

    private func write(to file: Int32) {
        // A program that is gone must not take the node along.
        var broken = sigset_t()
        sigemptyset(&broken)
        sigaddset(&broken, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &broken, nil)
        defer { close(file) }
        while true {
            wake.wait()
            let (lines, isClosed) = state.withLock { state in
                defer { state.waiting = [] }
                return (state.waiting, state.isClosed)
            }
            for line in lines {
                guard Self.write(line, to: file) else { return }
                state.withLock { $0.waitingByteCount -= line.count }
            }
            if isClosed { return }
        }
    }

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes {
                Glibc.write(file, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    private func listen(to file: Int32) {
        var lines = MediaLines()
        Self.read(file) { chunk in
            do throws(MediaFailure) {
                for line in try lines.split(chunk, at: SystemClock.now.monotonic) {
                    guard let word = try MediaWord.read(line) else { continue }
                    if case .failed(let reason) = word { throw .said(reason) }
                    if state.withLock({ !$0.isFinishing }) { told(.success(word)) }
                }
            } catch {
                fail(error)
            }
        }
        // It may have closed its output and live on.
        end(after: Self.patience)
        MediaChild.awaitEnd(of: process)
        let (status, watchers) = state.withLock { state in
            // What it started ends with it, also where nothing of it is open any more. As long as the program
            // was not waited for, its number and that of its group are nobody else's.
            _ = kill(-process, SIGKILL)
            state.isReaped = true
            defer { state.watchers = [] }
            return (MediaChild.wait(for: process), state.watchers)
        }
        for watcher in watchers { watcher.resume() }
        // Its children may hold its outputs open for longer.
        _ = hasLastWords.wait(timeout: .now() + .milliseconds(500))
        fail(.ended(status: status, lastWords: state.withLock { $0.lastWords }))
    }

    private func overhear(_ file: Int32) {
        var text: [UInt8] = []
        Self.read(file) { chunk in text = Array((text + chunk).suffix(2048)) }
        let lines = text.split { $0 == 0x0A || $0 == 0x0D }
        let words = lines.last.map { String(decoding: $0.suffix(300), as: UTF8.self) } ?? ""
        state.withLock { $0.lastWords = words }
        hasLastWords.signal()
    }

    /// Reads to the end, and closes.
    private static func read(_ file: Int32, _ body: (ArraySlice<UInt8>) -> Void) {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        defer { close(file) }
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            body(chunk[..<count])
        }
    }
}

/// Counts the news that come within a second.
struct MediaPace {
    private var second: UInt64 = 0
    private var count = 0

    /// Whether so many more may come now, in monotonic milliseconds.
    mutating func allows(_ more: Int, at now: UInt64) -> Bool {
        if now >= second + 1_000 { (second, count) = (now, 0) }
        count += more
        return count <= MediaProcess.lineCountMax
    }
}

/// Splits a program's output into lines, and bounds it.
struct MediaLines {
    private var rest: [UInt8] = []
    private var pace = MediaPace()
    private var hasFailed = false

    /// The lines that are whole now, without their ends. After an error nothing more is read.
    mutating func split(
        _ chunk: ArraySlice<UInt8>, at now: UInt64
    ) throws(MediaFailure) -> [[UInt8]] {
        guard !hasFailed else { return [] }
        var lines: [[UInt8]] = []
        for part in chunk.split(separator: 0x0A, omittingEmptySubsequences: false) {
            // The part before a line's end, and the rest after the last one.
            rest += part
            guard rest.count < MediaProcess.lineByteCountMax else { throw failed(.lineTooLong) }
            guard part.endIndex < chunk.endIndex else { break }
            if rest.contains(where: { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }) {
                lines.append(rest)
            }
            rest = []
        }
        guard pace.allows(lines.count, at: now) else { throw failed(.tooMuch) }
        return lines
    }

    private mutating func failed(_ failure: MediaFailure) -> MediaFailure {
        hasFailed = true
        rest = []
        return failure
    }
}
