import Foundation
import Parley
import ParleyRelaying

/// What signals of a call take from one node's command to another's screen: over a link on loopback,
/// and through a relay that makes no pipes, between nodes that nobody can dial.
struct CallBench {
    static let names = ["call-link", "call-relay"]
    /// Signals that are measured; no more a second than a node takes of a link.
    private static let count = 200
    private static let pause: Duration = .milliseconds(25)
    /// Neither of them takes longer, whatever fails.
    private static let patience: Duration = .seconds(14)

    /// Plays the program for sound and pictures: every connection comes about at once.
    private static let media = """
        while read -r line; do
          leg=${line#*'"leg":"'}; leg=${leg%%'"'*}
          say() { printf '{"news":"%s","leg":"%s","description":"%s"}\\n' "$1" "$leg" "$1"; }
          case "$line" in
            *'"order":"offer"'*) say offer ;;
            *'"order":"answer"'*) say answer; say connected ;;
            *'"order":"take"'*) say connected ;;
          esac
        done
        """

    let folder: String
    let program: String
    let say: @Sendable (String) -> Void

    func run(_ wanted: Set<String>) async throws -> [Figure] {
        var figures: [Figure] = []
        if wanted.contains("call-link") {
            let nodes = try await Self.pair(folder + "/linked", relay: nil)
            say("\(Self.count) signals of a call over a link")
            let samples = try await measured(nodes)
            figures.append(
                Figure(
                    "call-link", samples: samples, unit: "s", budget: 10e-3,
                    note: "command here to shown there: a signal of a call over a link"))
        }
        if wanted.contains("call-relay") {
            let relay = try RelayProcess(
                program: program, home: folder + "/relay", options: ["--no-pipes"])
            defer { relay.end() }
            let text = RelayText(key: relay.place.key, addresses: ["\(relay.place.endpoint)"]).text
            let nodes = try await Self.pair(folder + "/apart", relay: text)
            say("\(Self.count) signals of a call through a relay")
            let samples = try await measured(nodes)
            figures.append(
                Figure(
                    "call-relay", samples: samples, unit: "s", budget: 30e-3,
                    note: "the same through a relay in another process that makes no pipes and "
                        + "keeps nothing of them"))
        }
        return figures
    }

    /// Measures within bounds, and ends the nodes.
    private func measured(_ nodes: (Node, Node)) async throws -> [Double] {
        let result: Result<[Double], any Error>
        do {
            result = .success(
                try await Self.within(Self.patience) { try await Self.samples(nodes.0, nodes.1) })
        } catch {
            result = .failure(error)
        }
        await nodes.0.shutdown()
        await nodes.1.shutdown()
        return try result.get()
    }

    private static func samples(_ here: Node, _ there: Node) async throws -> [Double] {
        var next = try await there.changes().makeAsyncIterator()
        try await here.perform(StartCall(conversation: "there", media: []))
        while let change = await next.next(), change.call?.state != "ringing" {}
        try await there.perform(AnswerCall(call: "", media: []))
        while let change = await next.next() {
            let members = change.call?.members ?? []
            if members.contains(where: { $0.connection == "connected" }) { break }
        }
        var samples: [Double] = []
        for number in 0..<count {
            let media = number % 2 == 0 ? ["microphone"] : []
            let start = seconds()
            try await here.perform(SetCallMedia(call: "", media: media))
            while let change = await next.next() {
                let other = change.call?.members.first { !$0.isThis }
                if other?.media == media { break }
            }
            samples.append(seconds() - start)
            // A node takes only so many signals of one link in a second.
            try await Task.sleep(for: pause)
        }
        return samples
    }

    // MARK: Nodes

    /// Two who know each other: linked, or joined by a relay alone.
    private static func pair(_ folder: String, relay: String?) async throws -> (Node, Node) {
        var nodes: [Node] = []
        for name in ["here", "there"] {
            let settings = NodeSettings(home: folder + "/" + name)
            let node = try await Node.create(settings, name: name).node
            try await node.start(listen: ["127.0.0.1:0"])
            try await node.perform(SetMediaProgram(words: ["/bin/sh", "-c", media]))
            if let relay { _ = try await node.perform(AddRelay(text: relay)) }
            nodes.append(node)
        }
        let link = try await nodes[0].perform(CreateInvite(hours: 1)).link
        try await nodes[1].perform(AcceptInvite(link: link))
        for (node, name) in zip(nodes, ["there", "here"]) {
            try await until("the two have met") {
                try await node.perform(ListConversations()).contains { $0.name == name }
            }
            try await until("everything has arrived") {
                let digests = try await nodes[0].perform(ListDigests()).map(\.digest)
                return try await nodes[1].perform(ListDigests()).map(\.digest) == digests
            }
        }
        guard relay != nil else { return (nodes[0], nodes[1]) }
        for (place, name) in ["here", "there"].enumerated() {
            await nodes[place].shutdown()
            nodes[place] = try await Node.open(NodeSettings(home: folder + "/" + name))
        }
        for node in nodes { try await node.start(listen: []) }
        for node in nodes {
            try await until("the relay is read") {
                try await node.perform(ListRelays()).allSatisfy { $0.state == "connected" }
            }
        }
        return (nodes[0], nodes[1])
    }

    private static func until(_ what: String, _ condition: () async throws -> Bool) async throws {
        let deadline = seconds() + 10
        while try await !condition() {
            guard seconds() < deadline else {
                throw NodeError("bench", "It took too long until \(what).")
            }
            // Nothing is measured yet.
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private static func within<R: Sendable>(
        _ patience: Duration, _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        try await withThrowingTaskGroup(of: R.self) { group in
            group.addTask { try await body() }
            group.addTask {
                // Ends a measurement that would not end.
                try await Task.sleep(for: patience)
                throw NodeError("bench", "Signals of a call took too long.")
            }
            guard let first = try await group.next() else {
                throw NodeError("bench", "Nothing was measured.")
            }
            group.cancelAll()
            return first
        }
    }
}
