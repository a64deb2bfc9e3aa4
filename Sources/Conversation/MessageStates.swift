import ParleyLedger
import ParleyRoster
import ParleyWire

/// How far others are with the own logs of a space.
///
/// Receipts name the places that somebody has. An acknowledgement says only how far: who came later
/// does not hold what lies below their horizon, or, if they have come back, nobody knows how much.
///
/// What lies at or above a fork or beyond a cut is nobody's but this node's: others may hold another
/// branch at the same places, and whoever knows of it applies neither.
struct MessageStates {
    private var read: [LogTag: PlaceSet] = [:]
    private var delivered: [LogTag: PlaceSet] = [:]
    private var ends: [LogTag: UInt64] = [:]
    private let relayed: [LogTag: [Range<UInt64>]]
    /// Whether anybody else is there to whom something could be delivered.
    let hasOthers: Bool

    init(
        in space: SpaceRecord, roster: Roster, besides ownPerson: PersonID,
        relayed: [LogTag: [Range<UInt64>]] = [:], store: some MergeStore
    ) throws(StoreError) {
        self.relayed = relayed
        hasOthers = roster.participants.contains { $0.person != ownPerson }
        var authors: [LogTag: DeviceID] = [:]
        for device in roster.everyDevice(of: ownPerson) {
            let id = OperationHash.log(space: space.id, device: device, lane: .content)
            authors[LogTag(id)] = device
            guard let log = try store.log(LogTag(id), in: space.number) else { continue }
            ends[log.tag] = log.bound?.sequence ?? UInt64.max
        }
        for kind in MarkKind.allCases {
            for mark in try store.marks(kind, in: space.number) {
                let device = DeviceID(reinterpreting: mark.actor)
                guard let author = authors[mark.tag], let end = ends[mark.tag],
                    let person = roster.person(of: device), person != ownPerson
                else { continue }
                var first: UInt64 = 0
                if kind == .acknowledged {
                    let place = roster.horizon(of: device).place(of: author, .content)
                    first = place.map { $0.sequence + 1 } ?? 0
                }
                guard first < end else { continue }
                let places = mark.places.clamped(to: first..<end)
                if kind == .read {
                    read[mark.tag, default: PlaceSet()].formUnion(places)
                } else {
                    delivered[mark.tag, default: PlaceSet()].formUnion(places)
                }
            }
        }
    }

    /// Whether one of the person's own devices writes the log.
    func isOwn(_ tag: LogTag) -> Bool { ends[tag] != nil }

    /// The places of an own log below its end that nobody else holds, ascending.
    func waiting(in log: LogRecord) -> [Range<UInt64>] {
        var held = delivered[log.tag] ?? PlaceSet()
        held.formUnion(read[log.tag] ?? PlaceSet())
        return held.gaps(in: log.base..<max(log.base, log.agreed.end))
    }

    func state(of tag: LogTag, _ sequence: UInt64) -> MessageState {
        if read[tag]?.contains(sequence) == true { return .read }
        if delivered[tag]?.contains(sequence) == true { return .delivered }
        return relayed[tag]?.contains { $0.contains(sequence) } == true ? .relayed : .saved
    }
}
