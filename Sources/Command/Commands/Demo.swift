import ArgumentParser
import Foundation
import Parley
import ParleyImporting

/// `parley demo`: three people's nodes, here and now, over real TCP.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "show three nodes that talk, part and meet again",
        discussion: """
            Starts the nodes of three people in temporary folders. They meet by invites and talk \
            over TCP on this machine; one of them is disconnected while all keep writing; they \
            meet again, and each prints what it then holds: three equal digests. Nothing is kept.

            Example:
              parley demo
              parley demo --log 2004-12-25.train-c.log
            """)

    @Option(name: .long, help: "an IRC log, whose nicknames are spread over the three nodes")
    var log: String?

    func run() async throws {
        let lines = try log.map { try DemoScript.lines(ofLog: $0) }
        try await Demo(lines: lines).run()
    }
}

/// One line of the talk, and which of the three says it.
struct DemoLine: Equatable {
    var person: Int
    var text: String
}

/// What the three say if no log is given, or a log's content.
enum DemoScript {
    static let together = [
        DemoLine(person: 0, text: "the mountain hut has room for all of us"),
        DemoLine(person: 1, text: "great, I bring the rope"),
        DemoLine(person: 2, text: "and I the maps"),
    ]
    static let apart = [
        DemoLine(person: 0, text: "who has the key?"),
        DemoLine(person: 1, text: "no signal up here, I write anyway"),
        DemoLine(person: 2, text: "the key hangs at the farm"),
        DemoLine(person: 1, text: "snow from eight hundred metres on"),
        DemoLine(person: 0, text: "then we start an hour earlier"),
    ]

    /// The beginnings of both halves of a safety number: each half is of one person, so that two numbers
    /// of the same person have one in common.
    static func excerpt(of number: String) -> String {
        let groups = number.split(separator: " ")
        let halves = [groups.prefix(groups.count / 2), groups.dropFirst(groups.count / 2)]
        return halves.map { $0.prefix(2).joined(separator: " ") + " …" }.joined(separator: " ")
    }

    /// At most this many messages of a log are told.
    static let lineCountMax = 400

    /// The messages of a log; each nickname stays with one of the three.
    static func lines(ofLog path: String) throws -> [DemoLine] {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw NodeError("no-file", "Cannot read \(path).")
        }
        guard let day = CalendarDay("2000-01-01") else {
            preconditionFailure("a day of the calendar")
        }
        var persons: [String: Int] = [:]
        var log = IRCLog(day: day)
        var lines: [DemoLine] = []
        for line in bytes.split(separator: 10) where lines.count < lineCountMax {
            guard case .message(let message) = log.read(Array(line)[...]) else { continue }
            let person = persons[message.author] ?? persons.count % 3
            persons[message.author] = person
            lines.append(DemoLine(person: person, text: "<\(message.author)> \(message.text)"))
        }
        guard lines.count >= 3 else {
            throw NodeError(
                "no-log", "\(path) holds no conversation.", hint: "See `parley import irc --help`.")
        }
        return lines
    }
}

/// The demonstration itself.
struct Demo {
    private static let names = ["ann", "ben", "cara"]
    private let together: [DemoLine]
    private let apart: [DemoLine]
    private let isLong: Bool

    init(lines: [DemoLine]?) {
        if let lines {
            together = Array(lines.prefix(lines.count / 2))
            apart = Array(lines.suffix(lines.count - lines.count / 2))
        } else {
            together = DemoScript.together
            apart = DemoScript.apart
        }
        isLong = lines != nil
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("parley-demo-\(getpid())").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        // What is left behind of a temporary folder harms nobody.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var nodes: [Node] = []
        for name in Self.names { nodes.append(try await begin(name, in: folder)) }
        let group = try await meet(nodes)
        try await talk(nodes, in: group)
        try await part(nodes, in: group)
        try await meetAgain(nodes, in: group)
        try await search(nodes[2])
        for node in nodes { await node.shutdown() }
        print(
            """

            The folders of this demonstration were removed. To create your own node:
              parley init --name YOURNAME
              parley run
              parley invite        (and the other person: parley accept LINK)
            """)
    }

    private func begin(_ name: String, in folder: String) async throws -> Node {
        let (node, _) = try await Node.create(
            NodeSettings(home: folder + "/" + name, network: "demo"), name: name)
        let addresses = try await node.start(listen: ["127.0.0.1:0"])
        print("\(name.padded(4))  listens on \(addresses.joined(separator: ", "))")
        return node
    }

    /// Lets each pair meet, and all three come into a group. Returns the group.
    private func meet(_ nodes: [Node]) async throws -> String {
        print("\nThey meet: each pair by a one-use invite.")
        for (host, guest) in [(0, 1), (0, 2), (1, 2)] {
            let invite = try await nodes[host].perform(CreateInvite(hours: 1))
            try await nodes[guest].perform(AcceptInvite(link: invite.link))
            try await wait(nodes[guest], "\(Self.names[guest]) meets \(Self.names[host])") {
                try await $0.perform(ListConversations()).contains { $0.name == Self.names[host] }
            }
            let number = try await nodes[host].perform(GetSafetyNumber(person: Self.names[guest]))
                .number
            print(
                "  \(Self.names[host]) and \(Self.names[guest])  safety number "
                    + DemoScript.excerpt(of: number))
        }
        let group = try await nodes[0].perform(
            CreateConversation(name: "hut", members: ["ben", "cara"])
        ).id
        for (name, node) in zip(Self.names, nodes).dropFirst() {
            try await wait(node, "the invitation") {
                try await $0.perform(ListInvitations()).waiting.contains { $0.id == group }
            }
            try await node.perform(AnswerInvitation(conversation: group, accepting: true))
            print("  \(name.padded(4))  is invited into “hut”, and accepts")
        }
        for node in nodes {
            try await wait(node, "the group") {
                try await $0.perform(ListConversations()).contains { $0.id == group }
            }
        }
        return group
    }

    private func talk(_ nodes: [Node], in group: String) async throws {
        print("\nA direct word, and a group:")
        try await nodes[1].perform(SendMessages(conversation: "ann", texts: ["are you in?"]))
        try await wait(nodes[0], "ben's word") { node in
            let page = try await node.perform(ReadMessages(conversation: "ben", limit: 1))
            return page.messages.last?.text == "are you in?"
        }
        try await say(together, nodes, group)
        try await settle(nodes, group, count: together.count)
        try await show(nodes[2], group, as: "cara")
    }

    /// Cuts ben off while all write on.
    private func part(_ nodes: [Node], in group: String) async throws {
        print("\nben is disconnected. All keep writing:")
        try await nodes[1].perform(SetOffline(on: true))
        try await say(apart, nodes, group)
        let late = apart.filter { $0.person == 1 }.count
        try await settle([nodes[0], nodes[2]], group, count: together.count + apart.count - late)
        for (name, node) in zip(Self.names, nodes) {
            let digest = try await digest(node, group)
            print(
                "  \(name.padded(4))  \(digest.operations) operations  \(digest.digest.prefix(16))")
        }
    }

    /// Lets ben come back, and shows what each of them then holds.
    private func meetAgain(_ nodes: [Node], in group: String) async throws {
        print("\nben is back.")
        let start = ContinuousClock.now
        try await nodes[1].perform(SetOffline(on: false))
        try await settle(nodes, group, count: together.count + apart.count)
        // Those that were found equal are shown: the next receipt changes them, one after the other.
        var found: [String] = []
        try await wait(nodes[0], "three equal digests") { _ in
            found = try await digests(nodes, group)
            return Set(found).count == 1
        }
        let time = start.duration(to: .now)
        try await show(nodes[1], group, as: "ben")
        print("\nWhat each of them holds of the group, in one hash:")
        for (name, digest) in zip(Self.names, found) {
            print("  \(name.padded(4))  \(digest)")
        }
        print(
            "Equal, \(time.formatted(.units(allowed: [.seconds, .milliseconds]))) after ben came back."
        )
    }

    private func say(_ lines: [DemoLine], _ nodes: [Node], _ group: String) async throws {
        for line in lines {
            try await nodes[line.person].perform(
                SendMessages(conversation: group, texts: [line.text]))
        }
    }

    private func show(_ node: Node, _ group: String, as name: String) async throws {
        let limit = isLong ? 6 : 20
        let page = try await node.perform(ReadMessages(conversation: group, limit: limit))
        print("  what \(name) reads\(isLong ? " (the end of it)" : ""):")
        for message in page.messages {
            let late = message.isLate ? "  (came late)" : ""
            print("    \(message.author.padded(4))  \(harmless(message.text ?? ""))\(late)")
        }
    }

    private func settle(_ nodes: [Node], _ group: String, count: Int) async throws {
        for node in nodes {
            try await wait(node, "\(count) messages") { node in
                var seen = 0
                var cursor: String?
                repeat {
                    let page = try await node.perform(
                        ReadMessages(conversation: group, before: cursor, limit: 1000))
                    seen += page.messages.count
                    cursor = page.cursor
                } while cursor != nil
                return seen >= count
            }
        }
    }

    /// Finds something that ben wrote, on cara's device.
    private func search(_ node: Node) async throws {
        guard let text = isLong ? apart.first?.text : "snowing from:ben" else { return }
        let words = isLong ? text.split(separator: " ").max { $0.count < $1.count } : nil
        let query = words.map { String($0.filter { $0.isLetter || $0.isNumber }) } ?? text
        let reply = try await node.perform(SearchMessages(query, limit: 3))
        print("\ncara searches for “\(harmless(query))”:")
        for hit in reply.hits { print(SearchLines.lines(hit).joined(separator: "\n")) }
        for note in reply.notes { print("  " + harmless(note)) }
    }

    private func digest(
        _ node: Node, _ group: String
    ) async throws -> (digest: String, operations: Int) {
        let view = try await node.perform(ListDigests()).first { $0.conversation == group }
        return (view?.digest ?? "", view?.operationCount ?? 0)
    }

    private func digests(_ nodes: [Node], _ group: String) async throws -> [String] {
        var digests: [String] = []
        for node in nodes { digests.append(try await digest(node, group).digest) }
        return digests
    }

    /// Checks repeatedly until a condition holds; a hanging demonstration says what it waits for.
    private func wait(
        _ node: Node, _ what: String, _ condition: (Node) async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while try await !condition(node) {
            guard ContinuousClock.now < deadline else {
                throw NodeError("demo", "Waited 30 s in vain for: \(what).")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
