public import ParleyConversation
public import ParleyFiles
public import ParleyLedger
public import ParleySealing
public import ParleyWire

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
    /// Links into groups that were taken and have not led there yet, by group.
    case join = 9
    /// When a device was first found to be out of a space, by space and device.
    case departure = 10
    /// The last known state of a relay's store, by relay. See ``RelayRecord``.
    case relay = 11
    /// Up to which counter a mailbox was read, by relay and mailbox.
    case cursor = 12
    /// What of an own log a relay has on its disk, by relay, space and log. See ``Outbox``.
    case outbox = 13
    /// When a device was informed of a space through its inbox, by space and device.
    case welcome = 14
    /// Which log was the first to name a log of which nothing is known and without which something
    /// was applied, by space and the log named.
    case awaitedLog = 15
    /// Tickets that pay for mailboxes and were not spent, by relay and ticket.
    case ticket = 16
    /// Who is asked through relays for what a space lacks, by the space's number; empty if
    /// everybody is.
    case repair = 17
    /// How often the devices were told that seem to lack what was put last, by the space's number.
    case reminder = 18
    /// Groups that this person was added to and has not accepted, by space. See ``Invitation``.
    case invitation = 19
    /// How many conversations a person has brought in the hour that is noted, by person.
    case adoption = 20
    /// Where logs ended of conversations that were deleted here, by log. See ``FormerLog``.
    case formerLog = 21
    /// The number of the last letter that this device wrote.
    case letterNumber = 24
    /// The number of the last letter of a device that was answered, by device.
    case answeredLetter = 25
    /// The place after the last that an own log is proven to have had, by space and log.
    case ownGap = 30
    /// What was written in a space that waits for own logs, by space and order.
    case keptDraft = 31
    /// Epochs whose keys were erased, which are not opened again, by space and epoch.
    case droppedEpoch = 32
    /// Spaces whose operations are to be placed again, by name: one byte.
    case unplaced = 33
    /// When a request to be a contact was put into a device's inbox, by person and device.
    case request = 34
    /// Lines that were brought in and deleted since, by space, time and author. See ``DeletedImports``.
    case deletedImport = 35
    /// What this device had reported of logs of conversations that were deleted here, by space,
    /// kind and log. See ``FormerMarks``.
    case formerMark = 36
    /// Sealed files that are wanted and not all here, by file. See ``WantedFile``.
    case wantedFile = 37
    /// What files that were sent from here were sealed as, by the hash of their content.
    case ownFile = 38
    /// What sealed files take on the disk, by file. See ``HeldFile``.
    case heldFile = 39
    /// Sealed files that messages of this device bring and that somebody may lack, by file. See ``OwnShelf``.
    case ownShelf = 40
    /// What of them lies at relays, by file and relay. See ``ShelfRecord``.
    case shelf = 41
    /// How far shelves of others were read, by file, relay and owner. See ``ShelfCursor``.
    case shelfCursor = 42
    /// Messages whose files are all here, which is still to be told, by space, log and place.
    case untoldFiles = 43
    /// Sealed files that arrived and that the disk may not have stored durably yet, by file.
    case unkeptFile = 44
    /// What was sent under a program's idempotency key, by the hash of that key. See ``SentOnce``.
    case sentOnce = 45
    /// Which key has each place of the ring of keys; the next place, under the empty key.
    case onceSlot = 46
    /// Spaces of which it is still to be looked which messages bring files, and from where on, by the space's
    /// number; under the empty key all spaces. See ``FileLook``.
    case fileLook = 47
    /// When calls were declined here or on another own device, in Unix milliseconds, by the space's number and
    /// call.
    case declinedCall = 48
    /// Letters of somebody who asks to be a contact, by person. See ``HeldLetters``.
    case heldLetter = 49
    /// Messages that disappear: the conversation, for how long they stay, and until when, by operation. See
    /// ``PendingDisappearance``.
    case disappearing = 50
}

/// The node's data beside logs and views. All of it is sealed at rest, including keys.
public protocol NodeStore: AnyObject {
    /// Where sealed files lie: beside the transactions, since a chunk is what its hash says.
    var blobs: any BlobStore { get }
    /// The value under this key, or nil.
    func value(_ table: ValueTable, _ key: [UInt8]) throws(StoreError) -> [UInt8]?
    /// Keeps a value under this key, or drops it where it is nil.
    func setValue(_ value: [UInt8]?, _ table: ValueTable, _ key: [UInt8]) throws(StoreError)
    /// All of a table, ascending by key.
    func values(_ table: ValueTable) throws(StoreError) -> [(key: [UInt8], value: [UInt8])]
    /// The spaces whose control logs name a person, ascending: data from a person costs by these
    /// and not by every space.
    func spaces(naming person: PersonID) throws(StoreError) -> [NamingSpace]
    /// Notes that the control log of a space names a person.
    ///
    /// - Parameter isShared: whether that person and this node's own are both in it; nil if that
    ///   stays as it was, or is not known yet.
    func noteNaming(
        of person: PersonID, in space: SpaceNumber, isShared: Bool?
    ) throws(StoreError)
}

/// A space whose control log names a person, and whether that person and this node's own are both
/// in it.
public struct NamingSpace: Hashable, Sendable {
    /// The space.
    public let space: SpaceNumber
    /// Whether both are in it, as things stand. Never of a space of the own devices.
    public let isShared: Bool

    /// A space with these fields.
    public init(space: SpaceNumber, isShared: Bool) {
        self.space = space
        self.isShared = isShared
    }
}

extension NodeStore {
    /// The number under this key, or nil.
    public func number(_ table: ValueTable, _ key: [UInt8]) throws(StoreError) -> UInt64? {
        guard let bytes = try value(table, key), bytes.count == 8 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Keeps a number under this key.
    func setNumber(_ number: UInt64, _ table: ValueTable, _ key: [UInt8]) throws(StoreError) {
        var writer = ByteWriter()
        writer.uint64(number)
        try setValue(writer.bytes, table, key)
    }
}

extension SpaceNumber {
    /// What names the space in a table of this store.
    var key: [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.uint64(UInt64(bitPattern: rawValue))
        return writer.bytes
    }

    init?(key: [UInt8]) {
        guard key.count == 8 else { return nil }
        self.init(Int64(bitPattern: key.reduce(0) { $0 << 8 | UInt64($1) }))
    }
}

/// The purpose of a secret in the store. The numbers are stored: never reuse one.
public enum SecretPurpose: UInt8, CaseIterable, Sendable {
    /// The secret that this device alone mixes into everything that it draws for others.
    case hedge = 0
    /// The private half of a prekey, by its public half; of no space.
    case prekey = 1
    /// The private half of a leaf, by its public half.
    case leaf = 2
    /// A seed of which no chain was made yet, by its epoch.
    case seed = 3
    /// A chain, by its epoch and device.
    case chain = 4
    /// The outer key and the mailboxes' secret of an epoch, by it.
    case epochKeys = 5
    /// What the keys of this device's inboxes and shelves grow from; of no space.
    case inbox = 6
    /// What rights to write into this device's inboxes grow from, by number and time; of no space.
    case inboxWriter = 7
}

/// Temporary secrets, each in a separate row of the vault. Nobody can open a dropped one once the
/// vault was re-encrypted.
public protocol KeyStore: AnyObject {
    /// The secret with this name, or nil.
    ///
    /// - Parameter space: which space it is of; nil for those of the whole node.
    func secret(
        _ purpose: SecretPurpose, _ name: [UInt8], in space: SpaceNumber?
    ) throws(StoreError) -> Secret?
    /// Keeps a secret under this name, in place of the one before, or drops it where it is nil.
    ///
    /// A step that keeps one which something names that leaves asks for ``Effect/commitFully``.
    func setSecret(
        _ secret: Secret?, _ purpose: SecretPurpose, _ name: [UInt8], in space: SpaceNumber?
    ) throws(StoreError)
    /// All of one purpose and space, ascending by name.
    func secrets(
        _ purpose: SecretPurpose, in space: SpaceNumber?
    ) throws(StoreError) -> [(name: [UInt8], secret: Secret)]
}

/// Everything that the pure rooms ask of a store.
public typealias Store = LogStore & ConversationStore & NodeStore & KeyStore & EventStore

/// How much a commit must survive.
public enum Durability: Sendable {
    /// A crash of the process. For data that a peer can send again.
    case normal
    /// A crash of the machine as well. For data that was written here.
    case full
}

/// A store whose transactions a shell opens and closes around the pure rooms.
public protocol TransactionalStore: Store {
    /// Begins a transaction; there is no other open.
    func begin(_ durability: Durability) throws(StoreError)
    /// Commits the transaction. After an error nothing of it is kept.
    func commit() throws(StoreError)
    /// Rolls the transaction back.
    func rollback()
    /// Makes everything that was committed before survive a crash of the machine.
    func makeDurable() throws(StoreError)
}
