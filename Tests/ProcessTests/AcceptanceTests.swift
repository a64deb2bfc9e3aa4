import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Three people with two devices each, all in the group `log`; every device is a process.
private struct Households {
    static let group = "log"
    /// It takes twenty seconds in all; a machine that runs everything else at once takes minutes.
    static let patience = 240.0

    let people: Neighbours
    let annPhone, benPhone, caraPhone: NodeProcess

    var everybody: [NodeProcess] {
        [people.ann, annPhone, people.ben, benPhone, people.cara, caraPhone]
    }

    init() async throws {
        let people = try await Neighbours()
        self.people = people
        try await people.meet(people.ann, people.ben, named: "ben")
        try await people.meet(people.ann, people.cara, named: "cara")
        async let first = Self.phone(of: people.ann, people)
        async let second = Self.phone(of: people.ben, people)
        async let third = Self.phone(of: people.cara, people)
        (annPhone, benPhone, caraPhone) = try await (first, second, third)
        let ann = try await people.client(people.ann)
        try await ann.perform(CreateConversation(name: Self.group, members: ["ben", "cara"]))
        try await eventually("two devices of each are in", on: everybody, within: Self.patience) {
            for node in everybody {
                let group = try? await people.client(node).perform(
                    GetGroup(conversation: Self.group))
                guard group?.members.map(\.devices.count) == [2, 2, 2] else { return false }
            }
            return true
        }
    }

    /// A second device of a person, which runs.
    private static func phone(
        of node: NodeProcess, _ people: Neighbours
    ) async throws -> NodeProcess {
        let text = try await people.client(node).perform(StartPairing()).text
        let home = node.home + "-phone"
        let linked = try await Program.run(
            "device", "accept-link", text, "--home", home, "--name", "phone", "--wait", "0")
        guard linked.status == 0 else { throw Late(description: linked.output) }
        let phone = NodeProcess(home: home, address: "127.0.0.1:\(try FreePort.some())")
        try await phone.start()
        return phone
    }

    /// Every text that a device shows of the group.
    func texts(_ node: NodeProcess) async throws -> Set<String> {
        let messages = try await everyMessage(of: people.client(node), in: Self.group)
        return Set(messages.compactMap(\.text))
    }

    /// Waits until these devices show the same of the group: all of this, and nothing else.
    func agree(
        _ nodes: [NodeProcess], on expected: Set<String>, _ what: String
    ) async throws {
        do {
            try await wait(nodes, for: expected, what)
        } catch let late as Late {
            var found = late.description
            for node in nodes { found += try await "\n" + account(of: node, against: expected) }
            throw Late(description: found)
        }
        for node in nodes { #expect(try await texts(node) == expected) }
    }

    /// What a device lacks or has too much, and what it says of itself.
    private func account(
        of node: NodeProcess, against expected: Set<String>
    ) async throws -> String {
        let (client, shown) = (try await people.client(node), try await texts(node))
        let status = try await client.perform(GetStatus())
        let digest = try await client.perform(ListDigests()).first { $0.name == Self.group }
        return """
            \(node.home): lacks \(expected.subtracting(shown).sorted()), has besides \
            \(shown.subtracting(expected).sorted()), \(digest?.operationCount ?? 0) operations, \
            digest \(digest?.digest.prefix(8) ?? ""), \
            links \(status.links.map { "\($0.name) \($0.device.prefix(4))" }), \
            refused \(status.refusals), catching up \(status.isCatchingUp), \
            members \(try await client.perform(GetGroup(conversation: Self.group)).members.map { [$0.name: $0.devices.count] })
            """
    }

    private func wait(
        _ nodes: [NodeProcess], for expected: Set<String>, _ what: String
    ) async throws {
        try await eventually(what, on: nodes, within: Self.patience) {
            var digests: Set<String> = []
            for node in nodes {
                let all = try await people.client(node).perform(ListDigests())
                guard let own = all.first(where: { $0.name == Self.group }) else { return false }
                digests.insert(own.digest)
            }
            guard digests.count == 1 else { return false }
            return try await texts(nodes[0]) == expected
        }
    }

    /// Waits until a device that is told of its end knows.
    func isRevoked(_ node: NodeProcess) async throws {
        try await eventually("\(node.home) knows", on: [node], within: Self.patience) {
            try await people.client(node).perform(GetStatus()).readOnlyReason?.contains("revoked")
                == true
        }
    }

    /// Waits until a device tells what became of others. Ben's phone and his restored device may both
    /// tell of the same: it is told once.
    func tells(_ node: NodeProcess, of changes: [String]) async throws {
        try await eventually("it is told", on: [node], within: Self.patience) {
            try await people.client(node).perform(ListMembershipEvents(conversation: Self.group))
                .filter { $0.holds && $0.change.hasPrefix("device") }
                .map { "\($0.name) \($0.change)" }.sorted() == changes
        }
    }

    /// Whether any file of a home holds one of these texts as it is.
    func files(of node: NodeProcess, hold texts: [String]) throws -> Bool {
        for file in try FileManager.default.contentsOfDirectory(atPath: node.home) {
            // The socket is no file that could be read.
            guard let bytes = FileManager.default.contents(atPath: node.home + "/" + file) else {
                continue
            }
            if texts.contains(where: { bytes.range(of: Data($0.utf8)) != nil }) { return true }
        }
        return false
    }
}

@Suite("Three people with two devices each", .serialized, .timeLimit(.minutes(15)))
struct AcceptanceTests {
    /// A real log is told in a group. Then the network falls in two. On one side ann removes cara,
    /// her phone is stolen and revoked, and ben's laptop is lost; on the other side nobody knows of
    /// it and all write on. Ben comes back from a backup, and the two sides meet.
    @Test("end alike, and who was removed or revoked reads nothing new from their saved homes")
    func everything() async throws {
        let world = try await Households()
        let people = world.people
        let (annLaptop, benLaptop) = (people.ann, people.ben)
        let log = try LogReplay.today()
        #expect(log.lines.count >= 20)
        let first = try await log.part(0, 0.5).play(
            in: Households.group, by: world.everybody)
        var expected = Set(first.joined())
        try await world.agree(world.everybody, on: expected, "the first half is everywhere")
        let backup = people.folder.path + "/ben.backup"
        let made = try await people.client(benLaptop).perform(
            CreateBackup(file: backup, replacing: false))
        #expect(made.operationCount > expected.count)

        let others = [world.benPhone, people.cara, world.caraPhone]
        // The other side finds itself again by addresses that each has from the other's card.
        try await eventually(
            "ben's phone is linked with cara", on: others, within: Households.patience
        ) {
            try await people.client(world.benPhone).perform(GetStatus()).links.contains {
                $0.name == "cara"
            }
        }
        for node in others { #expect(try await node.stop() == 0) }
        let before = try await oneSide(world, log.part(0.5, 0.8), &expected)
        // The other side: both of cara's devices and ben's phone, and nobody knows of anything.
        for node in others { try await node.start() }
        let third = try await log.part(0.8, 1).play(in: Households.group, by: others)
        try await world.agree(
            others, on: Set(first.joined()).union(third.joined()), "the other side agrees")

        // They meet; ben's laptop is gone, and he is back from his backup.
        let benNew = try await comeBack(world, backup: backup)
        try await annLaptop.start()
        let honest = [annLaptop, world.benPhone, benNew]
        expected.formUnion(third[0])
        try await world.agree(honest, on: expected, "all honest devices agree")

        let news = try await writeOn(world, honest, &expected)
        try await tryToRead(world, news, before: before, third, benNew)
        try await world.agree(honest, on: expected, "nothing of that changed anything")
        for node in honest {
            let client = try await people.client(node)
            #expect(try await client.perform(CheckStore()).checks.allSatisfy(\.isFine))
            try await world.tells(
                node, of: ["ann device-revoked", "ben device-revoked", "ben devices-added"])
            let status = try await client.perform(GetStatus())
            #expect(status.forkedDevices.isEmpty && status.readOnlyReason == nil)
            #expect(
                try await client.perform(GetGroup(conversation: Households.group)).members.map {
                    [$0.name: $0.devices.count]
                }
                    == [["ann": 1], ["ben": 2]])
        }
        for node in honest + [people.cara, world.caraPhone, world.annPhone, benLaptop] {
            #expect(try await node.stop() == 0)
        }
    }

    /// What happens between ann's devices and ben's laptop, which are off in the end. Returns what
    /// ann's phone had when it was stolen.
    private func oneSide(
        _ world: Households, _ part: LogReplay, _ expected: inout Set<String>
    ) async throws -> Set<String> {
        let people = world.people
        let (annLaptop, benLaptop) = (people.ann, people.ben)
        let ann = try await people.client(annLaptop)
        let group = try await ann.perform(
            RemoveGroupMember(conversation: Households.group, person: "cara"))
        #expect(group.members.map(\.name) == ["ann", "ben"])
        // Ben's laptop listens: what it wrote since his backup would hang on how much of it his new
        // device holds when it cuts the laptop off.
        let second = try await part.play(
            in: Households.group, by: [annLaptop, world.annPhone])
        expected.formUnion(second.joined())
        try await world.agree(
            [annLaptop, world.annPhone, benLaptop], on: expected, "one side agrees")
        let before = expected
        #expect(try await world.annPhone.stop() == 0)
        try await ann.perform(RevokeDevice(device: "phone"))
        try await ann.perform(
            SendMessages(conversation: Households.group, texts: ["my phone was stolen"]))
        expected.insert("my phone was stolen")
        try await world.agree([annLaptop, benLaptop], on: expected, "ben's laptop knows")
        for node in [annLaptop, benLaptop] { #expect(try await node.stop() == 0) }
        return before
    }

    /// Ben's new device, made of his backup; the phone that he still has stays his.
    private func comeBack(_ world: Households, backup: String) async throws -> NodeProcess {
        let people = world.people
        let code = people.folder.path + "/code"
        try Data(try #require(people.ben.recoveryCode).utf8).write(to: URL(filePath: code))
        let phone = try await people.client(world.benPhone).perform(GetStatus()).device
        let home = people.folder.home("ben-new")
        let restored = try await Program.run(
            "backup", "restore", backup, "--home", home, "--code-file", code, "--keep", phone,
            "--yes")
        #expect(restored.status == 0, "\(restored.output)")
        #expect(restored.output.contains("revoked"))
        let node = NodeProcess(home: home, address: "127.0.0.1:\(try FreePort.some())")
        try await node.start()
        return node
    }

    /// Every honest device writes once more, when all is settled.
    private func writeOn(
        _ world: Households, _ honest: [NodeProcess], _ expected: inout Set<String>
    ) async throws -> [String] {
        let news = ["nobody else reads this", "nor what ben's phone says", "nor the restored one"]
        for (node, text) in zip(honest, news) {
            let client = try await world.people.client(node)
            try await client.perform(SendMessages(conversation: Households.group, texts: [text]))
        }
        expected.formUnion(news)
        try await world.agree(honest, on: expected, "the news are everywhere")
        return news
    }

    /// Starts everybody who is out again from their saved homes, and looks what they get.
    private func tryToRead(
        _ world: Households, _ news: [String], before: Set<String>, _ third: [[String]],
        _ benNew: NodeProcess
    ) async throws {
        let people = world.people
        let ann = try await people.client(people.ann)
        let removed = [people.cara, world.caraPhone]
        for node in removed {
            #expect(try await node.stop() == 0)
            try await node.start()
        }
        for node in [world.annPhone, people.ben] { try await node.start() }
        for node in [world.annPhone, people.ben] { try await world.isRevoked(node) }
        // Cara is still a contact: what comes over the same links after the news is there.
        try await ann.perform(SendMessages(conversation: "cara", texts: ["sorry"]))
        for node in removed {
            try await eventually("cara is spoken to", on: [node], within: Households.patience) {
                let members = try await people.client(node).perform(
                    GetGroup(conversation: Households.group)
                ).members
                return try await people.texts("ann", of: node).contains("sorry")
                    && members.count == 2
            }
        }
        let secrets = news + ["my phone was stolen"]
        for node in removed + [world.annPhone, people.ben] {
            let shown = try await world.texts(node)
            #expect(shown.isDisjoint(with: news), "\(node.home)")
            #expect(!shown.isEmpty)
            #expect(try !world.files(of: node, hold: secrets))
            await #expect(throws: NodeError.self, "\(node.home)") {
                try await people.client(node).perform(
                    SendMessages(conversation: Households.group, texts: ["let me in"]))
            }
        }
        // Each shows what it had when it went, and no more.
        #expect(try await world.texts(world.annPhone) == before)
        #expect(try await world.texts(people.ben) == before.union(["my phone was stolen"]))
        for node in removed {
            #expect(try await world.texts(node).isDisjoint(with: secrets))
        }
    }
}
