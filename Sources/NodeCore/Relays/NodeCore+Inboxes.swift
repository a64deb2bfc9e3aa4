import ParleyLedger
import ParleySealing
import ParleyWire

/// The secret from which a right to write into this device's inboxes is derived.
struct KeptWriter {
    /// Counts the rights that this device drew.
    let number: UInt32
    /// When it was drawn, in Unix milliseconds.
    let time: UInt64
    let secret: Secret

    init(number: UInt32, time: UInt64, secret: Secret) {
        self.number = number
        self.time = time
        self.secret = secret
    }

    init?(name: [UInt8], _ secret: Secret) {
        var reader = ByteReader(name)
        do {
            number = try reader.uint32()
            time = try reader.uint64()
            try reader.finish()
        } catch { return nil }
        self.secret = secret
    }

    var name: [UInt8] {
        var writer = ByteWriter(capacity: 12)
        writer.uint32(number)
        writer.uint64(time)
        return writer.bytes
    }
}

/// This device's inboxes: who may write into them, and for how long.
/// Source: `Protocol/06-relay.md`, "Inboxes".
extension NodeCore {
    /// A right to write is drawn so often, in milliseconds.
    static let writerInterval: UInt64 = 7 * day
    /// How long it is valid, so that a card read weeks ago still works.
    static let writerLifetime: UInt64 = 42 * day
    /// It is on the card after this long: relays have heard of it by then.
    static let writerDelay: UInt64 = day

    /// The keys of this device's inbox on a relay.
    func inboxKeys(on relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) -> InboxKeys {
        InboxKeys(secret: try inboxSecret(&turn), relay: relay)
    }

    /// The secret from which the keys of this device's inboxes and shelves are derived, drawn if
    /// there is none.
    func inboxSecret(_ turn: inout some Turn) throws(StoreError) -> Secret {
        if let secret = try turn.store.secret(.inbox, [], in: nil) { return secret }
        let secret = Secret.random(using: &turn.random)
        try turn.store.setSecret(secret, .inbox, [], in: nil)
        return secret
    }

    /// The valid rights to write, the oldest first; the first is drawn if there is none.
    private func writers(_ turn: inout some Turn) throws(StoreError) -> [KeptWriter] {
        let kept = try turn.store.secrets(.inboxWriter, in: nil).compactMap {
            KeptWriter(name: $0.name, $0.secret)
        }.sorted { $0.number < $1.number }
        if !kept.isEmpty { return kept }
        return [try drawWriter(1, &turn)]
    }

    private func drawWriter(_ number: UInt32, _ turn: inout some Turn) throws(StoreError)
        -> KeptWriter
    {
        let writer = KeptWriter(
            number: number, time: turn.now.wall, secret: Secret.random(using: &turn.random))
        try turn.store.setSecret(writer.secret, .inboxWriter, writer.name, in: nil)
        return writer
    }

    /// The keys that may write into this device's inbox on a relay.
    func writerNames(on relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) -> [WriterID] {
        try writers(&turn).suffix(Limits.inboxWriterCountMax).map {
            InboxWriter(secret: $0.secret, relay: relay).name
        }
    }

    /// The right that the card gives to its readers: the newest that relays have heard of.
    func shownWriter(on relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) -> InboxWriter
    {
        let kept = try writers(&turn)
        let shown = kept.last { turn.now.wall >= $0.time + min(Self.writerDelay, .max - $0.time) }
        return InboxWriter(secret: (shown ?? kept[0]).secret, relay: relay)
    }

    /// Draws a right if the last one is old, and erases expired ones.
    mutating func renewWriters(_ turn: inout some Turn) throws(StoreError) {
        guard try !ownRelays(turn.store).isEmpty else { return }
        var kept = try writers(&turn)
        guard let newest = kept.last else { return }
        // A clock that was set back must not leave one standing for years.
        let isOld =
            turn.now.wall >= newest.time + min(Self.writerInterval, .max - newest.time)
            || turn.now.wall + Self.writerInterval < newest.time
        if isOld { kept.append(try drawWriter(newest.number &+ 1, &turn)) }
        let over = kept.dropLast(Self.keptKeyCountMin).filter {
            turn.now.wall >= $0.time + min(Self.writerLifetime, .max - $0.time)
        }.map(\.number)
        let excess = kept.dropLast(Limits.inboxWriterCountMax).map(\.number)
        for writer in kept where over.contains(writer.number) || excess.contains(writer.number) {
            try turn.store.setSecret(nil, .inboxWriter, writer.name, in: nil)
        }
        if isOld || !over.isEmpty { tellWriters(&turn) }
        // One may be due on the card though none was drawn.
        try showRelays(&turn)
    }

    /// Somebody was blocked: no earlier right is valid any more, and readers of the card get
    /// another at once.
    mutating func retireWriters(_ turn: inout some Turn) throws(StoreError) {
        guard try !ownRelays(turn.store).isEmpty else { return }
        let kept = try writers(&turn)
        for writer in kept { try turn.store.setSecret(nil, .inboxWriter, writer.name, in: nil) }
        let last = kept.last?.number ?? 0
        _ = try drawWriter(last &+ 1, &turn)
        tellWriters(&turn)
        turn.emit(.commitFully)
        turn.emit(.forgetKeys)
        try showRelays(&turn)
    }

    /// Tells relays who may write: connected ones now, others once they are.
    private mutating func tellWriters(_ turn: inout some Turn) {
        turn.emit(.commitFully)
        for relay in courier.lines.keys.sorted() { courier.lines[relay]?.inboxDay = nil }
        // Reading continues as before; of the inbox only the opening is due.
        courier.relayUpkeep.note(.renewWriters)
    }
}
