import CProcess
import Foundation
import Glibc

/// Why a program in a cage gave nothing.
enum CageFailure: Error, Equatable {
    case notStarted(String)
    /// It was ended: it took longer than it may.
    case tooSlow
    /// It was ended: it wrote more than it may.
    case tooMuch
    /// It ended by itself, with this status, or by this signal, negative.
    case ended(Int32)
}

/// A program of this machine that reads what may be foreign bytes.
///
/// Nothing decodes foreign bytes inside the node. The program runs in a sandbox: without the node's
/// files and environment, without a network unless it needs one, with limits on memory, time and
/// output. It reads its input and the system's own files, and nothing of the person's. Its output
/// is as foreign as its input.
/// Source: `Protocol/13-files.md`, "Pictures, videos and sound".
struct CagedProgram: Sendable {
    /// Its limits.
    struct Bounds: Sendable {
        var memoryByteCount: UInt64 = 512 << 20
        var processorSeconds: UInt64 = 10
        var time: Duration = .seconds(20)
        var outputByteCount = 1 << 20
        /// The port of other machines that it may call, where it may.
        var port: UInt16?
    }

    /// Where such programs are looked for: a cage opens what the system installed, and nothing else.
    static let folders = ["/usr/local/bin", "/usr/bin", "/bin", "/run/current-system/sw/bin"]
    /// Its input, as a path.
    static let input = "/proc/self/fd/0"
    private static let environment = [
        "LC_ALL=C.UTF-8", "HOME=/", "PATH=/usr/bin:/bin", "MALLOC_ARENA_MAX=1",
        // Of its formats those alone that are tested with hostile bytes, and one thread.
        "VIPS_BLOCK_UNTRUSTED=1", "VIPS_CONCURRENCY=1",
    ]

    let path: String

    /// The program of this name, where it is installed.
    init?(_ name: String, in folders: [String] = CagedProgram.folders) {
        let paths = folders.map { "\($0)/\(name)" }
        guard let path = paths.first(where: { access($0, X_OK) == 0 }) else { return nil }
        self.path = path
    }

    /// Runs it, and returns its output. It blocks.
    func output(
        _ words: [String], input: Int32, bounds: Bounds = Bounds()
    ) throws(CageFailure) -> [UInt8] {
        var output: [UInt8] = []
        try run(words, input: input, bounds: bounds) { output += $0 }
        return output
    }

    /// Runs it, and passes on its output as it comes. It blocks.
    ///
    /// - Parameter input: an open file, which the program finds as ``input``; -1 for nothing.
    func run(
        _ words: [String], input: Int32, bounds: Bounds = Bounds(),
        take: (ArraySlice<UInt8>) -> Void
    ) throws(CageFailure) {
        // The program has a place of its own in the file.
        let own = input < 0 ? -1 : open("/proc/self/fd/\(input)", O_RDONLY | O_CLOEXEC)
        defer { if own >= 0 { close(own) } }
        guard input < 0 || own >= 0 else { throw .notStarted(String(cString: strerror(errno))) }
        var ends: [Int32] = [0, 0]
        guard parley_pipe(&ends) == 0 else {
            throw .notStarted(String(cString: strerror(errno)))
        }
        let process = start(words, input: own, output: ends[1], bounds)
        close(ends[1])
        defer { close(ends[0]) }
        guard process > 0 else { throw .notStarted(String(cString: strerror(-process))) }
        let end = ContinuousClock.now + bounds.time
        let failure = Self.read(ends[0], until: end, atMost: bounds.outputByteCount, take)
        if failure != nil { kill(-process, SIGKILL) }
        let status = Self.wait(for: process, until: end)
        if let failure { throw failure }
        guard let status else { throw .tooSlow }
        guard status == 0 else { throw .ended(status) }
    }

    private func start(
        _ words: [String], input: Int32, output: Int32, _ bounds: Bounds
    ) -> pid_t {
        let words = ([path] + words).map { strdup($0) } + [nil]
        let environment = Self.environment.map { strdup($0) } + [nil]
        defer { for word in words + environment { free(word) } }
        return path.withCString { program in
            words.withUnsafeBufferPointer { words in
                environment.withUnsafeBufferPointer { environment in
                    var cage = parley_cage(
                        program: program, words: words.baseAddress,
                        environment: environment.baseAddress, input: input, output: output,
                        errors: -1, port: UInt32(bounds.port ?? 0),
                        memory_byte_count: bounds.memoryByteCount,
                        processor_seconds: bounds.processorSeconds,
                        file_byte_count: UInt64(bounds.outputByteCount))
                    return parley_cage_start(&cage)
                }
            }
        }
    }

    /// Reads to the end.
    private static func read(
        _ file: Int32, until end: ContinuousClock.Instant, atMost byteCountMax: Int,
        _ take: (ArraySlice<UInt8>) -> Void
    ) -> CageFailure? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var total = 0
        while true {
            let left = (end - ContinuousClock.now) / .milliseconds(1)
            guard left > 0 else { return .tooSlow }
            var waited = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waited, 1, Int32(clamping: Int(left) + 1))
            if ready < 0, errno != EINTR { return .tooSlow }
            guard ready > 0 else { continue }
            let count = Glibc.read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            total += count
            guard total <= byteCountMax else { return .tooMuch }
            take(chunk[..<count])
        }
    }

    /// Waits until it is gone: its status, or its signal, negative; nil where it had to be ended.
    private static func wait(
        for process: pid_t, until end: ContinuousClock.Instant
    ) -> Int32? {
        var status: Int32 = 0
        var wasEnded = false
        while true {
            let found = waitpid(process, &status, wasEnded ? 0 : WNOHANG)
            if found == process { break }
            if found < 0, errno != EINTR { return nil }
            guard !wasEnded, found == 0 else { continue }
            if ContinuousClock.now >= end {
                kill(-process, SIGKILL)
                wasEnded = true
            } else {
                // It closed its output, and ends in a moment.
                poll(nil, 0, 1)
            }
        }
        let signal = status & 0x7F
        return wasEnded ? nil : signal == 0 ? status >> 8 & 0xFF : -signal
    }
}
