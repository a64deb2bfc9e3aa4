import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyWire

/// Strangers: nodes with keys of their own that nobody knows, and that have everybody's card, as from
/// an invite that went round. Nothing is promised to them.
extension World {
    /// A new node that belongs to nothing and misbehaves.
    public func addStranger(_ name: String) throws -> SimulatedNode {
        let stranger = try addNode(name)
        stranger.isHonest = false
        return stranger
    }

    /// A stranger throws at a node whatever a connection or a relay lets through: frames of kinds that
    /// nobody knows, introductions, valid questions about nothing, and letters, of which half open.
    ///
    /// - Returns: whether there was a way to the node.
    @discardableResult
    public func intrude(_ stranger: SimulatedNode, on victim: SimulatedNode) throws -> Bool {
        guard !stranger.isDown, !victim.isDown else { return false }
        let isWritten = try writeLetters(stranger, to: victim)
        guard !needsRelay(stranger.index, victim.index),
            !separated.contains(.between(stranger.index, victim.index)),
            !blocked.contains(Way(source: stranger.index, target: victim.index)),
            !blocked.contains(Way(source: victim.index, target: stranger.index))
        else { return isWritten }
        link(stranger.index, victim.index, through: nil)
        for frame in strangeFrames(of: stranger) {
            inject(frame, from: stranger, to: victim)
        }
        return true
    }

    private static let frameCount = 200
    private static let letterCount = 20

    private func strangeFrames(of stranger: SimulatedNode) -> [[UInt8]] {
        (0..<Self.frameCount).flatMap { place -> [[UInt8]] in
            // Odd kinds that no version uses yet may be skipped; nothing may be kept of them.
            let unknown = [UInt8(100 + place % 100)] + stranger.randomBytes(200)
            let nothing = Frame.spaces(Spaces(salt: stranger.randomNumber(), entries: []))
            let introduction = Frame.introduce(
                Introduction(card: stranger.randomBytes(600), redemption: nil))
            return [unknown, nothing.encoded(), introduction.encoded(), Frame.credit(1).encoded()]
        }
    }

    /// Letters into the inboxes that a node's card names: half of them sealed as real ones look and of
    /// nothing, half of them real ones.
    private func writeLetters(_ stranger: SimulatedNode, to victim: SimulatedNode) throws -> Bool {
        let card = try observe { try CardReader.own(of: victim.core.node, victim.store) }
        let own = try observe { try CardReader.own(of: stranger.core.node, stranger.store) }
        var isWritten = false
        for part in card?.parts ?? [] {
            for mailbox in part.mailboxes {
                for place in 0..<Self.letterCount {
                    stranger.lieCount += 1
                    var bytes = [1] + stranger.randomBytes((1024 << (place % 3)) - 1)
                    if place % 2 == 0, let own, let prekey = part.prekeys.last?.key,
                        let letter = stranger.seal(own, to: prekey, inbox: mailbox.inbox)
                    {
                        bytes = letter
                    }
                    ask(
                        mailbox.relay, RelayRequest(.put(envelope: bytes), of: mailbox.inbox),
                        by: mailbox.writer.device, counter: UInt64(1 << 40 + stranger.lieCount),
                        from: stranger.index)
                    isWritten = true
                }
            }
        }
        return isWritten
    }
}

extension SimulatedNode {
    /// A letter that opens, in which somebody shows their card and asks for what nobody has.
    /// Source: `Protocol/09-epochs.md`, "Letters".
    fileprivate func seal(_ card: Card, to prekey: LeafKey, inbox: MailboxID) -> [UInt8]? {
        guard let nowhere = SpaceID(randomBytes(32)) else { return nil }
        let frames = [
            Frame.introduce(
                Introduction(
                    card: card.encoded, redemption: nil, join: nil, isRequest: false,
                    isContact: lieCount % 4 == 1)),
            Frame.frontier(
                Frontier(space: nowhere, isComplete: true, asksForMissing: true, entries: [])),
        ]
        var writer = ByteWriter(capacity: 1024)
        writer.uint64(UInt64(lieCount))
        writer.byte(1)
        for frame in frames { writer.counted(frame.encoded()) }
        var random = SeededRandom(seed: randomNumber(), purpose: "letters of a stranger")
        return Letter.seal(
            writer.bytes, to: prekey, inbox: inbox, by: identity.key, using: &random)
    }
}
