import ParleyConversation
public import ParleyLedger
import ParleySealing
import ParleyWire

extension CardReader {
    /// Restores lost cards from operations: contacts are noted with their cards, and members of a
    /// space show theirs there, including this person.
    public static func restore(in store: some Store) throws(StoreError) {
        for space in try store.spaces() {
            if space.kind == .own {
                // What cannot be read is looked for in what members showed.
                let contacts = try? Overview.contacts(ownSpace: space.number, in: store)
                for contact in contacts ?? [] {
                    try restore(contact.card, store)
                }
            }
            for log in try store.logs(in: space.number) {
                try log.eachReadable(in: store) { stored throws(StoreError) in
                    guard stored.operation.header.kind == .card,
                        let shown = stored.operation.payload.flatMap(SharedCard.init)
                    else { return }
                    try restore(shown.card, store)
                }
            }
        }
    }

    private static func restore(_ bytes: [UInt8], _ store: some Store) throws(StoreError) {
        guard let card = verified(bytes)?.card else { return }
        let known = try kept(of: card.person, store)
        let whole = known.map { $0.merged(with: card).card } ?? card
        guard whole != known else { return }
        try store.setValue(whole.encoded, .card, card.person.bytes)
    }
}

extension LogRecord {
    /// How many are read together, and one by one where some of them cannot be read.
    private static let blockCount = 64
    /// So many that cannot be read are passed over: a damaged record may promise any number.
    private static let unreadableCountMax = 1 << 12

    /// Shows what can be read of a log that may be damaged.
    func eachReadable(
        in store: some Store, _ body: (StoredOperation) throws(StoreError) -> Void
    ) throws(StoreError) {
        var unreadableCount = 0
        for span in spans {
            var next = span.first
            while next <= span.last, unreadableCount < Self.unreadableCountMax {
                // Others may have what cannot be read here.
                if let block = try? store.operations(
                    in: number, next...span.last, limit: Self.blockCount)
                {
                    guard let last = block.last else { break }
                    for stored in block { try body(stored) }
                    next = last.sequence + 1
                    continue
                }
                // As above.
                let one = try? store.operations(in: number, next...next, limit: 1)
                if let stored = one?.first { try body(stored) }
                if one == nil { unreadableCount += 1 }
                next += 1
            }
        }
    }
}
