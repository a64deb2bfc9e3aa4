import Foundation
import Synchronization

/// A program on a terminal of its own: what it draws is read, keys are typed.
final class TerminalProgram: Sendable {
    private let leader: FileHandle
    private let process: Process
    private struct State {
        var screen = ""
        var isOver = false
        var watchers: [AsyncStream<Void>.Continuation] = []
    }
    private let state = Mutex(State())

    /// - Parameters:
    ///   - columnCount: how wide the terminal is.
    ///   - environment: variables that it has besides those of the tests.
    ///   - path: another program than the built one.
    init(
        _ arguments: [String], columnCount: UInt16 = 100, environment: [String: String] = [:],
        path: String = Program.path
    ) throws {
        var (first, second): (Int32, Int32) = (0, 0)
        var size = winsize(ws_row: 40, ws_col: columnCount, ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&first, &second, nil, nil, &size) == 0 else {
            throw Late(description: "there is no terminal to be had")
        }
        // A program that another test starts meanwhile must not hold this one's terminal open.
        for descriptor in [first, second] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        leader = FileHandle(fileDescriptor: first, closeOnDealloc: true)
        let reading = first
        let follower = FileHandle(fileDescriptor: second, closeOnDealloc: true)
        process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(["TERM": "xterm"]) { $1 }.merging(environment) { $1 }
        process.standardInput = follower
        process.standardOutput = follower
        process.standardError = follower
        try Program.whileStarting.withLock { _ in try process.run() }
        try follower.close()
        Thread.detachNewThread { [weak self] in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(reading, &chunk, chunk.count)
                if count < 0, errno == EINTR { continue }
                guard let self else { break }
                // A terminal that nobody writes to any more cannot be read.
                let text = count > 0 ? String(decoding: chunk.prefix(count), as: UTF8.self) : nil
                let watchers = self.state.withLock { state in
                    state.screen += text ?? ""
                    state.isOver = text == nil
                    return state.watchers
                }
                for watcher in watchers { watcher.yield() }
                if text == nil { break }
            }
        }
    }

    /// Types keys.
    func type(_ text: String) throws { try leader.write(contentsOf: Data(text.utf8)) }

    /// Waits until it has drawn this since it was last asked; returns all that it drew.
    @discardableResult
    func shows(_ text: String) async throws -> String {
        try await draws("“\(text)” on the terminal") { $0.screen.contains(text) }
    }

    /// Waits until it has ended; returns all that it drew since it was last asked.
    func ended() async throws -> String { try await draws("the end of it") { $0.isOver } }

    private func draws(
        _ what: String, until isDone: @Sendable (State) -> Bool
    ) async throws -> String {
        // A stream serves one wait: the end of that ends it.
        let (beats, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.watchers = [continuation] }
        try await eventually(what, after: [beats]) { state.withLock { isDone($0) } }
        return state.withLock { state in
            defer { state.screen = "" }
            return state.screen
        }
    }

    /// Ends it, however far it is.
    func end() { process.terminate() }
}
