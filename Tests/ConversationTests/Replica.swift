import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleySimulation
import ParleyWire

/// One operation as it travels alone: its author signed it.
struct Parcel {
    let run: Run
    var place: UInt64 { run.first }
}

/// A store that folds a space's operations as the node does, without the node around it.
final class Replica {
    let store: MemoryStore
    let space: SpaceRecord
    private var judge: Judge
    var roster: Roster { judge.roster }
    let person: PersonID

    init(of space: SpaceID, kind: SpaceKind, judge: Judge, person: PersonID, seed: UInt64) throws {
        store = MemoryStore(locatorSeed: seed)
        try store.begin(.normal)
        self.space = try store.addSpace(space, kind: kind)
        try store.commit()
        self.judge = judge
        self.person = person
    }

    private func context() throws -> MergeContext {
        let newest = try store.messages(in: space.number, before: nil, limit: 1).first
        return MergeContext(
            space: space, roster: roster, ownPerson: person,
            newestStand: newest?.order.stand ?? 0)
    }

    /// Takes a parcel. Returns whether it was taken; it is not while its causes are missing.
    @discardableResult
    func receive(_ parcel: Parcel) throws -> Bool {
        let id = OperationHash.log(
            space: space.id, device: parcel.run.device, lane: parcel.run.lane)
        let held = try store.log(LogTag(id), in: space.number)?.spans ?? []
        let runs = try OperationVerifier.verify(parcel.run, in: space.id, held: held)
        for run in runs {
            let header = run.operations[0].operation.header
            if !run.isBackfill {
                guard
                    try Causality.missing(
                        header, lane: run.lane, in: space.number, store: store
                    ).isEmpty
                else { return false }
            }
            try keep(run, named: id)
        }
        return true
    }

    private func keep(_ taken: VerifiedRun, named id: LogID) throws {
        try store.begin(.normal)
        var log =
            try store.log(LogTag(id), in: space.number)
            ?? store.addLog(id, device: taken.device, lane: taken.lane, in: space.number)
        let (run, settledEnd) = try taken.placed(in: log, by: StandRule(), store)
        let numbers = try store.insert(run.operations, in: log.number)
        log.hold(run)
        log.order.settledEnd = settledEnd
        try store.update(log)
        for head in run.heads { try store.addHead(head, in: log.number) }
        for (operation, number) in zip(run.operations, numbers) {
            try Causality.cover(
                operation.operation.header, at: operation.sequence, in: log, store: store)
            let applied = AppliedOperation(
                number: number, log: log, operation: operation, isBackfill: run.isBackfill)
            try look(at: applied.log)
            _ = try Merge.apply(applied, try context(), judging: &judge, in: store)
        }
        if try StandSettling.settle(space.number, by: StandRule(), in: store) {
            try Merge.rebuild(try context(), judging: &judge, in: store)
        }
        try store.commit()
    }

    /// All is written under the first operation of the space.
    private func look(at log: LogRecord) throws {
        let tips = judge.graph.tips().places
        try store.setView(LogView(first: 0, tips: tips), in: log.number)
    }

    func rebuild() throws {
        try store.begin(.normal)
        try Merge.rebuild(try context(), judging: &judge, in: store)
        try store.commit()
    }

    func digest() throws -> Digest {
        try ViewDigest.digest(of: space, roster: roster, in: store)
    }

    /// Oldest first.
    func messages() throws -> [Message] {
        try Timeline(of: space, roster: roster, ownPerson: person)
            .page(limit: 1000, in: store).reversed()
    }

    func texts() throws -> [String?] { try messages().map(\.text) }

    func unreadCount() throws -> Int {
        try Overview.unreadCount(of: space, roster: roster, ownPerson: person, in: store)
    }

    /// Where its person is mentioned, the last first.
    func mentions() throws -> [OrderKey] {
        try store.mentions(before: nil, limit: 1000).map(\.order)
    }

    func unreadMentionCount() throws -> Int {
        try Overview.unreadMentionCount(
            of: space, roster: roster, ownPerson: person, in: store)
    }

    func fold(_ applied: [AppliedOperation]) throws {
        for operation in applied {
            try look(at: operation.log)
            _ = try Merge.apply(operation, try context(), judging: &judge, in: store)
        }
    }
}

/// A person with one device, who writes in a replica of their own.
final class Writer {
    let key: DeviceSigningKey
    let replica: Replica
    private var random: SeededRandom
    var wallClock: UInt64 = 1_700_000_000_000

    init(key: DeviceSigningKey, replica: Replica, seed: UInt64) {
        self.key = key
        self.replica = replica
        random = SeededRandom(seed: seed)
    }

    /// Writes, and returns how others name it.
    @discardableResult
    func write(_ draft: Draft) throws -> OperationReference { try write([draft]) }

    /// Writes them all at once, and returns how others name the last.
    @discardableResult
    func write(_ drafts: [Draft]) throws -> OperationReference {
        wallClock += 1000
        let author = LogAuthor(
            key: key, space: replica.space, authority: replica.roster.authority,
            wallClock: wallClock)
        try replica.store.begin(.full)
        let applied = try author.append(drafts, to: replica.store, using: &random)
        try replica.fold(applied)
        try replica.store.commit()
        let operation = applied[applied.count - 1].operation
        return OperationReference(
            tag: operation.tag, sequence: operation.sequence, check: operation.id.check)
    }

    @discardableResult
    func say(
        _ text: String, replyingTo parent: OperationReference? = nil
    ) throws -> OperationReference {
        try write(TextMessage(text: text).draft(replyingTo: parent))
    }

    /// What a receipt says once these messages were read as they are now.
    func progress(reading messages: [OperationReference]) throws -> [Receipts.Progress] {
        let (space, store) = (replica.space, replica.store)
        var numbers: [OperationNumber] = []
        for message in messages {
            guard let log = try store.log(message.tag, in: space.number),
                let stored = try store.operation(at: message.sequence, in: log.number)
            else { continue }
            numbers.append(stored.number)
        }
        return try Overview.progress(
            reading: ShownMessages(numbers), in: space, roster: replica.roster, by: key.device,
            store)
    }

    /// Reads these messages as they are now.
    func reads(_ messages: [OperationReference]) throws {
        let progress = try progress(reading: messages)
        if !progress.isEmpty { try write(Receipts(read: progress).draft()) }
    }

    /// Everything that this device wrote, log by log, ascending.
    func logs() throws -> [[Parcel]] {
        let store = replica.store
        var logs: [[Parcel]] = []
        for log in try store.logs(in: replica.space.number)
        where log.device == key.device && log.end > 0 {
            let stored = try store.operations(in: log.number, 0...log.end, limit: 10_000)
            var parcels: [Parcel] = []
            var anchor: OperationID?
            for operation in stored {
                let place = operation.sequence
                parcels.append(
                    Parcel(
                        run: Run(
                            device: key.device, lane: log.lane, first: place, anchor: anchor,
                            operations: [operation.operation],
                            heads: try store.heads(in: log.number, place...place))))
                anchor = operation.id
            }
            logs.append(parcels)
        }
        return logs
    }

    /// Takes whatever the others wrote.
    func catchUp(with others: [Writer]) throws {
        var queues = try others.filter { $0 !== self }.flatMap { try $0.logs() }.map { $0[...] }
        var moved = true
        while moved {
            moved = false
            for index in queues.indices {
                while let next = queues[index].first, try replica.receive(next) {
                    queues[index].removeFirst()
                    moved = true
                }
            }
        }
    }
}
