public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// How far others are with the own logs of lanes 0, 1, 3 and 4 of a space.
///
/// Receipts name the places that somebody has. An acknowledgement only says how far: a newcomer
/// does not hold what lies below their horizon, and for a member who came back nobody knows how
/// much they hold.
///
/// At or above a fork others may hold another branch: it is the same if their mark ends with the
/// operation that is held here. What lies beyond a cut is held by this node only.
struct MessageStates {
    private var read: [LogTag: PlaceSet] = [:]
    private var delivered: [LogTag: PlaceSet] = [:]
    private var logs: [LogTag: LogRecord] = [:]
    /// Where own logs begin for all others: below that nobody else will have anything.
    private var beginnings: [LogTag: UInt64] = [:]
    private let relayed: [LogTag: [Range<UInt64>]]
    /// Whether there is anybody else to whom something could be delivered.
    let hasOthers: Bool
    /// Whether all of them have yet to accept. They have been told the name of the group.
    let areInvited: Bool

    init(
        in space: SpaceRecord, roster: Roster, besides ownPerson: PersonID,
        relayed: [LogTag: [Range<UInt64>]] = [:], store: some MergeStore
    ) throws(StoreError) {
        self.relayed = relayed
        areInvited = !roster.awaited(by: ownPerson).isEmpty
        hasOthers = areInvited || roster.participants.contains { $0.person != ownPerson }
        var authors: [LogTag: (device: DeviceID, lane: Lane)] = [:]
        for device in roster.everyDevice(of: ownPerson) {
            for lane in [Lane.content] + SharedWord.acknowledgedLanes {
                let id = OperationHash.log(space: space.id, device: device, lane: lane)
                authors[LogTag(id)] = (device, lane)
                guard let log = try store.log(LogTag(id), in: space.number) else { continue }
                logs[log.tag] = log
                beginnings[log.tag] = Self.beginning(of: log, for: roster, besides: ownPerson)
            }
        }
        for kind in MarkKind.allCases where kind != .held {
            for mark in try store.marks(kind, in: space.number) {
                let device = DeviceID(reinterpreting: mark.actor)
                guard let author = authors[mark.tag], let log = logs[mark.tag],
                    let person = roster.person(of: device), person != ownPerson,
                    // Whoever is asked into a group, or put out of it, does nothing by what is about the group.
                    author.lane != .control || areInvited || roster.takesPart(device)
                else { continue }
                var first: UInt64 = 0
                if kind == .acknowledged {
                    let place = roster.horizon(of: device).place(of: author.device, author.lane)
                    first = place.map { $0.sequence + 1 } ?? 0
                }
                let places = try store.shared(mark, in: log).clamped(to: first..<UInt64.max)
                if kind == .read {
                    read[mark.tag, default: PlaceSet()].formUnion(places)
                } else {
                    delivered[mark.tag, default: PlaceSet()].formUnion(places)
                }
            }
        }
    }

    /// The first place of a log that anybody else is given who takes part, or may if nobody does.
    private static func beginning(
        of log: LogRecord, for roster: Roster, besides ownPerson: PersonID
    ) -> UInt64 {
        let awaited = roster.awaited(by: ownPerson)
        let others =
            awaited.isEmpty ? roster.participants.filter { $0.person != ownPerson } : awaited
        let firsts = others.flatMap(\.devices).map { device in
            device.horizon.place(of: log.device, log.lane).map { $0.sequence + 1 } ?? 0
        }
        return firsts.min() ?? 0
    }

    /// Whether one of the person's own devices writes the log.
    func isOwn(_ tag: LogTag) -> Bool { logs[tag] != nil }

    /// The places of an own log below its end that nobody else holds and somebody may have, ascending.
    func waiting(in log: LogRecord) -> [Range<UInt64>] {
        let first = max(log.base, beginnings[log.tag] ?? 0)
        return held(of: log).gaps(in: first..<max(first, log.agreed.end))
    }

    /// The places of an own log at or above its fork that nobody else holds, ascending.
    func stranded(in log: LogRecord) -> [Range<UInt64>] {
        guard let fork = log.fork, fork.sequence < log.end else { return [] }
        return held(of: log).gaps(in: fork.sequence..<log.end)
    }

    private func held(of log: LogRecord) -> PlaceSet {
        var held = delivered[log.tag] ?? PlaceSet()
        held.formUnion(read[log.tag] ?? PlaceSet())
        return held
    }

    /// The places of an own log that somebody else holds, or that nobody else will have.
    func left(in tag: LogTag) -> PlaceSet {
        var left = delivered[tag] ?? PlaceSet()
        left.formUnion(read[tag] ?? PlaceSet())
        if let first = beginnings[tag], first > 0 { left.insert(0..<first) }
        return left
    }

    func state(of tag: LogTag, _ sequence: UInt64) -> MessageState {
        if read[tag]?.contains(sequence) == true { return .read }
        if delivered[tag]?.contains(sequence) == true { return .delivered }
        if let first = beginnings[tag], sequence < first { return .earlier }
        return relayed[tag]?.contains { $0.contains(sequence) } == true ? .relayed : .saved
    }
}

extension Overview {
    /// What others reported about an own operation while it counted: that it was read or delivered,
    /// or nothing.
    public static func told(
        of sequence: UInt64, in log: LogRecord, besides ownPerson: PersonID, _ roster: Roster,
        _ store: some MergeStore
    ) throws(StoreError) -> MessageState? {
        for (kind, state) in [(MarkKind.read, MessageState.read), (.delivered, .delivered)] {
            for mark in try store.marks(kind, in: log.space) where mark.tag == log.tag {
                let person = roster.person(of: DeviceID(reinterpreting: mark.actor))
                if person != ownPerson, mark.places.contains(sequence) { return state }
            }
        }
        return nil
    }
}

extension ConversationStore where Self: LogStore {
    /// The places of a log for which a mark tells that its author has what is held here.
    ///
    /// At or above a fork this is so if the mark ends with the operation held here. If it ends with
    /// another one, the two diverge somewhere below, and until that is found nothing is known.
    public func shared(_ mark: Mark, in log: LogRecord) throws(StoreError) -> PlaceSet {
        var end = log.bound?.sequence ?? UInt64.max
        if let said = mark.check, let last = mark.places.last,
            let check = try self.check(at: last, of: log)
        {
            if check == said {
                end = log.limit?.sequence ?? UInt64.max
            } else if log.fork == nil {
                return PlaceSet()
            }
        }
        return mark.places.clamped(to: 0..<end)
    }
}
