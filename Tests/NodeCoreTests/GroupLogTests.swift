import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ann, who founds a group with ben and cara. Source: Protocol/03-operations.md, "The log of a group".
@Suite("The log of a group")
struct GroupLogTests {
    private let world: World
    private let ann, ben, cara, dan: SimulatedNode
    private let space: SpaceID

    init() throws {
        world = World(seed: 1356)
        (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        (cara, dan) = (try world.addNode("cara"), try world.addNode("dan"))
        try world.introduce(ann, dan)
        space = try world.group("club", [ann, ben, cara])
    }

    private func log(_ node: SimulatedNode) throws -> [GroupChange] {
        try node.observing {
            let record = try #require(try node.store.space(space))
            return try #require(
                try GroupLog.page(of: record, before: nil, limit: 1_000, in: node.store)
            ).changes
        }
    }

    /// Without new devices, which come with every contact.
    private func words(_ node: SimulatedNode) throws -> [String] {
        let names = [ann, ben, cara, dan].map { ($0.identity.person, $0.name) }
        func name(_ person: PersonID?) -> String { names.first { $0.0 == person }?.1 ?? "?" }
        return try log(node).map { change in
            let who = name(change.author) + " "
            switch change.change {
            case .created(let persons): return who + "created \(persons.map(name).sorted())"
            case .member(let what, let person): return who + "\(what) " + name(person)
            case .settings(let settings): return who + "set \(settings.rules[.pin] == .everybody)"
            case .linkOpened(let role, let uses): return who + "opened \(role) \(uses)"
            case .linkClosed: return who + "closed"
            case .name(let name): return who + "named \(name)"
            case .description(let text): return who + "described \(text)"
            case .picture(let isShown): return who + "pictured \(isShown)"
            case .lifetime(let seconds): return who + "lifetime \(seconds)"
            case .pin(_, let isOn): return who + "pinned \(isOn)"
            }
        }
    }

    private func perform(_ command: Command, on node: SimulatedNode) throws {
        _ = try world.perform(command, on: node)
        world.run(for: 3_000)
    }

    @Test("tells everybody the same: who did what, the newest last, also what was replaced since")
    func everything() throws {
        try perform(.rename(space, "walks"), on: ann)
        try perform(.describe(space, "on Sundays"), on: ann)
        try perform(.setPicture(space, [1, 2]), on: ann)
        try perform(.setPicture(space, []), on: ann)
        try perform(.setLifetime(space, seconds: 3_600), on: ann)
        try perform(.setLifetime(space, seconds: 0), on: ann)
        try perform(.setRole(space, ben.identity.person, .admin), on: ann)
        let number = try world.type("rules", on: cara, in: space)
        world.run(for: 3_000)
        let pinned = try #require(
            try ben.observing { try ben.messages(in: space).first { $0.text == "rules" }?.number })
        try perform(.pin(pinned, isOn: true), on: ben)
        try perform(.pin(pinned, isOn: false), on: ben)
        var rules = GroupRules()
        rules[.pin] = .everybody
        try perform(.changeSettings(space, SpaceSettings(rules: rules)), on: ann)
        try perform(.pin(number, isOn: true), on: cara)
        try perform(.addMember(space, dan.identity.person, .reader), on: ann)
        try perform(.removeMember(space, dan.identity.person), on: ben)
        let secret = ann.randomBytes(32)
        let reply = try world.perform(
            .createGroupInvite(
                space, secret: secret, role: .member, uses: 3,
                expires: World.epoch + world.now + 86_400_000), on: ann)
        guard case .operation(let invite) = reply else {
            Issue.record("no invite")
            return
        }
        world.run(for: 3_000)
        try perform(.endGroupInvite(space, invite), on: ann)
        try perform(.leave(space), on: cara)
        world.run(for: 30_000)
        let expected = [
            "ann created [\"ben\", \"cara\"]", "ann named club", "ann named walks",
            "ann described on Sundays", "ann pictured true", "ann pictured false",
            "ann lifetime 3600", "ann lifetime 0", "ann becameRole(\(Role.admin)) ben",
            "ben pinned true", "ben pinned false", "ann set true", "cara pinned true",
            "ann added(\(Role.reader)) dan", "ben removed dan", "ann opened member 3", "ann closed",
            "cara left cara",
        ]
        let told = try words(ann)
        #expect(
            told.map { $0.replacing("ParleyRoster.Role.", with: "") }.sorted()
                == expected.map { $0.replacing("ParleyRoster.Role.", with: "") }.sorted())
        #expect(told.first == expected.first && told.last == expected.last)
        #expect(try words(ben) == told)
    }

    @Test("comes in pages, each right above the one before")
    func pages() throws {
        for count in 0..<7 { try perform(.rename(space, "club \(count)"), on: ann) }
        let all = try log(ben)
        let record = try #require(try ben.store.space(space))
        var read: [GroupChange] = []
        var place: LogTip?
        while true {
            let page = try #require(
                try GroupLog.page(of: record, before: place, limit: 2, in: ben.store))
            read = page.changes + read
            place = page.changes.first.map {
                LogTip(tag: $0.order.tag, sequence: $0.order.sequence)
            }
            if page.isFirst { break }
            #expect(page.changes.count == 2)
        }
        #expect(read == all && all.count == 9)
        let strange = LogTip(tag: LogTag(7), sequence: 8)
        #expect(try GroupLog.page(of: record, before: strange, limit: 2, in: ben.store) == nil)
    }

    @Test("Attack 356: tells nothing of what a member writes who may not")
    func notEntitled() throws {
        let before = try words(ben)
        let record = try #require(try cara.store.space(space))
        let message = try world.type("hello", on: cara, in: space)
        let stored = try #require(try cara.store.operation(message))
        let log = try #require(try cara.store.log(stored.log))
        let reference = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        let drafts = [
            ConversationName(name: "mine").draft(replacing: []),
            GroupDescription(text: "mine").draft(replacing: []),
            GroupPicture(content: [1]).draft(replacing: []), MessageLifetime(seconds: 60).draft,
            Pin(isOn: true).draft(of: reference),
        ]
        let author = try LogAuthor(
            key: cara.identity.key, space: record,
            authority: cara.observing { try #require(try cara.roster(of: record)).authority },
            wallClock: World.epoch + world.now)
        var random = SeededRandom(seed: 7)
        try cara.store.begin(.full)
        _ = try author.append(drafts, to: cara.store, using: &random)
        try cara.store.commit()
        world.restart(cara)
        world.run(for: 60_000)
        let held = try #require(try ben.store.space(space))
        let kinds = try ben.store.logs(in: held.number).filter { $0.lane == .shared }.flatMap {
            try ben.store.operations(in: $0.number, 0...UInt64.max, limit: .max)
                .map(\.operation.header.kind)
        }
        #expect(kinds.contains(.groupDescription), "it has come")
        #expect(try words(ben) == before)
    }
}
