import ParleyLedger
@testable import ParleyNodeCore
@testable import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

/// An envelope that somebody recorded on its way.
struct RecordedEnvelope {
    let bytes: [UInt8]
    let place: EnvelopePlace
    let sender: DeviceID
}

/// A node's keys, used as the relay will use them; on the node itself, or on a stolen copy.
struct KeyUser {
    var core: NodeCore
    let store: any SimulatedStore
    let now: UInt64

    init(_ node: SimulatedNode, at now: UInt64 = 0) {
        core = node.core
        store = node.store
        self.now = now
    }

    /// Everything that a thief takes: the store as it is.
    init(copyOf node: SimulatedNode) throws {
        core = node.core
        store = try node.store.copy()
        now = 0
    }

    private func changing<R>(_ body: (any SimulatedStore) throws -> R) throws -> R {
        try store.begin(.full)
        do {
            let result = try body(store)
            try store.commit()
            return result
        } catch {
            store.rollback()
            throw error
        }
    }

    func space(_ id: SpaceID) throws -> SpaceRecord { try #require(try store.space(id)) }

    mutating func current(_ id: SpaceID) throws -> CurrentEpoch? {
        try core.currentEpoch(of: space(id), in: store)
    }

    mutating func holds(_ epoch: OperationID, in id: SpaceID) throws -> Bool {
        try core.keys(of: epoch, in: space(id), store) != nil
    }

    mutating func seal(_ text: String, in id: SpaceID) throws -> RecordedEnvelope {
        let space = try space(id)
        let epoch = try #require(try current(id)).id
        var random = SeededRandom(seed: 1)
        var core = core
        defer { self.core = core }
        let device = core.node.device
        return try changing { store in
            let keys = try #require(try core.keys(of: epoch, in: space, store))
            let place = EnvelopePlace(
                space: id, epoch: epoch, mailbox: keys.drop(at: NoiseKey { _ in }, ofDay: 1).id)
            var chain = try #require(try core.chain(of: device, in: epoch, of: space, store))
            let bytes = try Envelope.seal(
                Array(text.utf8), at: place, chain: &chain, keys: keys, by: core.node.key,
                using: &random)
            try core.keep(chain, of: device, in: epoch, of: space, store)
            return RecordedEnvelope(bytes: bytes, place: place, sender: device)
        }
    }

    /// The text, or nil where it does not open.
    mutating func open(_ recorded: RecordedEnvelope) throws -> String? {
        let space = try space(recorded.place.space)
        var core = core
        let now = now
        defer { self.core = core }
        return try changing { store in
            guard let keys = try core.keys(of: recorded.place.epoch, in: space, store),
                var chain = try core.chain(
                    of: recorded.sender, in: recorded.place.epoch, of: space, store)
            else { return nil }
            // Whatever is wrong with it, it is not opened.
            guard let envelope = try? Envelope(recorded.bytes, at: recorded.place, keys: keys),
                let content = try? envelope.open(from: recorded.sender, chain: &chain, now: now)
            else { return nil }
            try core.keep(chain, of: recorded.sender, in: recorded.place.epoch, of: space, store)
            return String(decoding: content, as: UTF8.self)
        }
    }

    func secretCount(_ purpose: SecretPurpose, in id: SpaceID?) throws -> Int {
        try store.secrets(purpose, in: id.map { try space($0).number }).count
    }
}

extension World {
    /// So many days go by on all clocks, during which every machine was off but for a minute each
    /// step: what hangs on days alone needs no heartbeats.
    func pass(days: Int, step: Int = 2) {
        for _ in 0..<(days / step) {
            for node in nodes { node.clock.skew += Int64(step) * 24 * 3_600_000 }
            for node in nodes { restart(node) }
            run(for: 3_640_000)
        }
    }
}
