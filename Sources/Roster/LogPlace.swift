public import ParleyLedger
import ParleyPayloads
public import ParleyWire

/// A place in a device's log, and the operation that stands there.
public struct LogPlace: Hashable, Sendable {
    /// Whose log.
    public let device: DeviceID
    /// Which of its logs: one of lanes 1 to 4.
    public let lane: Lane
    /// The place.
    public let sequence: UInt64
    /// The operation there; it commits to everything below.
    public let operation: OperationID
    /// In a horizon: what of lane 0 the log had named up to there, ascending. A newcomer who is
    /// given only the rest of the log could not know it.
    public let view: [LogTip]
    /// In a horizon: where that operation stands, which follows from what the newcomer is not given.
    public let stand: Stand

    /// A place with these coordinates.
    public init(
        device: DeviceID, lane: Lane, sequence: UInt64, operation: OperationID,
        view: [LogTip] = [], stand: Stand = Stand()
    ) {
        self.device = device
        self.lane = lane
        self.sequence = sequence
        self.operation = operation
        self.view = view
        self.stand = stand
    }
}

/// The last operations that somebody held of a number of logs.
///
/// As a *cut* it says how far the logs of a removed member count; as a *horizon* it says where a
/// newcomer's part begins.
/// Source: `Protocol/08-roster.md`, "Cuts" and "Horizons".
public struct LogPlaces: Hashable, Sendable {
    /// The most places that are listed: an operation must hold them.
    public static let countMax = 600

    /// The places, ascending by device and lane, one a log.
    public let places: [LogPlace]

    /// These places. Of several of one log the highest counts; the control lane is left out.
    public init(_ places: [LogPlace] = []) {
        var kept: [LogPlace] = []
        let sorted = places.filter { $0.lane != .control }.sorted {
            ($0.device, $0.lane, $0.sequence, $0.operation, $0.stand.value)
                < ($1.device, $1.lane, $1.sequence, $1.operation, $1.stand.value)
        }
        for place in sorted {
            if let last = kept.last, last.device == place.device, last.lane == place.lane {
                kept.removeLast()
            }
            kept.append(place)
        }
        self.places = kept
    }

    /// The place in this log, or nil where it is absent.
    public func place(of device: DeviceID, _ lane: Lane) -> LogPlace? {
        let found = places.firstIndex(afterAll: { ($0.device, $0.lane) < (device, lane) })
        guard found < places.count, places[found].device == device, places[found].lane == lane
        else { return nil }
        return places[found]
    }

    /// What this horizon or another one withholds, for each log the higher place. If that is more
    /// than fits, all of the other one is.
    func raised(to floor: LogPlaces) -> LogPlaces {
        if floor.places.isEmpty { return self }
        let raised = floor.places.map { least in
            let place = self.place(of: least.device, least.lane) ?? least
            return place.sequence > least.sequence ? place : least
        }
        let others = places.filter { floor.place(of: $0.device, $0.lane) == nil }
        return LogPlaces(raised + others.prefix(max(0, Self.countMax - raised.count)))
    }

    /// What two horizons withhold both: of each log that both list the lower place.
    func intersection(_ other: LogPlaces) -> LogPlaces {
        LogPlaces(
            places.compactMap { place in
                guard let theirs = other.place(of: place.device, place.lane) else { return nil }
                return theirs.sequence < place.sequence ? theirs : place
            })
    }
}

/// How far the logs of a removed member count.
public typealias Cut = LogPlaces
/// At and below which places a newcomer is given nothing.
public typealias Horizon = LogPlaces

/// How much of a log is taken, kept in digests and served.
public enum LogLimit: Hashable, Sendable {
    /// All of it.
    case all
    /// Nothing.
    case none
    /// What is at or below this place, at which this operation is.
    case through(UInt64, OperationID)

    /// Whether it takes in this place.
    public func reaches(_ sequence: UInt64) -> Bool {
        switch self {
        case .all: true
        case .none: false
        case .through(let last, _): sequence <= last
        }
    }
}

extension LogPlaces {
    /// As they stand in a payload.
    var message: [PayloadLogPlace] {
        places.map { place in
            var message = PayloadLogPlace()
            message.device = field(place.device.bytes)
            message.lane = UInt32(place.lane.rawValue)
            message.sequence = place.sequence
            message.operation = field(place.operation.bytes)
            message.stand = place.stand.value
            message.witness = place.stand.witness
            message.wallClock = place.stand.wallClock
            message.view = place.view.map { tip in
                var message = PayloadControlTip()
                message.tag = tip.tag.value
                message.sequence = tip.sequence
                return message
            }
            return message
        }
    }

    /// Reads them out of a payload.
    init(_ message: [PayloadLogPlace]) throws(ControlRejection) {
        guard message.count <= Self.countMax else { throw .malformed }
        var places: [LogPlace] = []
        for each in message {
            guard let device = DeviceID(fieldBytes(each.device)),
                let lane = UInt8(exactly: each.lane).flatMap(Lane.init), lane != .control,
                each.sequence < Limits.placeMax,
                let operation = OperationID(fieldBytes(each.operation))
            else { throw .malformed }
            if let last = places.last, (last.device, last.lane) >= (device, lane) {
                throw .malformed
            }
            let view = each.view.map { LogTip(tag: LogTag($0.tag), sequence: $0.sequence) }
            guard view.allSatisfy({ $0.sequence < Limits.placeMax }),
                zip(view, view.dropFirst()).allSatisfy({ $0.tag < $1.tag })
            else {
                throw .malformed
            }
            let stand = Stand(
                value: each.stand, witness: each.witness, wallClock: each.wallClock)
            guard stand.isPossible else { throw .malformed }
            places.append(
                LogPlace(
                    device: device, lane: lane, sequence: each.sequence, operation: operation,
                    view: view, stand: stand))
        }
        self.places = places
    }
}
