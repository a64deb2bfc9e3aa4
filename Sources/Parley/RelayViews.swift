/// A relay that a person's devices use.
public struct RelayView: Codable, Equatable, Sendable {
    /// Its key, in hex.
    public var relay: String
    /// Where it is, as `host:port`.
    public var addresses: [String]
    /// `connected`, `reading` (its content is being fetched), `connecting`, `ticket-needed` (it is
    /// reached, and stores nothing for this device), `unreachable`, `mistaken` (the answering relay
    /// does not show the key of this one); `offline` if the node is offline, and `idle` if it does
    /// not run or does not call this relay.
    public var state: String
    /// Until when it is still read, in Unix milliseconds; nil for one that is in use.
    public var until: UInt64?
}

/// What waits in one conversation, or for one future contact.
public struct OutboxView: Codable, Equatable, Sendable {
    /// The conversation, in hex; empty where it is about a ``wish``.
    public var conversation: String
    /// Its name, or that of the person.
    public var name: String
    /// Messages that are on this device alone.
    public var savedCount: Int
    /// Messages that a relay has, and no device of another person.
    public var relayedCount: Int
    /// Edits, deletions and reactions, and polls, answers, things to be done, pins, names and descriptions,
    /// and changes of a group's members and settings, that no device of another person has.
    public var changeCount: Int
    /// As many of these changes as a relay has.
    public var relayedChangeCount = 0
    /// What must happen before any of it arrives, in a phrase; nil if nothing must.
    public var waiting: String? = nil
    /// Relays that take nothing more of the conversation before their day ends, in hex.
    public var fullRelays: [String]? = nil
    /// The same for a person: the address of each, where it is known, and the start of its key.
    public var fullRelayNames: [String]? = nil
    /// Messages and changes that never leave this device: it wrote two histories, and nobody takes them.
    public var strandedCount = 0
    /// Messages and changes of which this device, which was revoked, does not hear any more whether they
    /// arrived, or which nobody takes because whoever revoked it did not have them; then nothing counts as
    /// waiting.
    public var unknownCount = 0
    /// Messages that nobody takes, since the person was removed or made a reader before they arrived, and that
    /// they have not sent again. They do not wait.
    public var untakenCount = 0
    /// Changes that nobody takes for the same reason: edits, deletions and reactions, and polls, answers, notes,
    /// decisions, pins and the like. They do not wait either.
    public var untakenChangeCount = 0
    /// Why these cannot be sent again there now: the person is `removed`, or a `reader`; nil where they can.
    public var untakenBar: String?
    /// Whether this person left the group on this device, and nobody else can know it yet. What waits beside
    /// that goes with it, and others may not accept it any more.
    public var isLeaving = false
    /// Queued messages, which are not written before this device has recovered what it wrote there.
    public var keptCount = 0
    /// What is to reach a person and has not, as far as is known: a contact `request`, which is on
    /// this device only; `request-relayed`, which a relay has; their `invite` that was used and not
    /// answered. Nil for messages.
    public var wish: String?
    /// The address of the relay that an `invite` names, if the answering relay does not show its
    /// key: then nobody is found by it. Nil otherwise.
    public var mistakenRelay: String? = nil
    /// The person whom a request is about, in hex.
    public var person: String?
}

extension OutboxView {
    /// Whether anything of it waits, or may wait: not where there is only what nobody takes.
    public var isWaiting: Bool {
        wish != nil || isLeaving
            || savedCount + relayedCount + changeCount + strandedCount + unknownCount + keptCount
                > 0
    }
}
