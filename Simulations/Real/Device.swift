internal import Foundation
internal import Glibc
internal import Parley
internal import ParleyLocalAPI

/// A real node in a process of its own, in a namespace of its own.
actor Device {
    /// How long a node may take until it answers.
    private static let startTimeMax = Duration.seconds(30)
    /// How often something without an event is looked at.
    private static let pause = Duration.milliseconds(20)

    nonisolated let user: String
    nonisolated let home: String
    private let program: String
    private let namespace: String
    private let address: String
    private var process: ChildProcess?
    private(set) var client: NodeClient?

    /// Makes the home; the node does not run yet.
    init(_ user: String, plan: NetworkPlan, program: String, folder: String) throws(RealFailure) {
        self.user = user
        self.program = program
        home = folder + "/" + user
        namespace = plan.namespace(of: user)
        address = plan.address(of: user) + ":\(NetworkPlan.port)"
        try Tool.run([program, "init", "--home", home, "--name", user])
    }

    /// Runs it, and waits until it answers. Does nothing where it runs.
    func start() async throws {
        guard client == nil else { return }
        let started = try process ?? spawn()
        process = started
        let deadline = ContinuousClock.now + Self.startTimeMax
        while ContinuousClock.now < deadline {
            if let status = started.status {
                // Another one may run by now, after a kill meanwhile.
                if process === started { process = nil }
                throw RealFailure("\(user)'s node ended with \(status): \(lastWords)")
            }
            // Not yet: the socket of a node that was killed may still lie there.
            if let client = try? await NodeClient.connect(home: home) {
                self.client = client
                return
            }
            try await Task.sleep(for: Self.pause)
        }
        throw RealFailure("\(user)'s node does not answer: \(lastWords)")
    }

    private func spawn() throws(RealFailure) -> ChildProcess {
        let log = open(home + ".log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(log) }
        // `ip netns exec` becomes the program: the number is that of the node itself.
        let words = ["ip", "netns", "exec", namespace, program, "run"]
        return try ChildProcess(
            words + ["--home", home, "--listen", address], output: log, isApart: true)
    }

    /// The end of what it said.
    private var lastWords: String {
        let said = FileManager.default.contents(atPath: home + ".log") ?? Data()
        return String(decoding: said.suffix(400), as: UTF8.self)
    }

    /// Kills it, wherever it is.
    func kill() async { await end(SIGKILL) }

    /// Ends it in good order, and returns its exit status; kills what does not end.
    @discardableResult
    func stop() async -> Int32 {
        let process = process
        await end(SIGTERM)
        return process?.status ?? 0
    }

    private func end(_ signal: Int32) async {
        guard let process else { return }
        process.signal(signal)
        let deadline = ContinuousClock.now + .seconds(15)
        while process.status == nil {
            if ContinuousClock.now > deadline { process.signal(SIGKILL) }
            // A cancelled wait does not sleep, and the process still has to end.
            try? await Task.sleep(for: Self.pause)
        }
        self.process = nil
        await client?.close()
        client = nil
    }

    /// Whether its process runs.
    var isUp: Bool { process != nil }

    /// Checks its store, while it runs or not. Returns what is wrong, or nil.
    nonisolated func doctor() throws(RealFailure) -> String? {
        let (status, output) = try Tool.attempt([program, "doctor", "--home", home])
        return status == 0 ? nil : output
    }

    /// The node; throws where it is down.
    func node() throws(RealFailure) -> any NodeService {
        guard let client else { throw RealFailure("\(user) is down") }
        return client
    }
}
