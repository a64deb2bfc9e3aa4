import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleySimulation
import ParleyWire

/// I48: whoever tells nobody in a conversation what they have read, or that they type, is not told of by any of
/// their devices that knows of it: no receipt there says that something was read, and no signal that they type.
///
/// Looked at is what a device newly writes in its log of receipts, and what leaves on its links. What it may
/// tell is what the person last said on any device, as far as this one has heard; I14 looks which that is.
/// Source: `Protocol/05-identity.md`, "Discretion".
final class DiscretionIsKept: Checker {
    static let invariant = "I48"
    /// The first byte of a SIGNAL. Source: Protocol/06-sync.md, "Frames".
    private static let signalType: UInt8 = 21
    private(set) var checkCount = 0
    private var newRows = NewRows()

    func died(_ node: SimulatedNode, losingPower: Bool) throws { newRows.died(node) }

    func wasSetBack(_ node: SimulatedNode) { newRows.wasSetBack(node) }

    func observed(_ step: StepReport) throws {
        let node = step.node
        let rows = newRows.take(in: step)
        guard node.isHonest, !step.isLost else { return }
        for row in rows {
            guard let stored = try node.store.operation(row),
                stored.operation.header.kind.rawValue == 112,
                let log = try node.store.log(stored.log), log.device == node.identity.device,
                let space = try node.store.space(log.space),
                let receipts = stored.operation.payload.flatMap(Receipts.init),
                !receipts.read.isEmpty
            else { continue }
            try look(11, in: space.id, node, "has read something")
        }
        for case .send(_, let bytes) in step.effects where bytes.first == Self.signalType {
            guard case .signal(let inner) = try Frame.decode(bytes),
                let signal = try Signal.decode(inner), case .typing(true) = signal.body
            else { continue }
            try look(12, in: signal.space, node, "types")
        }
    }

    func looked(at world: World) throws {}

    private func look(
        _ key: UInt16, in space: SpaceID, _ node: SimulatedNode, _ what: String
    ) throws {
        guard let own = node.core.ownSpace else { return }
        checkCount += 1
        func said(_ topic: [UInt8]) throws -> [UInt8]? {
            try Overview.preference(
                PreferenceKey(rawValue: key), about: topic, ownSpace: own.number, in: node.store)
        }
        guard try said(space.bytes) ?? said([]) ?? [1] == [1] else {
            throw violation("\(node.name) tells that its person \(what), who tells nobody that")
        }
    }
}

extension SimulatedNode {
    /// What the person has read in a conversation and tells nobody else, as their devices have noted it.
    func readQuietly(in space: SpaceID) throws -> [(tag: LogTag, places: PlaceSet)] {
        guard let own = core.ownSpace else { return [] }
        return try Overview.preferences(
            PreferenceKey(rawValue: 13), ownSpace: own.number, in: store
        ).compactMap { said in
            guard said.topic.count == 72, said.topic.starts(with: space.bytes) else { return nil }
            let tag = said.topic[32..<40].reduce(0) { $0 << 8 | UInt64($1) }
            var reader = ByteReader(said.value)
            var counts: [UInt64] = []
            while reader.remaining > 0 { counts.append(try reader.number()) }
            return PlaceSet(counts: counts).map { (tag: LogTag(tag), places: $0) }
        }
    }
}
