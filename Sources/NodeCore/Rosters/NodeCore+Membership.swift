import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

/// Commands that change who is in a conversation. Each first asks whether it may: an operation that
/// the roster does not allow would be written for nothing.
extension NodeCore {
    /// Writes operations of lane 0, and updates everything that depends on them.
    ///
    /// Every change of a roster that this device makes comes through here.
    mutating func changeRoster(_ drafts: [Draft], in space: SpaceRecord, _ turn: inout some Turn)
        throws(StoreError)
    {
        _ = try write(drafts, in: space, &turn)
        try follow(space, &turn)
        if try currentEpoch(of: space, in: turn.store) == nil {
            try mint(in: space, &turn)
        }
        if drafts.contains(where: { $0.kind == .removeMember || $0.kind == .ident }) {
            turn.emit(.forgetKeys)
        }
    }

    mutating func addMember(
        _ person: PersonID, _ role: Role, to id: SpaceID, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        let space: SpaceRecord
        let roster: Roster
        let own: Member
        switch try changeable(id, turn.store) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let found): (space, roster, own) = found
        }
        guard roster.member(person) == nil else { return .failure(.alreadyMember) }
        let mayAdd = role >= .admin ? own.role == .owner : roster.allows(.add, to: own)
        guard mayAdd else { return .failure(.notAllowed) }
        guard roster.members.count < Limits.memberCountMax else {
            return .failure(.tooManyMembers(limit: Limits.memberCountMax))
        }
        let horizon = try horizon(by: roster.history, in: space, at: turn.now, turn.store)
        guard let newcomer = try newcomer(person, horizon, turn.store) else {
            return .failure(.unknownPerson)
        }
        if let refusal = Self.refusal(newcomer) { return .failure(refusal) }
        let name = try Overview.name(of: space.number, in: turn.store) ?? ""
        try changeRoster(
            [AddMember(newcomer, role: role, conversation: name).draft()], in: space, &turn)
        // What a member says of the name has no effect: the newcomer has it from the addition.
        if own.role >= .admin { try nameAnew(space, for: person, by: roster.history, &turn) }
        try deleteAnew(for: person, in: space, &turn)
        return .success(.done)
    }

    /// Writes the group's name, description and picture again, for a person who may not be given
    /// them from below their horizon: under most policies a newcomer, under every policy a person
    /// who comes back.
    mutating func nameAnew(
        _ space: SpaceRecord, for person: PersonID, by policy: HistoryPolicy,
        _ turn: inout some Turn
    ) throws(StoreError) {
        guard policy != .all || hasReturned(person, to: space),
            let name = try Overview.name(of: space.number, in: turn.store)
        else { return }
        let previous = try Overview.nameReferences(of: space.number, in: turn.store)
        var drafts = [ConversationName(name: name).draft(replacing: previous)]
        if let text = try Overview.description(of: space.number, in: turn.store) {
            let previous = try Overview.descriptionReferences(of: space.number, in: turn.store)
            drafts.append(GroupDescription(text: text).draft(replacing: previous))
        }
        if let picture = try Overview.picture(of: space.number, in: turn.store) {
            let previous = try Overview.pictureReferences(of: space.number, in: turn.store)
            drafts.append(GroupPicture(content: picture).draft(replacing: previous))
        }
        _ = try write(drafts, in: space, &turn)
    }

    mutating func removeMember(_ person: PersonID, from id: SpaceID, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        if person == identity.person {
            return try leave(id, anyway: false, &turn)
        }
        switch try changeable(id, turn.store) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let (space, roster, own)):
            guard let member = roster.member(person) else { return .failure(.noSuchMember) }
            if let refusal = Self.refusal(of: own, touching: member) { return .failure(refusal) }
            let cut = try cut(of: person, by: roster, in: space, turn.store)
            try changeRoster([RemoveMember(person, cut: cut).draft()], in: space, &turn)
            return .success(.done)
        }
    }

    mutating func setRole(
        _ role: Role, of person: PersonID, in id: SpaceID, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        switch try changeable(id, turn.store) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let (space, roster, own)):
            guard let member = roster.member(person) else { return .failure(.noSuchMember) }
            guard member.role != role else { return .failure(.unchanged) }
            if role >= .admin, own.role < .owner { return .failure(.notAllowed) }
            if let refusal = Self.refusal(of: own, touching: member) { return .failure(refusal) }
            let cut =
                role == .reader ? try cut(of: person, by: roster, in: space, turn.store) : Cut()
            try changeRoster([SetRole(person, role: role, cut: cut).draft()], in: space, &turn)
            return .success(.done)
        }
    }

    mutating func leave(_ id: SpaceID, anyway: Bool, _ turn: inout some Turn) throws(StoreError)
        -> Result<CommandReply, CommandRefusal>
    {
        switch try changeable(id, turn.store) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let (space, roster, own)):
            let others = roster.members.filter { $0.person != own.person }
            let isLast = own.role == .owner && !others.contains { $0.role == .owner }
            // Nobody is kept in a group against their will: there may be nobody to make an owner of.
            if isLast, !anyway, !others.isEmpty { return .failure(.lastOwner) }
            try changeRoster([Leave().draft()], in: space, &turn)
            return .success(.done)
        }
    }

    mutating func change(_ settings: SpaceSettings, of id: SpaceID, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        let roster = try roster(of: space, turn.store)
        guard let roster, belongs(to: roster), let own = roster.member(identity.person) else {
            return .failure(outsideRefusal(roster))
        }
        guard own.role == .owner else { return .failure(.notAllowed) }
        guard space.kind == .group || settings.rules.isEmpty else {
            return .failure(.directConversation)
        }
        let isNew =
            (settings.history.map { $0 != roster.history } ?? false)
            || (settings.rotationHours.map { $0 != roster.settings.rotationHours } ?? false)
            || settings.rules.differ(from: roster.settings.rules)
        guard isNew else { return .failure(.unchanged) }
        var settings = settings
        // Versions that know no rules would take it for nothing, and part from those that do.
        if settings.history == nil, settings.rotationHours == nil {
            settings.rotationHours =
                roster.settings.rotationHours ?? UInt32(Self.keyLifetime / 3_600_000)
        }
        try changeRoster([settings.draft()], in: space, &turn)
        return .success(.done)
    }

    // MARK: What is refused before anything is written

    /// A group that this device is in, and as what.
    mutating func changeable(
        _ id: SpaceID, _ store: some Store
    ) throws(StoreError) -> Result<(SpaceRecord, Roster, Member), CommandRefusal> {
        guard let space = try conversation(id, store) else { return .failure(.unknownConversation) }
        guard space.kind == .group else { return .failure(.directConversation) }
        let roster = try roster(of: space, store)
        guard let roster, belongs(to: roster), let own = roster.member(identity.person) else {
            return .failure(outsideRefusal(roster))
        }
        return .success((space, roster, own))
    }

    private static func refusal(of own: Member, touching member: Member) -> CommandRefusal? {
        guard own.role >= .admin else { return .notAllowed }
        guard own.rank < member.rank else { return .outranked }
        return member.role >= .admin && own.role < .owner ? .notAllowed : nil
    }

    static func refusal(_ newcomer: Newcomer) -> CommandRefusal? {
        // Identity logs are as long as their persons made them: what does not fit one operation
        // cannot be written.
        let name = String(repeating: "-", count: Limits.nameByteCountMax)
        let addition = AddMember(newcomer, role: .member, conversation: name)
        let byteCount = addition.draft().payload?.count ?? 0
        guard byteCount <= Limits.operationByteCountMax - headerByteCountMax else {
            return .tooLong(byteCount: byteCount, limit: Limits.operationByteCountMax)
        }
        return nil
    }

    // MARK: What goes into the operations

    /// What proves a contact, or nil for none.
    func newcomer(
        _ person: PersonID, _ horizon: Horizon, _ store: some Store
    ) throws(StoreError) -> Newcomer? {
        guard try isAccepted(person, store), let card = try CardReader.kept(of: person, store)
        else { return nil }
        return Newcomer(
            person: person, name: card.name, identity: card.identity,
            prekeys: card.parts.flatMap(\.prekeys),
            horizon: horizon)
    }

    /// How far this node holds a person's logs: so far they count from now on. Those of devices that
    /// are out already too, which nothing has cut yet where their person left with them and came back
    /// without.
    func cut(
        of person: PersonID, by roster: Roster, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Cut {
        let devices = Set(roster.everyDevice(of: person))
        return try Cut(
            store.agreedLogs(in: space.number).filter { devices.contains($0.device) }
                .compactMap(\.lastPlaceHeld))
    }

    /// Where a newcomer's history begins, by the policy of the conversation.
    mutating func horizon(
        by policy: HistoryPolicy, in space: SpaceRecord, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Horizon {
        // Shared work concerns newcomers as well: it is given in full.
        let logs = try store.agreedLogs(in: space.number).filter {
            $0.lane == .content || $0.lane == .receipts
        }
        switch policy {
        case .all: return Horizon()
        case .none:
            var places: [LogPlace] = []
            for log in logs {
                guard let place = log.lastPlaceHeld else { continue }
                places.append(try viewed(place, of: log, store))
            }
            return Horizon.most(of: places, logs)
        case .days(let days):
            let age = UInt64(days) * 86_400_000
            let oldest = now.wall - min(now.wall, age)
            var places: [LogPlace] = []
            for log in logs {
                guard let place = try log.last(before: oldest, store) else { continue }
                places.append(try viewed(place, of: log, store))
            }
            return Horizon.most(of: places, logs)
        }
    }

    /// The same place with what the log had seen of lane 0 there, and where it stands; above a hole as far as it
    /// is known.
    mutating func viewed(
        _ place: LogPlace, of log: LogRecord, _ store: some Store
    ) throws(StoreError) -> LogPlace {
        guard log.lane.carriesAuthority else { return place }
        let row = try store.view(at: place.sequence, in: log.number)
        let known = row?.claimed.flatMap { rosters.judges[log.space]?.tips(underAuthority: $0) }
        let held = try store.header(at: place.sequence, in: log.number)
        return LogPlace(
            device: place.device, lane: place.lane, sequence: place.sequence,
            operation: place.operation, view: known ?? row?.tips ?? [],
            stand: held?.stand ?? log.order.floor ?? Stand())
    }
}

extension LogPlaces {
    /// As many of these places as fit in one operation; content before receipts, the most active
    /// logs first. For logs left out, a newcomer of a very large group is given more than the
    /// policy says.
    fileprivate static func most(of places: [LogPlace], _ logs: [LogRecord]) -> LogPlaces {
        func order(_ place: LogPlace) -> (Int, UInt64) {
            let log = logs.first { $0.device == place.device && $0.lane == place.lane }
            return (place.lane == .receipts ? 1 : 0, UInt64.max - (log?.order.tip.value ?? 0))
        }
        var room = countMax * 75
        let sorted = places.map { (order($0), $0) }.sorted { $0.0 < $1.0 }
        return LogPlaces(
            sorted.prefix(countMax).map(\.1).prefix { place in
                room -= 104 + 20 * place.view.count
                return room >= 0
            })
    }
}

extension LogRecord {
    /// The last place that counts, or nil for an empty log and for lane 0.
    var lastPlaceHeld: LogPlace? {
        guard lane != .control, end > 0 else { return nil }
        return LogPlace(device: device, lane: lane, sequence: end - 1, operation: tip)
    }

    /// The last place that stands before this moment, or that this node may not have itself.
    ///
    /// Stands ascend within a span, clocks need not; above a gap they start over. What lies in a
    /// gap is assumed to be older, unless what is held right below it is newer.
    func last(before time: UInt64, _ store: some LogStore) throws(StoreError) -> LogPlace? {
        var low = end
        for span in spans.reversed() where span.last >= base {
            let first = max(span.first, base)
            let found = try place(from: first, through: span.last, since: time, store)
            guard found <= span.last else { break }
            low = found
            guard found == first else { break }
        }
        guard low > 0 else { return nil }
        let operation: OperationID?
        if low == end {
            operation = tip
        } else if low == base {
            operation = floor?.anchor
        } else if let span = spans.first(where: { $0.first == low }) {
            operation = span.anchor
        } else {
            operation = try store.operation(at: low - 1, in: number)?.id
        }
        return operation.map {
            LogPlace(device: device, lane: lane, sequence: low - 1, operation: $0)
        }
    }

    /// The first of these places, all of which are held, that does not stand before this moment; the
    /// place after them where all do.
    private func place(
        from first: UInt64, through last: UInt64, since time: UInt64, _ store: some LogStore
    ) throws(StoreError) -> UInt64 {
        var (low, high) = (first, last + 1)
        while low < high {
            let middle = low + (high - low) / 2
            let stored = try store.header(at: middle, in: number)
            if stored.map({ $0.stand.value >> 16 < time }) ?? true {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
