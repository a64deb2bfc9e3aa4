public import ParleyWire

/// Where an operation stands in the order of its space: below everything that it names, whatever any
/// clock says.
///
/// Source: `Protocol/03-operations.md`, "Order".
public struct Stand: Hashable, Sendable {
    /// What the order goes by, in 2^-16 milliseconds: greater than that of all that it names.
    public var value: UInt64
    /// The greatest wall clock, in Unix milliseconds, of another person that its log had seen.
    public var witness: UInt64
    /// The author's wall clock, in Unix milliseconds.
    public var wallClock: UInt64

    /// A stand with these parts.
    public init(value: UInt64 = 0, witness: UInt64 = 0, wallClock: UInt64 = 0) {
        self.value = value
        self.witness = witness
        self.wallClock = wallClock
    }

    /// The stand before placement: its author's clock counts.
    init(unplaced header: OperationHeader) {
        self.init(value: header.wallClock << 16, wallClock: header.wallClock)
    }

    /// Whether each part is one that an operation can have. Clocks end below 2^59, and nobody writes as
    /// many operations as are left up to 2^60.
    public var isPossible: Bool {
        value < 1 << 60 && witness < Limits.wallClockMax && wallClock < Limits.wallClockMax
    }
}

/// What the order of a space follows from, beside its operations.
public struct StandRule: Equatable, Sendable {
    /// How far a person's clock may lead those of the others whom they have seen: 35 days, in
    /// milliseconds.
    public static let leadMax: UInt64 = 35 * 86_400_000

    /// The wall clock of the operation that began the space; nil in an own space, where nobody else's
    /// clock bounds anything.
    public var beganAt: UInt64?
    /// Whose each device is that is in the space or was.
    public var owners: [DeviceID: PersonID]

    /// A rule of these facts.
    public init(beganAt: UInt64? = nil, owners: [DeviceID: PersonID] = [:]) {
        self.beganAt = beganAt
        self.owners = owners
    }

    /// Where an operation stands.
    ///
    /// - Parameters:
    ///   - wallClock: its author's.
    ///   - past: the greatest stand of what it names, including the operation before it; nil for
    ///     none.
    ///   - witness: the greatest wall clock of another person that its log has named.
    func stand(wallClock: UInt64, past: UInt64?, witness: UInt64) -> Stand {
        let reach = beganAt == nil ? wallClock : min(wallClock, witness + Self.leadMax)
        return Stand(
            value: max(past.map { $0 + 1 } ?? 0, reach << 16), witness: witness,
            wallClock: wallClock)
    }

    /// Whether a time claimed by one device is another person's word for the other device.
    func isAnother(_ device: DeviceID, than author: DeviceID) -> Bool {
        guard let owner = owners[device] else { return false }
        return owner != owners[author]
    }
}

/// How far the order of a log is known.
public struct LogOrder: Equatable, Sendable {
    /// The stand of the last operation; for an empty log with a floor, that of the place right
    /// below it.
    public var tip = Stand()
    /// Places below this one are finally placed; at and above it something that they depend on has
    /// not arrived yet.
    public var settledEnd: UInt64 = 0
    /// The stand right below the floor, as claimed by the member who admitted this device.
    public var floor: Stand?

    /// The order of an empty log.
    public init() {}
}

extension LogOrder {
    /// As stores keep it.
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 64)
        for stand in [tip] + (floor.map { [$0] } ?? []) {
            writer.number(stand.value)
            writer.number(stand.witness)
            writer.number(stand.wallClock)
        }
        writer.number(settledEnd)
        return writer.bytes
    }

    /// The order in these bytes.
    public init(bytes: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        var numbers: [UInt64] = []
        while reader.remaining > 0 { numbers.append(try reader.number()) }
        guard numbers.count == 4 || numbers.count == 7 else {
            throw .forbidden(field: "order of a log")
        }
        tip = Stand(value: numbers[0], witness: numbers[1], wallClock: numbers[2])
        if numbers.count == 7 {
            floor = Stand(value: numbers[3], witness: numbers[4], wallClock: numbers[5])
        }
        settledEnd = numbers[numbers.count - 1]
    }
}

/// What the order of a space asks of an operation that is stored: everything but its payload.
public struct StoredHeader: Equatable, Sendable {
    /// Its row here.
    public let number: OperationNumber
    /// Its place in the log.
    public let sequence: UInt64
    /// Its name everywhere.
    public let id: OperationID
    /// Its own clock.
    public let header: OperationHeader
    /// Where it stands, as far as that is known.
    public let stand: Stand

    /// A header with these coordinates.
    public init(
        number: OperationNumber, sequence: UInt64, id: OperationID, header: OperationHeader,
        stand: Stand
    ) {
        self.number = number
        self.sequence = sequence
        self.id = id
        self.header = header
        self.stand = stand
    }
}
