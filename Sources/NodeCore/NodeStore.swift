public import ParleyConversation
public import ParleyLedger

/// A small sealed table of the node itself: one byte string per key.
/// The numbers are stored: never reuse one.
public enum ValueTable: UInt8, CaseIterable, Sendable {
    /// The node's own name, keys of settings, generation of the store.
    case profile = 0
    /// Cards of persons, own included, by person.
    case card = 1
    /// Open invites, by their hash.
    case invite = 2
    /// Imported files: how many lines are in, by space and content hash.
    case importProgress = 3
    /// How often something was refused, by its code.
    case refusal = 4
    /// Introductions still to be made: invites accepted and not yet answered, by person.
    case introduction = 5
    /// Operations whose payload did not come along, by space, log and place.
    case missingBody = 6
    /// What happened to people's identities, by time. See ``Notice``.
    case notice = 7
    /// When devices were last linked, by device.
    case lastSeen = 8
}

/// What the node keeps beside logs and views. All of it is sealed at rest, keys included.
public protocol NodeStore: AnyObject {
    /// The value under this key, or nil.
    func value(_ table: ValueTable, _ key: [UInt8]) throws(StoreError) -> [UInt8]?
    /// Keeps a value under this key, or drops it where it is nil.
    func setValue(_ value: [UInt8]?, _ table: ValueTable, _ key: [UInt8]) throws(StoreError)
    /// All of a table, ascending by key.
    func values(_ table: ValueTable) throws(StoreError) -> [(key: [UInt8], value: [UInt8])]
}

/// Everything that the pure rooms ask of a store.
public typealias Store = LogStore & ConversationStore & NodeStore

/// How much a commit must survive.
public enum Durability: Sendable {
    /// A crash of the process. For what a peer can send again.
    case normal
    /// A crash of the machine as well. For what was written here.
    case full
}

/// A store whose transactions a shell opens and closes around the pure rooms.
public protocol TransactionalStore: Store {
    /// Begins a transaction; there is no other open.
    func begin(_ durability: Durability) throws(StoreError)
    /// Ends the transaction and keeps what it did. After an error nothing of it is kept.
    func commit() throws(StoreError)
    /// Ends the transaction and forgets what it did.
    func rollback()
    /// Makes everything that was committed before survive a crash of the machine.
    func makeDurable() throws(StoreError)
}
