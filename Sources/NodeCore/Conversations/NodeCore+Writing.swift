import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

extension NodeCore {
    /// Stores, signs and merges operations of this device, and hands them to every link.
    mutating func write(_ drafts: [Draft], in space: SpaceRecord, _ turn: inout some Turn)
        throws(StoreError) -> [AppliedOperation]
    {
        if ownHistory.hasGap(in: space.number) {
            try keep(drafts, for: space, &turn)
            return []
        }
        if drafts.contains(where: { $0.lane == .control }) {
            guard try hasControlRoom(in: space, besides: drafts.count, turn.store) else {
                return []
            }
        }
        let applied = try write(in: space, &turn) { author, turn throws(StoreError) in
            try author.append(drafts, to: turn.store, using: &turn.random)
        }
        try considerEpoch(after: applied, in: space, &turn)
        return applied
    }

    /// Lets an author store operations, merges them, and hands them to every link. Stores nothing while
    /// the store as a whole is behind: whoever may wait for that looks before.
    mutating func write<T: Turn>(
        in space: SpaceRecord, _ turn: inout T,
        _ append: (LogAuthor, inout T) throws(StoreError) -> [AppliedOperation]
    ) throws(StoreError) -> [AppliedOperation] {
        guard rejoin == nil, !ownHistory.hasGap(in: space.number),
            try holdsOwnControl(of: space, turn.store),
            let roster = try roster(of: space, turn.store),
            var judge = rosters.judges.removeValue(forKey: space.number)
        else { return [] }
        defer { rosters.judges[space.number] = judge }
        let context = try context(of: space, roster: roster, turn.store)
        let author = LogAuthor(
            key: identity.key, space: space, authority: roster.authority,
            placing: judge.placing, wallClock: turn.now.wall)
        let applied = try append(author, &turn)
        try noteWords(applied, in: space, turn.store)
        var changes: [ViewChange] = []
        for operation in applied {
            if operation.log.lane == .control {
                judge.add(operation.operation, by: identity.device)
                epochs[space.number]?.isStale = true
            }
            changes += try merging(operation, context, turn.store) { () throws(StoreError) in
                try Merge.apply(operation, context, judging: &judge, in: turn.store)
            }
        }
        for person in judge.takeNewPersons() {
            try turn.store.noteNaming(of: person, in: space.number, isShared: nil)
        }
        turn.emit(.commitFully)
        turn.emit(.changed(changes))
        if applied.contains(where: { $0.log.lane == .control }) {
            rosters.judges[space.number] = judge
            try placeAgain(space.number, &turn)
        }
        try grew(Set(applied.map(\.log.tag)), in: space, isOwn: true, from: nil, &turn)
        return applied
    }

    /// Reports what was received since the last receipts.
    mutating func writeReceipts(_ turn: inout some Turn) throws(StoreError) {
        guard try mayWrite(turn.store) else { return }
        for number in intake.unreceipted.sorted()
        where peers.confirmations.isConfirmed(number) && !ownHistory.hasGap(in: number) {
            intake.unreceipted.remove(number)
            guard let space = try turn.store.space(number),
                try belongs(to: space, turn.store)
            else { continue }
            var delivered: [Receipts.Progress] = []
            let actor = Digest(reinterpreting: identity.device)
            let roster = rosters.judges[number]?.roster
            for log in try turn.store.agreedLogs(in: number) where log.lane == .content {
                // No mark is kept for an author who does not count, nor one that says nothing, for
                // example of a log that is held up to where it begins for this device. It would be
                // reported at every check, and each receipt causes a search for others that could
                // report the same.
                guard log.device != identity.device, roster?.person(of: log.device) != nil
                else { continue }
                let lacking = try lackedPlaces(of: log, in: space, &turn)
                guard
                    let held = try FormerMarks.received(
                        log, lacking: lacking, &rosters.judges[number], in: turn.store)
                else { continue }
                let said = try turn.store.mark(.delivered, of: actor, on: log.tag, in: number)
                var places = said?.places ?? PlaceSet()
                places.tell(held)
                if places != said?.places {
                    delivered.append(.init(tag: log.tag, places: places))
                }
            }
            let held = try takeFileReceipts(in: number, turn.store)
            guard !delivered.isEmpty || !held.isEmpty else { continue }
            delivered = try FormerMarks.complete(delivered, .delivered, in: space, turn.store)
            let receipts = Receipts(
                delivered: try checked(delivered, .delivered, in: number, turn.store),
                held: try checked(held, .held, in: number, turn.store))
            _ = try write([receipts.draft()], in: space, &turn)
        }
    }

    /// Adds to each progress the check of its last place: if a log has two branches it tells which
    /// one is meant.
    func checked(
        _ progress: [Receipts.Progress], _ kind: MarkKind, in space: SpaceNumber,
        _ store: some Store
    ) throws(StoreError) -> [Receipts.Progress] {
        let actor = Digest(reinterpreting: identity.device)
        var all = progress
        for index in all.indices {
            let tag = all[index].tag
            guard let last = all[index].places.last else { continue }
            let said = try store.mark(kind, of: actor, on: tag, in: space)
            if said?.places.last == last, let check = said?.check {
                all[index].check = check
            } else if let log = try store.log(tag, in: space) {
                all[index].check = try store.check(at: last, of: log)
            }
        }
        return all
    }

    // MARK: What is refused before anything is written

    static func refusal(_ message: TextMessage) -> CommandRefusal? {
        if let origin = message.origin {
            // Every node would ignore it: it is better not said at all.
            if origin.time >= Limits.wallClockMax { return .impossibleTime }
            guard origin.author.utf8.count <= Limits.nameByteCountMax else {
                return .tooLong(
                    byteCount: origin.author.utf8.count, limit: Limits.nameByteCountMax)
            }
        }
        if message.files.isEmpty, message.link == nil { return refusal(text: message.text) }
        guard message.files.count <= Limits.attachmentCountMax else {
            return .tooManyFiles(limit: Limits.attachmentCountMax)
        }
        // Everything has to fit in one operation.
        let byteCount = message.draft().payload?.count ?? 0
        guard byteCount <= Limits.messagePayloadByteCountMax else {
            return .tooLong(byteCount: byteCount, limit: Limits.messagePayloadByteCountMax)
        }
        return message.text.isEmpty && !message.files.isEmpty ? nil : refusal(text: message.text)
    }

    static func refusal(text: String) -> CommandRefusal? {
        if text.isEmpty { return .empty }
        guard text.utf8.count <= Limits.messageByteCountMax else {
            return .tooLong(byteCount: text.utf8.count, limit: Limits.messageByteCountMax)
        }
        return nil
    }

    /// Why a name cannot be one, or nil.
    public static func refusal(name: String) -> CommandRefusal? {
        if let mark = VisibleName.hiddenMark(in: name) { return .hiddenMark(mark) }
        if VisibleName.isBlank(name) { return .empty }
        if VisibleName.looksLikeIdentifier(name) { return .identifierAsName }
        if VisibleName.isCall(name) { return .ownWordAsName }
        guard name.utf8.count <= Limits.nameByteCountMax else {
            return .tooLong(byteCount: name.utf8.count, limit: Limits.nameByteCountMax)
        }
        return nil
    }

    /// Why a name cannot be that of a person or a device, or nil.
    public static func refusal(personName name: String) -> CommandRefusal? {
        VisibleName.isOwnWord(name) ? .ownWordAsName : refusal(name: name)
    }

    static func refusal(emoji: String) -> CommandRefusal? {
        if emoji.isEmpty { return .empty }
        guard emoji.utf8.count <= Limits.emojiByteCountMax else {
            return .tooLong(byteCount: emoji.utf8.count, limit: Limits.emojiByteCountMax)
        }
        return Reaction.isEmoji(emoji) ? nil : .noEmoji
    }
}

extension AppliedOperation {
    func isKind(_ kind: OperationKind) -> Bool { operation.operation.header.kind == kind }
    var isMessage: Bool { operation.operation.header.kind.isMessage }
}
