import Foundation
import Parley
import ParleyLocalAPI

/// Something did not come true in time.
struct Late: Error, CustomStringConvertible {
    let description: String
}

/// Waits for something to become true: looks at once, and again after every signal.
func eventually(
    _ what: String, within seconds: Double = 120, after signals: [AsyncStream<Void>],
    _ condition: () async throws -> Bool
) async throws {
    let (wake, continuation) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let listeners = signals.map { signal in
        Task { for await _ in signal { continuation.yield() } }
    }
    let alarm = Task {
        // The one deadline of the wait: it only ever ends a failure.
        try await Task.sleep(for: .seconds(seconds))
        continuation.finish()
    }
    defer { for task in listeners { task.cancel() } }
    defer { alarm.cancel() }
    if try await condition() { return }
    for await _ in wake where try await condition() { return }
    throw Late(description: "\(what): not within \(seconds) s")
}

/// Waits for something to become true of nodes, looking after every change of one of them.
func eventually(
    _ what: String, on nodes: [any NodeService], within seconds: Double = 120,
    _ condition: () async throws -> Bool
) async throws {
    var signals: [AsyncStream<Void>] = []
    for node in nodes { signals.append(try await pulse(of: node)) }
    try await eventually(what, within: seconds, after: signals, condition)
}

/// Waits for something to become true of running processes.
///
/// A connection follows once, so each wait has connections of its own.
func eventually(
    _ what: String, on nodes: [NodeProcess], within seconds: Double = 120,
    _ condition: () async throws -> Bool
) async throws {
    var followers: [NodeClient] = []
    for node in nodes {
        guard let follower = try await NodeClient.connect(home: node.home) else {
            throw Late(description: "\(node.home) does not run")
        }
        followers.append(follower)
    }
    let result: Result<Void, any Error>
    do {
        result = .success(
            try await eventually(what, on: followers, within: seconds, condition))
    } catch {
        result = .failure(error)
    }
    for follower in followers { await follower.close() }
    try result.get()
}

/// Beats whenever something changes; beats that nobody waited for are one.
private func pulse(of node: any NodeService) async throws -> AsyncStream<Void> {
    let changes = try await node.changes()
    let (beats, continuation) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let task = Task {
        for await _ in changes { continuation.yield() }
        continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return beats
}

/// A folder that goes away with the test. Short: the path of a socket has at most 107 bytes.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let base = FileManager.default.temporaryDirectory.path
        path = base + "/parley-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func home(_ name: String) -> String { path + "/" + name }
}

/// The same numbers for the same seed.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
