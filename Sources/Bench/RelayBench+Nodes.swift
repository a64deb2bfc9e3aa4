import Foundation
import Parley
import ParleyRelaying

/// What nodes feel of a relay: two of them that nobody can dial, in this process, and a relay in one
/// of its own.
extension RelayBench {
    static let nodeNames = ["relay-link", "relay-backlog", "relay-singles", "relay-newest"]
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
            try await node.perform(AddRelay(text: text))
        }
        let link = try await here.perform(CreateInvite(hours: 1)).link
        try await away.perform(AcceptInvite(link: link))
        try await until("one knows the other") {
            try await here.perform(ListConversations()).contains { $0.name == "away" }
        }
        try await until("the other knows one") {
            try await away.perform(ListConversations()).contains { $0.name == "here" }
        }
        var figures: [Figure] = []
        if wanted.contains("relay-link") {
            say("sending 500 messages through a pipe")
            figures.append(try await oneWay(here, away, fsync: fsync))
        }
        let backlogs = [("relay-backlog", 100), ("relay-singles", 1)]
        for (name, piece) in backlogs
        where wanted.contains(name) || (piece == 1 && wanted.contains("relay-newest")) {
            await away.shutdown()
            say("putting \(Self.backlogCount) messages for a node that is away, \(piece) at a time")
            try await leave(here, name, each: piece)
            away = try await Node.open(NodeSettings(home: home))
            figures += try await fetch(away, name, each: piece)
            try await here.perform(SetOffline(on: false))
            try await until("all was delivered") { try await here.perform(ListOutbox()).isEmpty }
        }
        await away.shutdown()
        await here.shutdown()
        return figures
    }

    private func until(
        _ what: String, _ condition: () async throws -> Bool
    ) async throws {
        let deadline = seconds() + 120
        while try await !condition() {
            guard seconds() < deadline else {
                throw NodeError("bench", "It took too long until \(what).")
            }
            // A benchmark may wait; asking more often would be a good part of what is measured.
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func oneWay(_ here: Node, _ away: Node, fsync: Double) async throws -> Figure {
        var next = try await away.changes().makeAsyncIterator()
        var samples: [Double] = []
        for number in 0..<500 {
            let text = "ping \(number)"
            let start = seconds()
            try await here.perform(SendMessages(conversation: "away", texts: [text]))
            while let change = await next.next(), change.message?.text != text {}
            samples.append(seconds() - start)
        }
        return Figure(
            "relay-link", samples: samples, unit: "s", limit: fsync,
            note: "command here to shown there, through a pipe of a relay in another process: one "
                + "fsync here, a commit there")
    }

    /// Writes what will wait, so many in an envelope, and goes away once the relay has it.
    private func leave(_ here: Node, _ name: String, each piece: Int) async throws {
        for first in stride(from: 0, to: Self.backlogCount, by: piece) {
            let texts = (first..<first + piece).map { "\(name) \($0), as long as many are" }
            try await here.perform(SendMessages(conversation: "away", texts: texts))
        }
        try await until("the relay has them") {
            try await here.perform(ListOutbox()).first?.relayedCount ?? 0 >= Self.backlogCount
        }
        try await here.perform(SetOffline(on: true))
    }

    private func fetch(_ away: Node, _ name: String, each piece: Int) async throws -> [Figure] {
        let before = try await away.perform(GetStatus()).operationCount
        let newest = "\(name) \(Self.backlogCount - 1),"
        let start = seconds()
        try await away.start(listen: [])
        try await until("the newest is shown") {
            let page = try await away.perform(ReadMessages(conversation: "here", limit: 50))
            return page.messages.last?.text?.hasPrefix(newest) == true
        }
        let shown = seconds() - start
        try await until("all are stored") {
            try await away.perform(GetStatus()).operationCount >= before + Self.backlogCount
        }
        let whole = Figure(
            name, samples: [seconds() - start], unit: "s", budget: 3,
            note: "start until \(Self.backlogCount) messages that lay on a relay, \(piece) in an "
                + "envelope, are stored; each envelope opened, verified and readable")
        guard piece == 1 else { return [whole] }
        return [
            whole,
            Figure(
                "relay-newest", samples: [shown], unit: "s",
                note: "start until the newest of them is readable"),
        ]
    }
}
