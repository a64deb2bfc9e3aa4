import ParleyFiles
import ParleyLedger
import ParleySealing
import ParleyWire

/// Which files are put on shelves, and which shelves are read: what is in flight.
struct ShelfDesk: Sendable {
    /// A file that a device without a link lacks.
    struct Laying: Sendable {
        let writer: ShelfWriter
        let owner: DeviceSigningKey
        /// The right of those who can open the file.
        let reader: WriterID
        let space: SpaceNumber
        /// How many devices lack it that read at these relays.
        let lacking: [NoiseKey: Int]
    }

    /// The state of reading one shelf.
    struct Reading: Sendable {
        var reader: ShelfReader?
        var cursor: ShelfCursor
        /// When the cursor began, as far as this life knows, on the monotonic clock: the other clock may
        /// stand still.
        private(set) var begunAt: UInt64
        /// Whether a page was asked for and has not come.
        var isAsked = false
        /// How often in a row nothing new was there.
        var fruitlessCount: UInt64 = 0
        /// When the next page is asked for, on the monotonic clock.
        var nextAt: UInt64 = 0
        /// Whether envelopes came since the beginning of which nothing could be made.
        var hasPassedOver = false
        /// Whether hashes arrived after those: skipped envelopes may be of use now.
        var isToBeRepeated = false
        /// How often it was read from the beginning for that; each time hashes had come that were not known
        /// before, so that the sections of the file bound it.
        var repeatCount: UInt64 = 0

        init(at now: Instant) {
            cursor = ShelfCursor(begun: now.wall)
            begunAt = now.monotonic
        }

        /// The shelf is read from its beginning.
        mutating func beginAgain(at now: Instant) {
            cursor = ShelfCursor(begun: now.wall)
            begunAt = now.monotonic
        }
    }

    /// Where a file may lie, by the messages that name it.
    struct Sources: Sendable {
        let shelves: [(owner: DeviceID, key: [UInt8])]
        /// When this is looked up again, on the monotonic clock.
        let until: UInt64
    }

    /// The files that are laid on shelves now.
    private(set) var laid: [BlobID: Laying] = [:]
    /// How many bytes a shelf holds that was opened on this connection.
    private var rooms: [ShelfPlace: UInt64] = [:]
    /// Up to which piece a file is on its way to a relay.
    private var underway: [ShelfPlace: Int] = [:]
    /// Relays to which nothing is given before these moments of the monotonic clock.
    private var pauses: [NoiseKey: UInt64] = [:]
    /// Shelves that are read.
    var readings: [ForeignShelf: Reading] = [:]
    private var sources: [BlobID: Sources] = [:]
    /// When it is checked again who lacks what, on the monotonic clock; nil if it is not.
    var lookAt: UInt64?
    /// Whether there is anything of this device's own to look after.
    var hasOwn = false
    private var isDue = false

    // MARK: What is due

    /// Something may be given or asked for now.
    mutating func noteDue() { isDue = true }

    /// Takes a note. Returns whether there was one.
    mutating func takeDue() -> Bool {
        defer { isDue = false }
        return isDue
    }

    // MARK: Laying

    /// These files are laid on shelves from now on, and no others.
    mutating func lay(_ files: [BlobID: Laying]) {
        laid = files
        rooms = rooms.filter { files[$0.key.blob] != nil }
        underway = underway.filter { files[$0.key.blob] != nil }
    }

    /// How many bytes a shelf holds; nil while that is not known.
    func room(at place: ShelfPlace) -> UInt64? { rooms[place] }

    /// A relay told how much a shelf holds; or that is not known any more.
    mutating func noteRoom(_ room: UInt64?, at place: ShelfPlace) { rooms[place] = room }

    /// The piece after the last that is on its way to a relay; nil where none is.
    func next(at place: ShelfPlace) -> Int? { underway[place] }

    /// Pieces up to this one are in transit; or earlier ones count for nothing.
    mutating func noteNext(_ piece: Int?, at place: ShelfPlace) { underway[place] = piece }

    /// Gives nothing more to a relay for a while.
    mutating func pause(_ relay: NoiseKey, until moment: UInt64) {
        pauses[relay] = max(pauses[relay] ?? 0, moment)
    }

    /// Whether something may be given to a relay.
    func isPaused(_ relay: NoiseKey, at now: UInt64) -> Bool { now < pauses[relay] ?? 0 }

    // MARK: Reading

    /// Where a file may lie, if that was looked up lately.
    func sources(of blob: BlobID, at now: UInt64) -> Sources? {
        guard let found = sources[blob], now < found.until else { return nil }
        return found
    }

    /// Notes where a file may lie.
    mutating func note(_ found: Sources, of blob: BlobID) { sources[blob] = found }

    /// How many pages were asked for and have not come.
    var askedCount: Int { readings.values.count { $0.isAsked } }

    /// A file is read from shelves no more.
    mutating func stopReading(_ blob: BlobID) {
        readings = readings.filter { $0.key.blob != blob }
        sources[blob] = nil
    }

    // MARK: Connections

    /// The connection to a relay is another one: nothing that was asked is answered.
    mutating func reset(_ relay: NoiseKey) {
        rooms = rooms.filter { $0.key.relay != relay }
        underway = underway.filter { $0.key.relay != relay }
        pauses[relay] = nil
        for shelf in readings.keys where shelf.relay == relay {
            readings[shelf]?.isAsked = false
            readings[shelf]?.reader = nil
        }
    }

    /// What was read from a relay no longer counts.
    mutating func forgetReadings(at relay: NoiseKey) {
        readings = readings.filter { $0.key.relay != relay }
    }
}

extension NodeCore {
    /// Files that lie at relays.
    var shelves: ShelfDesk {
        get { fileDesk.shelves }
        _modify { yield &fileDesk.shelves }
    }
}
