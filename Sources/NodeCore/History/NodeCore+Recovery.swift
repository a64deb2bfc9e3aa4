import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleyWire

/// What a peer is told who holds the root key of a known person, and nothing else of them.
///
/// A person who lost every device has only the recovery code, and cannot even say who they are:
/// that is the hash of an operation that only others have. So they call as a new person, founded by
/// the same root key, and are shown the card of the person they were. For a node that does not know
/// the root key the caller is a stranger like any other.
/// Source: `Protocol/05-identity.md`, "Coming back".
extension NodeCore {
    /// Shows the card and ends the link, if that is who calls. Returns whether it was.
    mutating func tellWhoTheyWere(on id: LinkID, _ turn: inout some Turn) throws(StoreError) -> Bool
    {
        guard let peer = peers.links[id]?.peer, try !isAccepted(peer.person, turn.store),
            let person = try person(withRoot: peer.root, turn.store), person != peer.person,
            let card = try turn.store.value(.card, person.bytes)
        else { return false }
        let frame = Frame.introduce(Introduction(card: card, redemption: nil))
        turn.emit(.send(id, frame.encoded()))
        hangUp(id, .ended, &turn)
        return true
    }

    /// Continues reading where the card says that the person's former devices read: what others
    /// send lies there, and nobody else can inform a device made with the recovery code alone.
    mutating func resumeRelays(of card: Card?, _ turn: inout some Turn) throws(StoreError) {
        guard let ownSpace, let card else { return }
        var choices: [RelayChoice] = []
        for mailbox in card.parts.flatMap(\.mailboxes) where choices.count < Self.relayCountMax {
            if choices.contains(where: { $0.relay == mailbox.relay }) { continue }
            choices.append(RelayChoice(relay: mailbox.relay, addresses: mailbox.addresses))
        }
        guard !choices.isEmpty else { return }
        _ = try write(choices.map { $0.draft() }, in: ownSpace, &turn)
    }

    /// Oneself, or the contact whose root key this is.
    private mutating func person(
        withRoot root: Digest, _ store: some Store
    ) throws(StoreError) -> PersonID? {
        if root == identity.root { return identity.person }
        guard let ownSpace else { return nil }
        if let contactRoots = people.contactRoots { return contactRoots[root] }
        var roots: [Digest: PersonID] = [:]
        for contact in try Overview.contacts(ownSpace: ownSpace.number, in: store)
        where contact.isAccepted && roots[contact.root] == nil {
            roots[contact.root] = contact.person
        }
        people.contactRoots = roots
        return roots[root]
    }
}
