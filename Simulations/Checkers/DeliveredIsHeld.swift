import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I17: a message that is shown as delivered is held by a device of another person, and one that is
/// shown as read by a device of somebody who says that they have read it. What is meant is what is
/// shown: of a message that was edited the last edit, of one that was deleted the deletion, and the very
/// operation, not another at its place. An own edit, deletion or reaction counts as delivered where no
/// sign says that it waits, and where what waits in a conversation is counted without it.
///
/// What a device held once counts for ever, though it may have lost it since with an old copy of its
/// disk: it is looked at each virtual minute. Where somebody lies, an acknowledgement proves nothing.
/// Who came back later than others know is believed to have been there all the time until they hear,
/// and so is who came back by a word that fell since: a receipt says up to where, not from where.
final class DeliveredIsHeld: Checker {
    static let invariant = "I17"
    /// Of a conversation the newest messages are looked at: of those before, this was done.
    private static let messageCountMax = 40
    private(set) var checkCount = 0

    private struct Place: Hashable {
        let space: SpaceID
        let tag: LogTag
        let sequence: UInt64
    }

    private var seen: Set<OperationID> = []
    private var read: Set<OperationID> = []
    private var floors = HighestFloors()
    /// Devices that have had more than they have now.
    private var forgetful: Set<DeviceID> = []

    func observed(_ step: StepReport) throws { try floors.note(step) }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        // A disk that decays may not open again.
        if node.refusal != nil { forgetful.insert(node.identity.device) }
    }

    func wasSetBack(_ node: SimulatedNode) { forgetful.insert(node.identity.device) }

    func looked(at world: World) throws {
        guard world.liars.isEmpty else { return }
        for node in world.nodes { try floors.note(node) }
        for node in world.nodes {
            let isForgetful = forgetful.contains(node.identity.device)
            for space in try node.store.spaces() {
                // Of who was set back everything is known again where the two branches are.
                if isForgetful, try !hasFork(space, node) { continue }
                guard
                    // Who is not in it any more sees nothing.
                    let messages = try? node.messages(
                        in: space.id, limit: Self.messageCountMax)
                else { continue }
                for message in messages where message.state ?? .saved >= .delivered {
                    let text = Place(
                        space: space.id, tag: message.reference.tag,
                        sequence: message.reference.sequence)
                    let isDeleted = message.flags.contains(.deleted)
                    let change = try change(of: message, node, space)
                    for place in (isDeleted ? [] : [text]) + (change.map { [$0] } ?? []) {
                        try look(at: place, as: message, of: node, world)
                        guard message.state == .read else { continue }
                        try lookForReader(of: place, node, space, world)
                    }
                }
                guard !isForgetful else { continue }
                try lookAtChanges(of: messages, node, space, world)
                try lookAtCount(node, space, world)
            }
        }
    }

    private func hasFork(_ space: SpaceRecord, _ node: SimulatedNode) throws -> Bool {
        try node.store.logs(in: space.number).contains {
            $0.device == node.identity.device && $0.lane == .content && $0.fork != nil
        }
    }

    // MARK: What waits

    /// Own changes that show no sign of waiting are held.
    private func lookAtChanges(
        of messages: [Message], _ node: SimulatedNode, _ space: SpaceRecord, _ world: World
    ) throws {
        guard let roster = try node.roster(of: space), hasOthers(roster, node) else { return }
        for message in messages {
            let object = EntryObject.operation(message.reference.tag, message.reference.sequence)
            let own = try node.store.entries(about: object, in: space.number, field: nil).filter {
                try node.store.log($0.order.tag, in: space.number).flatMap {
                    roster.person(of: $0.device)
                } == node.identity.person
            }
            for subject in WaitingChange.Subject.allCases
            where !message.waiting.contains(where: { $0.subject == subject }) {
                for change in Self.shown(subject, of: message, among: own) {
                    let place = Place(
                        space: space.id, tag: change.order.tag, sequence: change.order.sequence)
                    guard try isHeld(place, node, world) == false else { continue }
                    throw violation(
                        "\(node.name) shows no sign that its \(subject.rawValue) waits, and nobody"
                            + " else has it")
                }
            }
        }
    }

    /// The changes that a message shows: of edits the last one, and none of what was taken back.
    private static func shown(
        _ subject: WaitingChange.Subject, of message: Message, among own: [Entry]
    ) -> [Entry] {
        let isDeleted = message.flags.contains(.deleted)
        guard isDeleted == (subject == .deletion) else { return [] }
        let field: UInt16 =
            switch subject {
            case .edit: 1
            case .deletion: 2
            case .reaction: 3
            }
        let changes = own.filter { $0.field.rawValue == field }
        switch subject {
        case .edit: return changes.max { $0.order < $1.order }.map { [$0] } ?? []
        // One deletion is enough, whichever came there.
        case .deletion: return changes.count > 1 ? [] : changes
        case .reaction: return changes
        }
    }

    /// No fewer changes are counted as waiting than nobody else has.
    private func lookAtCount(
        _ node: SimulatedNode, _ space: SpaceRecord, _ world: World
    ) throws {
        guard let roster = try node.roster(of: space), hasOthers(roster, node) else { return }
        let counts = try Overview.waitingCounts(
            of: space, roster: roster, ownPerson: node.identity.person, in: node.store)
        var unheld = 0
        for log in try node.store.logs(in: space.number)
        where log.lane == .content && roster.person(of: log.device) == node.identity.person {
            let end = log.agreed.end
            let first = max(log.base, end - min(end, UInt64(Self.messageCountMax)))
            guard first < end else { continue }
            for stored in try node.store.operations(
                in: log.number, first...(end - 1), limit: Self.messageCountMax)
            where [65, 66, 67].contains(stored.operation.header.kind.rawValue) {
                // An edit of what was deleted says nothing any more.
                if stored.operation.isErased { continue }
                if isBeforeOthers(stored.sequence, of: log, roster, node) { continue }
                let place = Place(space: space.id, tag: log.tag, sequence: stored.sequence)
                if try isHeld(place, node, world) == false { unheld += 1 }
            }
        }
        guard unheld <= counts.changes else {
            throw violation(
                "\(node.name) counts \(counts.changes) changes that wait, and nobody else has"
                    + " \(unheld)")
        }
    }

    /// Whether all others came later, and are given nothing of it: that waits for nobody.
    private func isBeforeOthers(
        _ place: UInt64, of log: LogRecord, _ roster: Roster, _ node: SimulatedNode
    ) -> Bool {
        let others = roster.participants.filter { $0.person != node.identity.person }
        return others.flatMap(\.devices).allSatisfy { device in
            device.horizon.place(of: log.device, log.lane).map { place <= $0.sequence } ?? false
        }
    }

    private func hasOthers(_ roster: Roster, _ node: SimulatedNode) -> Bool {
        roster.participants.contains { $0.person != node.identity.person }
    }

    /// Whether somebody else has it, or nil where that cannot be told.
    private func isHeld(
        _ place: Place, _ node: SimulatedNode, _ world: World
    ) throws -> Bool? {
        let shown = try operation(at: place, of: node)
        if let shown, seen.contains(shown) { return true }
        checkCount += 1
        let others = world.nodes.filter { $0.identity.person != node.identity.person }
        switch try holding(of: place, among: others, asSeenBy: node) {
        case .held: _ = shown.map { seen.insert($0) }
        case .unknown: return nil
        case .nobody: return false
        }
        return true
    }

    // MARK: What is shown

    /// The newest change of a message that its author made, by what the store knows of it.
    private func change(
        of message: Message, _ node: SimulatedNode, _ space: SpaceRecord
    ) throws -> Place? {
        let object = EntryObject.operation(message.reference.tag, message.reference.sequence)
        let field = EntryField(rawValue: message.flags.contains(.deleted) ? 2 : 1)
        let roster = try node.roster(of: space)
        let own = try node.store.entries(about: object, in: space.number, field: field).filter {
            try node.store.log($0.order.tag, in: space.number).flatMap {
                roster?.person(of: $0.device)
            } == node.identity.person
        }
        // One deletion is enough, whichever came there.
        if field.rawValue == 2, own.count > 1 { return nil }
        return own.max { $0.order < $1.order }.map {
            Place(space: space.id, tag: $0.order.tag, sequence: $0.order.sequence)
        }
    }

    private func look(
        at place: Place, as message: Message, of node: SimulatedNode, _ world: World
    ) throws {
        guard try isHeld(place, node, world) == false else { return }
        throw violation(
            "\(node.name) shows a message as \(message.state?.rawValue ?? "") that nobody else has")
    }

    /// Who says that they have read it holds it.
    private func lookForReader(
        of place: Place, _ node: SimulatedNode, _ space: SpaceRecord, _ world: World
    ) throws {
        let shown = try operation(at: place, of: node)
        if let shown, read.contains(shown) { return }
        checkCount += 1
        let marks = try node.store.marks(.read, in: space.number).filter {
            $0.tag == place.tag && $0.places.contains(place.sequence)
        }
        let readers = Set(marks.map { DeviceID(reinterpreting: $0.actor) })
        let devices = world.nodes.filter {
            readers.contains($0.identity.device) && $0.identity.person != node.identity.person
        }
        switch try holding(of: place, among: devices, asSeenBy: node) {
        case .held: _ = shown.map { read.insert($0) }
        case .unknown: return
        case .nobody:
            throw violation(
                "\(node.name) shows a message as read that nobody holds who says they have read it")
        }
    }

    private func operation(at place: Place, of node: SimulatedNode) throws -> OperationID? {
        guard let space = try node.store.space(place.space),
            let log = try node.store.log(place.tag, in: space.number)
        else { return nil }
        return try node.store.operation(at: place.sequence, in: log.number)?.id
    }

    private enum Holding { case held, nobody, unknown }

    private func holding(
        of place: Place, among others: [SimulatedNode], asSeenBy node: SimulatedNode
    ) throws -> Holding {
        let space = try node.store.space(place.space)
        let roster = try space.flatMap { try node.roster(of: $0) }
        let shown = try operation(at: place, of: node)
        for other in others {
            if forgetful.contains(other.identity.device) || other.refusal != nil { return .held }
            guard let record = try other.store.space(place.space),
                let log = try other.store.log(place.tag, in: record.number)
            else { continue }
            let known = roster?.horizon(of: other.identity.device).place(of: log.device, log.lane)
            if let floor = floors.place(of: log.tag, for: other.identity.device),
                floor > place.sequence,
                floor > known.map({ $0.sequence + 1 }) ?? 0
            {
                return .unknown
            }
            let held = try other.store.operation(at: place.sequence, in: log.number)?.id
            if held != nil, held == shown { return .held }
        }
        return .nobody
    }
}
