import Foundation
import Parley
import ParleyRelaying

/// What nodes feel of a relay: two of them that nobody can dial, in this process, and a relay in one
/// of its own.
extension RelayBench {
    static let nodeNames = ["relay-link", "relay-backlog"]
    /// Messages that wait for a node that was away.
    private static let backlogCount = 10_000

    func nodes(
        _ wanted: Set<String>, through relay: RelayProcess, fsync: Double
    ) async throws -> [Figure] {
        let text = RelayText(
            key: relay.place.key, addresses: ["\(relay.place.endpoint)"]
        ).text
        let home = folder + "/away"
        let (here, _) = try await Node.create(NodeSettings(home: folder + "/home"), name: "here")
        var (away, _) = try await Node.create(NodeSettings(home: home), name: "away")
        for node in [here, away] {
            try await node.start(listen: [])
            _ = try await node.addRelay(text)
        }
        let link = try await here.invite(hours: 1).link
        _ = try await away.accept(link: link, alias: nil)
        try await until { try await here.conversations().contains { $0.name == "away" } }
        try await until { try await away.conversations().contains { $0.name == "here" } }
        var figures: [Figure] = []
        if wanted.contains("relay-link") {
            say("sending 500 messages through a pipe")
            figures.append(try await oneWay(here, away, fsync: fsync))
        }
        if wanted.contains("relay-backlog") {
            await away.shutdown()
            say("putting \(Self.backlogCount) messages for a node that is away")
            try await leave(here)
            away = try await Node.open(NodeSettings(home: home))
            figures.append(try await fetch(away))
        }
        await away.shutdown()
        await here.shutdown()
        return figures
    }

    private func until(_ condition: () async throws -> Bool) async throws {
        let deadline = seconds() + 120
        while try await !condition() {
            guard seconds() < deadline else { throw NodeError("bench", "It took too long.") }
            // As above: a benchmark may wait.
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private func oneWay(_ here: Node, _ away: Node, fsync: Double) async throws -> Figure {
        var next = try await away.changes().makeAsyncIterator()
        var samples: [Double] = []
        for number in 0..<500 {
            let text = "ping \(number)"
            let start = seconds()
            _ = try await here.send(conversation: "away", texts: [text], replyTo: nil)
            while let change = await next.next(), change.message?.text != text {}
            samples.append(seconds() - start)
        }
        return Figure(
            "relay-link", samples: samples, unit: "s", limit: fsync,
            note: "command here to shown there, through a pipe of a relay in another process: one "
                + "fsync here, a commit there")
    }

    /// Writes what will wait, and goes away once the relay has it.
    private func leave(_ here: Node) async throws {
        for piece in 0..<(Self.backlogCount / 100) {
            let texts = (0..<100).map { "message \(piece * 100 + $0), as long as many of them are" }
            _ = try await here.send(conversation: "away", texts: texts, replyTo: nil)
        }
        try await until {
            try await here.outbox().first?.relayedCount ?? 0 >= Self.backlogCount
        }
        here.setOffline(true)
    }

    private func fetch(_ away: Node) async throws -> Figure {
        let before = try await away.status().operationCount
        let start = seconds()
        try await away.start(listen: [])
        try await until {
            try await away.status().operationCount >= before + Self.backlogCount
        }
        return Figure(
            "relay-backlog", samples: [seconds() - start], unit: "s", budget: 3,
            note: "start until \(Self.backlogCount) messages that lay on a relay are stored, each "
                + "envelope opened, verified and readable")
    }
}
