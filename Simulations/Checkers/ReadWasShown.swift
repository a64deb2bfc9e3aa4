import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I38: what a device newly says that its person has read, it holds, and has shown: of a place that it
/// does not hold, or of a message that was on no screen, nobody has read anything. And what was on the
/// screen it says.
///
/// Looked at in the very step in which the person reads: what is missing then may have come a moment
/// later, and whoever looks at the end sees nothing of it.
/// Source: `Protocol/03-operations.md`, "Receipts".
final class ReadWasShown: Checker {
    static let invariant = "I38"
    private(set) var checkCount = 0

    private struct Told: Hashable {
        var device: DeviceID
        var tag: LogTag
    }

    /// What each device ever said, though it may have lost it since.
    private var told: [Told: PlaceSet] = [:]

    func observed(_ step: StepReport) throws {
        guard case .command(let command, .markRead(let id, let shown)) = step.input,
            step.node.isHonest, let space = try step.node.store.space(id)
        else { return }
        let isDone = step.effects.contains {
            if case .reply(command, .success) = $0 { true } else { false }
        }
        if isDone, !step.isLost { try lookForUntold(shown, in: space, step.node) }
        let device = step.node.identity.device
        for mark in try step.node.store.marks(.read, in: space.number)
        where mark.actor == Digest(reinterpreting: device) {
            let key = Told(device: device, tag: mark.tag)
            let known = told[key] ?? PlaceSet()
            told[key, default: PlaceSet()].formUnion(mark.places)
            guard let log = try step.node.store.log(mark.tag, in: space.number) else { continue }
            for range in mark.places.ranges {
                for place in known.gaps(in: range).joined() {
                    checkCount += 1
                    try look(at: place, of: log, step.node, Set(shown.messages))
                }
            }
        }
    }

    /// What was shown and is another person's counts as read from then on.
    private func lookForUntold(
        _ shown: ShownMessages, in space: SpaceRecord, _ node: SimulatedNode
    ) throws {
        // Who lacks own operations says it once they are back, and who is out notes it elsewhere.
        guard !node.core.isBehind, let roster = try node.roster(of: space),
            roster.contains(node.identity.device)
        else { return }
        let person = node.identity.person
        let own = Set(roster.everyDevice(of: person).map { Digest(reinterpreting: $0) })
        let marks = try node.store.marks(.read, in: space.number).filter { own.contains($0.actor) }
        let quiet = try node.readQuietly(in: space.id)
        for number in shown.messages {
            guard let stored = try node.store.operation(number),
                let log = try node.store.log(stored.log), log.space == space.number,
                let author = roster.person(of: log.device), author != person,
                // Without its words it is shown, and read by nobody.
                !stored.operation.isErased,
                // Who is blocked is not shown in groups, and told nothing.
                try space.kind != .group || !node.keepsAway(author)
            else { continue }
            checkCount += 1
            let said =
                (marks.map { ($0.tag, $0.places) } + quiet.map { ($0.tag, $0.places) })
                .filter { $0.0 == log.tag }.map(\.1)
            guard !said.contains(where: { $0.contains(stored.sequence) }),
                // One receipt names so many stretches of a log at most.
                !said.contains(where: { $0.ranges.count >= PlaceSet.rangeCountMax })
            else { continue }
            throw violation(
                "\(node.name) has shown \(log.tag)/\(stored.sequence), and does not say so")
        }
    }

    private func look(
        at place: UInt64, of log: LogRecord, _ node: SimulatedNode, _ shown: Set<OperationNumber>
    ) throws {
        guard let stored = try node.store.operation(at: place, in: log.number) else {
            throw violation(
                "\(node.name) says that \(log.tag)/\(place) was read, and does not hold it")
        }
        let count = try node.store.messageCount(in: log.number, place...place)
        guard count == 0 || shown.contains(stored.number) else {
            throw violation(
                "\(node.name) says that \(log.tag)/\(place) was read, and has not shown it")
        }
    }
}
