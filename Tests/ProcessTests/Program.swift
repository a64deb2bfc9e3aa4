import Foundation
import Parley
import ParleyLocalAPI
import Synchronization

/// A process of the built program.
final class Program: Sendable {
    /// The program lies beside the tests: both come out of one build.
    ///
    /// With `PARLEY_PROGRAM` it is another one, as that of a release build.
    static let path: String = {
        if let other = ProcessInfo.processInfo.environment["PARLEY_PROGRAM"] { return other }
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let beside = own.deletingLastPathComponent().appendingPathComponent("parley").path
        if FileManager.default.isExecutableFile(atPath: beside) { return beside }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path + "/.build/debug/parley"
    }()

    private struct State {
        var output = ""
        var status: Int32?
        var hasSaidAll = false
        var watchers: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())
    let processID: Int32

    /// - Parameters:
    ///   - namespace: in which network it runs, if not in that of the tests.
    ///   - environment: variables that it has besides those of the tests.
    ///   - way: what starts it instead of the built program; it must become it.
    init(
        _ arguments: [String], inNamespace namespace: String? = nil,
        environment: [String: String] = [:], by way: [String]? = nil
    ) throws {
        let process = Process()
        if !environment.isEmpty {
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        }
        if let way = way ?? namespace.map({ ["ip", "netns", "exec", $0, Self.path] }) {
            // What stands before it becomes it: the number of the process is the program's own.
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = way + arguments
        } else {
            process.executableURL = URL(fileURLWithPath: Self.path)
            process.arguments = arguments
        }
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        // A program that another test starts meanwhile must not hold this one's output open.
        for handle in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
            _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        process.standardOutput = pipe
        process.standardError = pipe
        try Self.whileStarting.withLock { _ in try process.run() }
        processID = process.processIdentifier
        // A thread that waits, not a handler: Dispatch still watched the pipe of a program that was
        // gone, and now and then took the whole run of tests with it.
        Thread.detachNewThread { [weak self] in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(pipe.fileHandleForReading.fileDescriptor, &chunk, chunk.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    self?.tell { $0.hasSaidAll = true }
                    return
                }
                let text = String(decoding: chunk.prefix(count), as: UTF8.self)
                self?.tell { $0.output += text }
            }
        }
        process.terminationHandler = { [weak self] process in
            let status =
                process.terminationReason == .exit
                ? process.terminationStatus : -process.terminationStatus
            self?.tell { $0.status = status }
        }
        // It may have ended before anybody listened.
        if !process.isRunning { process.terminationHandler?(process) }
    }

    /// One at a time: what is started meanwhile would hold open what belongs to another.
    static let whileStarting = Mutex(())

    /// What it wrote until now, to both outputs.
    var output: String { state.withLock { $0.output } }

    /// How it ended, or nil; the number of a signal is negative.
    var status: Int32? { state.withLock { $0.status } }

    private func tell(_ change: (inout State) -> Void) {
        let watchers = state.withLock { state in
            change(&state)
            return state.watchers
        }
        for watcher in watchers { watcher.yield() }
    }

    private func signals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.watchers.append(continuation) }
        return stream
    }

    /// Waits until it has written this, or has ended.
    func says(_ text: String) async throws {
        try await eventually("“\(text)” of \(Self.path)", after: [signals()]) {
            output.contains(text) || status != nil
        }
        guard output.contains(text) else { throw Late(description: "it ended: \(output)") }
    }

    /// Waits until it has ended; returns how.
    @discardableResult
    func ended(within seconds: Double = 120) async throws -> Int32 {
        try await eventually("the end of a process", within: seconds, after: [signals()]) {
            state.withLock { $0.status != nil && $0.hasSaidAll }
        }
        return status ?? 0
    }

    func signal(_ number: Int32) { kill(processID, number) }

    /// Runs a command to its end.
    static func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
        let program = try Program(arguments)
        let status = try await program.ended()
        return (status, program.output)
    }
}

/// A node in a process of its own, which can be killed and come back.
actor NodeProcess {
    nonisolated let home: String
    nonisolated let address: String
    /// The words that were printed when the home was made; nil where it was made otherwise.
    nonisolated let recoveryCode: String?
    private let namespace: String?
    private let environment: [String: String]
    private var program: Program?
    /// What it has written since it was started last.
    var output: String { program?.output ?? "" }
    private(set) var client: NodeClient?
    var processID: Int32? { program?.processID }

    /// Makes the home; the node does not run yet.
    init(
        home: String, name: String, port: UInt16, environment: [String: String] = [:]
    ) async throws {
        self.home = home
        namespace = nil
        self.environment = environment
        address = "127.0.0.1:\(port)"
        let made = try await Program.run("init", "--home", home, "--name", name)
        guard made.status == 0 else { throw Late(description: made.output) }
        recoveryCode = made.output.split(separator: "\n").map(String.init).first {
            $0.split(separator: "-").count == 14
        }
    }

    /// A home that was made before, or is yet to be.
    init(
        home: String, address: String, namespace: String? = nil,
        environment: [String: String] = [:]
    ) {
        self.home = home
        self.address = address
        self.namespace = namespace
        self.environment = environment
        recoveryCode = nil
    }

    /// Runs it, and waits until it answers.
    ///
    /// - Parameters:
    ///   - isHidden: whether it listens nowhere, so that nobody can dial it.
    ///   - options: what else `parley run` is told.
    @discardableResult
    func start(isHidden: Bool = false, options: [String] = []) async throws -> NodeClient {
        let place = isHidden ? ["--no-listen"] : ["--listen", address]
        let program = try Program(
            ["run", "--home", home] + place + options, inNamespace: namespace,
            environment: environment)
        self.program = program
        try await program.says(isHidden ? "Ctrl-C stops it" : "listening on")
        guard let client = try await NodeClient.connect(home: home) else {
            throw Late(description: "no socket: \(program.output)")
        }
        self.client = client
        return client
    }

    /// Kills it, wherever it is.
    func kill() async throws { _ = try await end(SIGKILL) }

    /// Ends it in good order. Returns its exit status.
    func stop() async throws -> Int32 { try await end(SIGTERM) }

    private func end(_ signal: Int32) async throws -> Int32 {
        guard let program else { return 0 }
        program.signal(signal)
        let status = try await program.ended()
        await client?.close()
        client = nil
        self.program = nil
        return status
    }

    /// Runs a command for its home to the end, as its person does beside it.
    nonisolated func run(_ words: String...) async throws -> (status: Int32, output: String) {
        try await run(words)
    }

    nonisolated func run(_ words: [String]) async throws -> (status: Int32, output: String) {
        let command = try Program(words + ["--home", home])
        return (try await command.ended(), command.output)
    }

    deinit { program?.signal(SIGKILL) }
}

/// Ports of this machine that nobody is on, below those that the system gives out itself.
enum FreePort {
    /// A node that is stopped and started again finds its port as it left it.
    private static let given = Mutex<Set<UInt16>>([])

    static func some() throws -> UInt16 {
        for _ in 0..<100 {
            let port = UInt16.random(in: 20_000..<32_000)
            guard given.withLock({ $0.insert(port).inserted }) else { continue }
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let isFree = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isFree { return port }
        }
        throw Late(description: "no free port")
    }
}
