import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I38: what a device newly says that its person has read, it holds, and has shown: of a place that it
/// does not hold, or of a message that was on no screen, nobody has read anything.
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
        guard case .command(_, .markRead(let id, let shown)) = step.input, step.node.isHonest,
            let space = try step.node.store.space(id)
        else { return }
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
