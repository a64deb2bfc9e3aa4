import Foundation
import Parley
import ParleyLocalAPI

/// Everything a command touches besides its arguments. Tests put their own in its place.
struct World: Sendable {
    /// A node to ask, and how to release it.
    struct Access: Sendable {
        var node: any NodeService
        /// Whether a running node answers; else the home was opened for this command alone.
        var isRunning: Bool
        var close: @Sendable () async -> Void
    }

    @TaskLocal static var current = World()

    /// Where data goes.
    var output = Screen.open(STDOUT_FILENO, environment: ProcessInfo.processInfo.environment)
    /// Where talk goes.
    var talk = Screen.open(STDERR_FILENO, environment: ProcessInfo.processInfo.environment)
    /// Where a running node logs, regardless of `--quiet`.
    var log = Screen.open(STDERR_FILENO, environment: ProcessInfo.processInfo.environment)
    /// All of standard input, up to a bound.
    var readInput: @Sendable (_ byteCountMax: Int) throws -> [UInt8] = Self.readStandardInput
    /// Whether a person types the input.
    var isInputTerminal = isatty(STDIN_FILENO) == 1
    /// Where the person is.
    var timeZone = TimeZone.current
    /// The variables that say where a home is.
    var environment = ProcessInfo.processInfo.environment
    /// Shows a file with the program of this machine that is for it; false where none can.
    var show: @Sendable (_ path: String) throws -> Bool = Self.showFile
    /// Opens what answers for a home.
    var open: @Sendable (HomeOptions) async throws -> Access = Self.openNode
    /// The same for a look that must not wait; nil where nothing is to be seen.
    var glance: @Sendable (_ home: String) async throws -> Access? = Self.glanceAtNode

    /// Writes one line, or several, of data.
    func write(_ text: String) { output.put(text + "\n") }

    /// Says a line of talk.
    func say(_ text: String) { talk.put(text + "\n") }

    /// Says a line of talk that names commands, which hold for the home that was named.
    func advise(_ text: String) { say(Advice.complete(text)) }

    /// Says what is so, and by what it is changed; that only where this node may write.
    func say(_ fact: String, way: String, on node: any NodeService) async throws {
        let mayWrite = try await node.perform(GetStatus()).readOnlyReason == nil
        advise(mayWrite ? "\(fact) \(way)" : fact)
    }

    /// Says something that stays on its line, to be written over.
    func sayInPlace(_ text: String) { talk.put("\r\u{1B}[K" + text) }

    /// Asks the person at the terminal, and says whether they agree; no answer is a no.
    func agrees(_ question: String) -> Bool {
        sayInPlace(question + " [y/N] ")
        guard let answer = readLine()?.lowercased() else { return false }
        return ["y", "yes"].contains(answer)
    }

    /// Throws if the output did not arrive: nobody has seen it, so nothing may follow from it.
    func checkOutput() throws {
        guard let failure = output.failure() else { return }
        throw OutputError(code: failure)
    }

    /// The running node, else the home.
    static func openNode(_ options: HomeOptions) async throws -> Access {
        try await reach(
            options.path,
            running: { client in
                Access(node: client, isRunning: true, close: { await client.close() })
            },
            home: { try await HomeNode.open(home: $0, passphrase: options.passphrase) })
    }

    /// The running node, else the home where it is free.
    static func glanceAtNode(_ home: String) async throws -> Access? {
        if let client = try await NodeClient.connect(home: home) {
            return Access(node: client, isRunning: true, close: { await client.close() })
        }
        guard Node.exists(at: home) else { return nil }
        return try await HomeNode.glance(home: home)
    }

    /// Goes through the running node where one answers, else opens the home.
    ///
    /// A home that is in use without a node that answers belongs to a command that is about to end
    /// or to a node that is about to run: both are waited for, a little.
    ///
    /// - Parameter asksSocket: false where this very process was handed the socket of the home: there would
    ///   be nobody to answer.
    static func reach<R: Sendable>(
        _ home: String, asksSocket: Bool = true, running: (NodeClient) async throws -> R,
        home open: (String) async throws -> R
    ) async throws -> R {
        let deadline = ContinuousClock.now + .seconds(10)
        while true {
            if asksSocket, let client = try await NodeClient.connect(home: home) {
                return try await running(client)
            }
            do {
                return try await open(home)
            } catch let error as NodeError where error.code == "locked" {
                guard ContinuousClock.now < deadline else { throw error }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// Provides what answers for a home, and releases it whatever happens.
    func lend<R: Sendable>(
        _ place: HomeOptions, _ body: (Access) async throws -> R
    ) async throws -> R {
        let access = try await open(place)
        do {
            let result = try await body(access)
            await access.close()
            return result
        } catch {
            let told = await Losses.explained(error, by: access.node)
            await access.close()
            throw told
        }
    }

    /// Starts xdg-open and does not wait for it.
    private static func showFile(_ path: String) throws -> Bool {
        let environment = ProcessInfo.processInfo.environment
        let hasScreen = ["DISPLAY", "WAYLAND_DISPLAY"].contains {
            !(environment[$0] ?? "").isEmpty
        }
        let places = (environment["PATH"] ?? "/usr/bin").split(separator: ":").map(String.init)
        guard hasScreen, let place = places.first(where: { access($0 + "/xdg-open", X_OK) == 0 })
        else { return false }
        let process = Process()
        process.executableURL = URL(filePath: place + "/xdg-open")
        process.arguments = [path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        return true
    }

    private static func readStandardInput() throws -> Data? {
        do {
            return try FileHandle.standardInput.read(upToCount: 1 << 16)
        } catch {
            throw NodeError(
                "no-input", "The input cannot be read: it is closed, or is not a file.",
                hint: "Give the text as an argument, or from a file, with < FILE.")
        }
    }

    private static func readStandardInput(byteCountMax: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let more = try readStandardInput(), !more.isEmpty {
            bytes += more
            guard bytes.count <= byteCountMax else {
                throw NodeError(
                    "too-large", "The input has more than \(byteCountMax) bytes.",
                    hint: "Send it in parts.")
            }
        }
        return bytes
    }
}
