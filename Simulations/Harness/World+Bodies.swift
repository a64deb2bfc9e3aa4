import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
public import ParleyWire

/// The place of an operation in a space.
struct BodyPlace: Hashable {
    let tag: LogTag
    let sequence: UInt64
}

/// A member can serve what others wrote without its payloads, and everything verifies. Who was
/// served so holds less than others with the same spans, until somebody brings the rest.
extension World {
    /// Whether two who hold the same operations of a space may show another: one of them lacks
    /// payloads that nobody took back.
    ///
    /// Without liars nobody may, unless something lies behind a cut: deletions there have taken texts
    /// along that count again.
    ///
    /// - Parameter isSettled: whether both had the time to ask others: then nobody may lack what an
    ///   honest member has to whom they are linked.
    public func mayShowAnother(
        _ one: SimulatedNode, _ other: SimulatedNode, in space: SpaceID, isSettled: Bool
    ) throws -> Bool {
        if honestNodes.count == nodes.count {
            guard let record = try one.store.space(space),
                try one.store.logs(in: record.number).contains(where: \.endsBehindCut)
            else { return false }
        }
        let (left, right) = (
            try one.missingBodies(in: space), try other.missingBodies(in: space)
        )
        if left == right { return false }
        guard isSettled else { return true }
        for (node, missing) in [(one, left.subtracting(right)), (other, right.subtracting(left))] {
            for friend in honestPeers(of: node) {
                if try missing.contains(where: { try friend.hasBody(at: $0, in: space) }) {
                    return false
                }
            }
        }
        return true
    }

    private func honestPeers(of node: SimulatedNode) -> [SimulatedNode] {
        wires(of: node.index).map {
            nodes[$0.near.node == node.index ? $0.far.node : $0.near.node]
        }.filter(\.isHonest)
    }
}

extension SimulatedNode {
    /// Where operations of a space are held without their payload, though nobody with the right
    /// to has deleted them.
    func missingBodies(in space: SpaceID) throws -> Set<BodyPlace> {
        guard let record = try store.space(space), let roster = try roster(of: record)
        else { return [] }
        var authors: [LogTag: PersonID] = [:]
        var erased: [(place: BodyPlace, target: BodyPlace?)] = []
        var deletions: [(by: PersonID, target: BodyPlace)] = []
        for log in try store.logs(in: record.number) {
            guard let author = roster.person(of: log.device) else { continue }
            authors[log.tag] = author
            for stored in try store.operations(in: log.number, 0...UInt64.max, limit: .max) {
                let header = stored.operation.header
                let target = header.references.first.map {
                    BodyPlace(tag: $0.tag, sequence: $0.sequence)
                }
                if header.kind == .delete, let target, !log.isBehindCut(stored.sequence) {
                    deletions.append((author, target))
                }
                if stored.operation.isErased {
                    let place = BodyPlace(tag: log.tag, sequence: stored.sequence)
                    erased.append((place, header.kind == .edit ? target : nil))
                }
            }
        }
        let deleted = deletions.filter { deletion in
            guard let author = authors[deletion.target.tag] else { return false }
            // Whether whoever took it back was an admin when they did is not looked at here.
            return author == deletion.by || record.kind == .group
        }
        let gone = Set(deleted.map(\.target))
        return Set(
            erased.filter { !gone.contains($0.place) && !($0.target.map(gone.contains) ?? false) }
                .map(\.place))
    }

    fileprivate func hasBody(at place: BodyPlace, in space: SpaceID) throws -> Bool {
        guard let record = try store.space(space),
            let log = try store.log(place.tag, in: record.number),
            let stored = try store.operation(at: place.sequence, in: log.number)
        else { return false }
        return !stored.operation.isErased
    }
}

extension LogRecord {
    fileprivate func isBehindCut(_ sequence: UInt64) -> Bool {
        limit.map { $0.sequence <= sequence } ?? false
    }

    /// Whether something of it lies behind a cut.
    fileprivate var endsBehindCut: Bool { end > 0 && isBehindCut(end - 1) }
}
