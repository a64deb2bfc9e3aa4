import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I37: every change of a timeline is told by the log of events, and each message appears in it once;
/// after a loss of power a reader goes on exactly where the log still agrees with what it was told.
///
/// Each node has a reader that keeps a cursor over its deaths. What is shown is read from the rows of
/// the timeline, never from what the core says that it changed.
final class EventsTellAll: Checker {
    static let invariant = "I37"
    private(set) var checkCount = 0

    /// What a message looks like, who has received it left aside.
    private struct Look: Equatable {
        var order: OrderKey
        var flags: MessageRow.Flags
        var notes: [Entry]
    }

    private struct Place: Hashable {
        var space: SpaceNumber
        var number: OperationNumber
    }

    private struct Reader {
        var cursor: EventCursor?
        /// Messages that appeared, in the order in which that was told, with the cursor after each.
        var appeared: [(place: Place, cursor: EventCursor)] = []
        var told: Set<Place> = []
        /// What was told of since the timelines were last looked at.
        var changed: Set<Place> = []
        /// Spaces that were folded again: all of it since the last look, and ever.
        var refolded: Set<SpaceNumber> = []
        var everRefolded: Set<SpaceNumber> = []
        var looks: [SpaceNumber: [OperationNumber: Look]]?
        var failureCount = 0
        /// Whether what was told may have been lost since.
        var mayBeUndone = false
        var wasSetBack = false
    }

    private var readers: [DeviceID: Reader] = [:]
    private var glanceCount = 0

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        guard node.isHonest else { return }
        if losingPower { readers[node.identity.device]?.mayBeUndone = true }
        try look(at: node)
    }

    func wasSetBack(_ node: SimulatedNode) {
        readers[node.identity.device]?.mayBeUndone = true
        readers[node.identity.device]?.wasSetBack = true
    }

    func looked(at world: World) throws { for node in world.honestNodes { try look(at: node) } }

    /// The log is read each time; all timelines cost what is stored, and are looked at now and then.
    func glanced(at world: World) throws {
        glanceCount += 1
        for node in world.honestNodes {
            if (glanceCount + node.index) % 8 == 0 { try look(at: node) } else { try read(node) }
        }
    }

    private func look(at node: SimulatedNode) throws {
        try read(node)
        let device = node.identity.device
        guard var reader = readers[device] else { return }
        var looks: [SpaceNumber: [OperationNumber: Look]] = [:]
        for space in try node.store.spaces() {
            let before = reader.looks?[space.number] ?? [:]
            let now = try self.looks(of: space.number, in: node.store)
            looks[space.number] = now
            checkCount += 1
            if reader.refolded.contains(space.number) { continue }
            for (number, look) in now {
                let place = Place(space: space.number, number: number)
                guard reader.told.contains(place) || reader.everRefolded.contains(space.number)
                else { throw violation("\(node.name) shows a message and never told of it") }
                guard
                    reader.looks == nil || look == before[number]
                        || reader.changed.contains(place)
                else { throw violation("\(node.name) shows a message otherwise and told nothing") }
            }
            // One that disappears is told of as one that changed.
            let untold = before.keys.filter {
                now[$0] == nil
                    && !reader.changed.contains(Place(space: space.number, number: $0))
            }
            if reader.looks != nil, !untold.isEmpty {
                throw violation("\(node.name) shows a message no more and told nothing")
            }
        }
        reader.looks = looks
        (reader.changed, reader.refolded) = ([], [])
        readers[device] = reader
    }

    private func looks(
        of space: SpaceNumber, in store: some Store
    ) throws -> [OperationNumber: Look] {
        var found: [OperationNumber: Look] = [:]
        var before: OrderKey?
        while true {
            let rows = try store.messages(in: space, before: before, limit: 500)
            for row in rows {
                let object = EntryObject.operation(row.order.tag, row.order.sequence)
                // What is about the message of another branch at this place changes nothing here.
                let notes = try Target.notes(
                    try store.entries(about: object, in: space, field: nil),
                    about: row.order.id.check, in: store)
                found[row.operation] = Look(order: row.order, flags: row.flags, notes: notes)
            }
            guard let last = rows.last, rows.count == 500 else { return found }
            before = last.order
        }
    }

    /// Reads on in a node's log.
    private func read(_ node: SimulatedNode) throws {
        var reader = readers[node.identity.device] ?? Reader()
        var cursor = reader.cursor ?? EventCursor(generation: 0, entry: 1)
        while true {
            let page = try EventLog.resume(after: cursor, limit: 256, in: node.store)
            if let gap = page.gap { try close(gap, at: page.begin, &reader, node) }
            for (event, after) in page.events { try take(event, after, &reader, node) }
            cursor = page.cursor
            if page.isEnd { break }
        }
        reader.cursor = cursor
        reader.mayBeUndone = false
        reader.wasSetBack = false
        reader.failureCount = node.failedStepCount
        readers[node.identity.device] = reader
    }

    private func take(
        _ event: Event, _ after: EventCursor, _ reader: inout Reader, _ node: SimulatedNode
    ) throws {
        switch event.change {
        case .message(let space, let number):
            let place = Place(space: space, number: number)
            reader.changed.insert(place)
            guard event.isNew else { return }
            checkCount += 1
            guard reader.told.insert(place).inserted else {
                throw violation("\(node.name) told twice that a message appeared")
            }
            reader.appeared.append((place, after))
            try requireHeld(place, node)
        case .refolded(let space):
            reader.refolded.insert(space)
            reader.everRefolded.insert(space)
        case .mention, .conversation, .receipts, .contact, .devices, .relays, .card, .membership,
            .invitation, .additionPolicy, .preference, .typing, .presence, .calls, .clocks,
            .together, .reminder, .notSent, .files, .disappearing:
            break
        }
    }

    /// A message that was told of and is in no store was told of before the commit that holds it.
    private func requireHeld(_ place: Place, _ node: SimulatedNode) throws {
        guard try node.store.space(place.space) != nil else { return }
        let log = try node.store.operation(place.number).flatMap { try node.store.log($0.log) }
        guard log?.space == place.space else {
            throw violation("\(node.name) told of a message that it does not hold")
        }
    }

    /// What was told after a place is void.
    private func close(
        _ gap: EventGap, at begin: EventCursor, _ reader: inout Reader, _ node: SimulatedNode
    ) throws {
        let isExcused =
            switch gap {
            case .undone: reader.mayBeUndone
            // What was never known to be on the disk may be gone without a trace.
            case .foreign: reader.wasSetBack || node.failedStepCount > reader.failureCount
            case .forgotten: begin.entry > 1
            }
        guard isExcused else {
            throw violation("\(node.name) has lost its place in the log: \(gap.rawValue)")
        }
        let kept = gap == .undone ? begin.entry : 0
        let left = reader.appeared.filter {
            ($0.cursor.skip > 0 ? $0.cursor.entry : $0.cursor.entry - 1) < kept
        }
        reader.appeared = left
        reader.told = Set(left.map(\.place))
        for (place, _) in left { try requireHeld(place, node) }
        reader.looks = nil
        (reader.changed, reader.refolded) = ([], [])
    }
}
