import ParleyConversation
public import ParleyLedger
import ParleySealing
public import ParleyWire

/// A program's idempotency key for something that it wants sent once, however often it asks.
///
/// The name is the program's own. Only a hash of it is stored.
public struct OnceKey: Hashable, Sendable {
    /// The longest name, in bytes.
    public static let byteCountMax = 200
    /// `H("lp1/once", conversation ‖ name)`.
    let digest: Digest

    /// The key of this name in a conversation.
    public init(_ name: String, in space: SpaceID) {
        digest = ParleySealing.digest(.once, space.bytes + Array(name.utf8))
    }

    /// The hash, as 32 bytes.
    public var bytes: [UInt8] { digest.bytes }

    /// Whether something was sent under it.
    public func isKnown(in store: some NodeStore) throws(StoreError) -> Bool {
        try SentOnce.find(self, in: store) != nil
    }

    /// Forgets what was sent under it: what comes next is something new.
    public func forget(in store: some NodeStore) throws(StoreError) {
        guard let sent = try SentOnce.find(self, in: store) else { return }
        try store.setValue(nil, .sentOnce, bytes)
        // Its place in the ring goes as well: it would push out what is sent under it later.
        try store.setValue(nil, .onceSlot, SentOnce.place(sent.slot))
    }
}

/// Messages that were sent under a key, so that sending them again says nothing again.
///
/// It is written in the transaction that writes the messages: both are on the disk, or neither is. The
/// newest ``countMax`` keys are kept. Nothing of the text is, not even a hash: who erases a message erases
/// it here as well.
/// Source: `Protocol/14-local-api.md`, "Said once".
struct SentOnce: Equatable {
    /// So many keys are kept.
    static let countMax: UInt64 = 16_384

    /// Which place its key has in the ring of keys.
    var slot: UInt64
    /// How many messages were kept for later instead of written.
    var keptCount = 0
    /// The messages, in their order.
    var messages: [OperationNumber] = []

    init(slot: UInt64) { self.slot = slot }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(DecodingFailure) {
            slot = try reader.number()
            keptCount = try reader.count("kept", atMost: Int(Int32.max))
            while reader.remaining > 0 {
                messages.append(OperationNumber(Int64(bitPattern: try reader.number())))
            }
        } catch { return nil }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.number(slot)
        writer.number(UInt64(keptCount))
        for message in messages { writer.number(UInt64(bitPattern: message.rawValue)) }
        return writer.bytes
    }

    /// What was sent under a key; nil if nothing is known.
    static func find(_ key: OnceKey, in store: some NodeStore) throws(StoreError) -> SentOnce? {
        try store.value(.sentOnce, key.digest.bytes).flatMap { SentOnce($0) }
    }

    /// Records the result of sending under a new key, and forgets the oldest beyond the bound.
    static func note(
        _ reply: CommandReply, _ key: OnceKey, in store: some NodeStore
    ) throws(StoreError) {
        let next = try store.value(.onceSlot, []).map { $0.reduce(0) { $0 << 8 | UInt64($1) } } ?? 0
        let place = Self.place(next)
        if let old = try store.value(.onceSlot, place) { try store.setValue(nil, .sentOnce, old) }
        var sent = SentOnce(slot: next)
        switch reply {
        case .messages(let numbers): sent.messages = numbers
        case .kept(let count): sent.keptCount = count
        default: return
        }
        try store.setValue(sent.bytes, .sentOnce, key.digest.bytes)
        try store.setValue(key.digest.bytes, .onceSlot, place)
        var writer = ByteWriter(capacity: 8)
        writer.uint64(next &+ 1)
        try store.setValue(writer.bytes, .onceSlot, [])
    }

    fileprivate static func place(_ slot: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.uint64(slot % countMax)
        return writer.bytes
    }
}

extension NodeCore {
    /// Sends messages, unless that was done under this key: then it returns the earlier result.
    mutating func sendOnce(
        _ messages: [TextMessage], _ parent: OperationNumber?, to id: SpaceID, _ key: OnceKey,
        _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        if let sent = try SentOnce.find(key, in: turn.store) {
            return .success(
                sent.keptCount > 0 ? .kept(sent.keptCount) : .messages(sent.messages))
        }
        let result = try sendEndingUnsent(messages, parent, to: id, &turn)
        if case .success(let reply) = result { try SentOnce.note(reply, key, in: turn.store) }
        return result
    }
}
