import ParleyLedger
import ParleyReconciliation
import ParleyWire

/// The link that a space's missing operations are asked from: one at a time, so that nothing is
/// sent twice.
struct SpaceSource: Sendable {
    var link: LinkID
    var lastProgress: UInt64
}

extension NodeCore {
    /// A source that delivers nothing for so long is replaced.
    static let sourcePatience: UInt64 = 3_000

    /// A peer may hold what is missing here: it becomes the source unless another one is.
    mutating func mayHold(
        _ space: SpaceNumber, link id: LinkID, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        if let source = sources[space], source.link != id, links[source.link] != nil { return }
        sources[space] = SpaceSource(link: id, lastProgress: now.monotonic)
        set(.source(space), in: Self.sourcePatience, at: now, &effects)
        for output in try links[id]?.session?.ask(space, store: store) ?? [] {
            if case .send(let frame) = output { effects.append(.send(id, frame.encoded())) }
        }
        try fillHoles(of: space, from: id, at: now, store, &effects)
    }

    /// Asks the source for the holes of a space; once there is none, whether there is more above.
    mutating func fillHoles(
        of space: SpaceNumber, from id: LinkID, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard sources[space]?.link == id, links[id]?.session != nil else { return }
        guard try store.logs(in: space).contains(where: { !$0.isWhole }) else { return }
        for output in try links[id]?.session?.fillHoles(space, store: store) ?? [] {
            if case .send(let frame) = output { effects.append(.send(id, frame.encoded())) }
        }
    }

    /// Looks whether a space's source still delivers, and whether it is needed any more.
    mutating func checkSource(
        of space: SpaceNumber, at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let source = sources[space] else { return }
        if now.monotonic < source.lastProgress + Self.sourcePatience {
            let wait = source.lastProgress + Self.sourcePatience - now.monotonic
            return set(.source(space), in: wait, at: now, &effects)
        }
        sources[space] = nil
        try findSource(of: space, besides: source.link, at: now, store, &effects)
    }

    /// Asks another linked peer, if something is known to be missing.
    mutating func findSource(
        of space: SpaceNumber, besides former: LinkID, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard try store.logs(in: space).contains(where: { !$0.isWhole }) else { return }
        for id in links.keys.sorted() where id != former {
            guard links[id]?.session?.shares(space) == true else { continue }
            return try mayHold(space, link: id, at: now, store, &effects)
        }
    }
}
