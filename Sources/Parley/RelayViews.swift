/// A relay that a person's devices use.
public struct RelayView: Codable, Equatable, Sendable {
    /// Its key, in hex.
    public var relay: String
    /// Where it is, as `host:port`.
    public var addresses: [String]
    /// `connected`, `reading` (what lay there is being fetched), `connecting`, `ticket-needed` (it is
    /// reached, and keeps nothing for this device), `unreachable`, `mistaken` (somebody answers there who does not
    /// show the key of this relay); `offline` where the node is cut off,
    /// and `idle` where it does not run or does not call this relay.
    public var state: String
    /// Until when it is still read, in Unix milliseconds; nil for one that is in use.
    public var until: UInt64?
}

/// What waits of one conversation, or for one person who is to be a contact.
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
    /// that no device of another person has.
    public var changeCount: Int
    /// What must come before any of it arrives, in a phrase; nil where nothing must.
    public var waiting: String? = nil
    /// Relays that take nothing more of the conversation before their day ends, in hex.
    public var fullRelays: [String]? = nil
    /// Messages and changes that never leave this device: it wrote two histories, and nobody takes them.
    public var strandedCount = 0
    /// Messages and changes of which this device, which was revoked, does not hear any more whether they
    /// arrived; then nothing counts as waiting.
    public var unknownCount = 0
    /// Messages that are kept, and not written before this device has back what it wrote there.
    public var keptCount = 0
    /// What is to reach a person and has not, for all that is known: `request` to be a contact, which is
    /// on this device alone; the same `request-relayed`, which a relay has; `invite` of theirs that was
    /// taken and not answered. Nil for what was written.
    public var wish: String?
    /// Where the relay is to be that an `invite` names, if what answers there does not show its key: then
    /// nobody is found by it. Nil otherwise.
    public var mistakenRelay: String? = nil
    /// The person whom a wish is about, in hex.
    public var person: String?
}
