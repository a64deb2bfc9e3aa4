import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// Somebody who uses a node: when they do something, and what.
struct Person {
    /// How people are.
    enum Habit: CaseIterable {
        /// Writes every few seconds.
        case chatty
        /// Reads, and now and then reacts.
        case lurking
        /// Writes, and is out of reach for long stretches.
        case commuting
    }

    let node: SimulatedNode
    let habit: Habit
    var random: SeededRandom
    /// When something is done next, in milliseconds of the world.
    var nextAct: UInt64 = 0
    /// Until when the person is out of reach, or when the next trip begins.
    var tripChange: UInt64
    var isAway = false
    private(set) var doneCount = 0
    private(set) var refusedCount = 0
    private var importedLine = 0
    private var saidCount = 0

    init(_ node: SimulatedNode, index: Int, seed: UInt64) {
        self.node = node
        random = SeededRandom(seed: seed, purpose: "person \(index)")
        habit = Habit.allCases[Int(random.next() % 3)]
        tripChange = 60_000 + random.next() % 300_000
    }

    /// Does the next thing, if it is time.
    mutating func act(in world: World) throws {
        guard world.now >= nextAct else { return }
        let pause: ClosedRange<UInt64> =
            switch habit {
            case .chatty: 2_000...20_000
            case .lurking: 30_000...300_000
            case .commuting: 5_000...60_000
            }
        nextAct = world.now + UInt64.random(in: pause, using: &random)
        guard !node.isDown,
            // What a person reads to decide meets no failure that was meant for a step.
            let command = try world.observe({ try nextCommand(in: world) })
        else { return }
        do {
            _ = try world.perform(command, on: node)
            doneCount += 1
        } catch {
            refusedCount += 1
        }
    }

    private mutating func nextCommand(in world: World) throws -> Command? {
        let conversations = try node.conversations()
        guard let space = conversations.randomElement(using: &random) else { return nil }
        let roll = random.next() % 1_000
        switch habit == .lurking && roll < 600 ? 850 : roll {
        case 0..<600: return .send(space.id, [TextMessage(text: text())], replyingTo: nil)
        case 600..<680:
            let target = try target(in: space)
            return .send(space.id, [TextMessage(text: text())], replyingTo: target)
        case 680..<790:
            let emojis = ["👍", "🎉", "❤️"]
            let emoji = emojis[Int(random.next() % 3)]
            let isOn = random.next() % 4 != 0
            return try target(in: space).map { .react($0, Reaction(emoji: emoji, isOn: isOn)) }
        case 790..<850:
            let text = text()
            return try target(in: space).map { .edit($0, text: text) }
        case 850..<930: return .markRead(space.id)
        case 930..<960: return try target(in: space).map { .delete($0) }
        default: return try rare(roll, space, in: world)
        }
    }

    private mutating func rare(
        _ roll: UInt64, _ space: SpaceRecord, in world: World
    ) throws -> Command? {
        switch roll {
        case 960..<970: return .rename(space.id, "\(node.name) \(random.next() % 100)")
        case 970..<980: return .mute(space.id, isOn: random.next() % 2 == 0)
        case 980..<994: return importing(into: space, at: world.now)
        default:
            let others = world.nodes.filter { $0 !== node && random.next() % 2 == 0 }
            return .createGroup(name: "group", members: others.map(\.identity.person))
        }
    }

    private mutating func importing(into space: SpaceRecord, at now: UInt64) -> Command {
        let rows = (1...Int(1 + random.next() % 20)).map { offset in
            let origin = ImportedOrigin(
                author: "old friend", time: 1_000_000_000_000 + random.next() % 1_000_000,
                isAction: random.next() % 8 == 0)
            return ImportedRow(
                line: importedLine + offset, message: TextMessage(text: text(), origin: origin))
        }
        // Some rows come twice, as from a file that is read again.
        importedLine += random.next() % 3 == 0 ? rows.count / 2 : rows.count
        return .importMessages(
            space.id, fileHash: Digest(reinterpreting: node.identity.device), rows: rows,
            throughLine: rows.last?.line ?? 0)
    }

    /// A recent message, newer ones much likelier than older ones. Whether it was deleted elsewhere
    /// nobody here knows.
    private mutating func target(in space: SpaceRecord) throws -> OperationNumber? {
        let recent = try node.store.messages(in: space.number, before: nil, limit: 32)
        guard !recent.isEmpty else { return nil }
        let limit = Int.random(in: 1...recent.count, using: &random)
        return recent[Int.random(in: 0..<limit, using: &random)].operation
    }

    private mutating func text() -> String {
        saidCount += 1
        let isLong = random.next() % 200 == 0
        let length = Int(random.next() % (isLong ? 20_000 : 120))
        return "\(node.name) \(saidCount) " + String(repeating: "word ", count: length / 5)
    }
}
