import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I17: a message that is shown as delivered is held by a device of another person, and one that is
/// shown as read by a device of somebody who says that they have read it. What is meant is what is
/// shown: of a message that was edited the last edit, of one that was deleted the deletion, and the very
/// operation, not another at its place.
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

    private var seen: Set<Place> = []
    private var read: Set<Place> = []
    /// The highest place that logs of content have begun at for a device.
    private var floors: [DeviceID: [LogTag: UInt64]] = [:]
    /// Devices that have had more than they have now.
    private var forgetful: Set<DeviceID> = []

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        // A disk that decays may not open again.
        if node.refusal != nil { forgetful.insert(node.identity.device) }
    }

    func wasSetBack(_ node: SimulatedNode) { forgetful.insert(node.identity.device) }

    func looked(at world: World) throws {
        guard world.liars.isEmpty else { return }
        for node in world.nodes { try noteFloors(of: node) }
        for node in world.nodes where !forgetful.contains(node.identity.device) {
            for space in try node.store.spaces() {
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
            }
        }
    }

    private func noteFloors(of node: SimulatedNode) throws {
        let device = node.identity.device
        for space in try node.store.spaces() {
            for log in try node.store.logs(in: space.number) where log.lane == .content {
                guard let floor = log.floor?.sequence else { continue }
                let known = floors[device]?[log.tag] ?? 0
                floors[device, default: [:]][log.tag] = max(known, floor)
            }
        }
    }

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
        guard !seen.contains(place) else { return }
        checkCount += 1
        let others = world.nodes.filter { $0.identity.person != node.identity.person }
        switch try holding(of: place, among: others, asSeenBy: node) {
        case .held: seen.insert(place)
        case .unknown: return
        case .nobody:
            throw violation(
                "\(node.name) shows a message as \(message.state?.rawValue ?? "") that nobody"
                    + " else has")
        }
    }

    /// Who says that they have read it holds it.
    private func lookForReader(
        of place: Place, _ node: SimulatedNode, _ space: SpaceRecord, _ world: World
    ) throws {
        guard !read.contains(place) else { return }
        checkCount += 1
        let marks = try node.store.marks(.read, in: space.number).filter {
            $0.tag == place.tag && $0.places.contains(place.sequence)
        }
        let readers = Set(marks.map { DeviceID(reinterpreting: $0.actor) })
        let devices = world.nodes.filter {
            readers.contains($0.identity.device) && $0.identity.person != node.identity.person
        }
        switch try holding(of: place, among: devices, asSeenBy: node) {
        case .held: read.insert(place)
        case .unknown: return
        case .nobody:
            throw violation(
                "\(node.name) shows a message as read that nobody holds who says they have read it")
        }
    }

    private enum Holding { case held, nobody, unknown }

    private func holding(
        of place: Place, among others: [SimulatedNode], asSeenBy node: SimulatedNode
    ) throws -> Holding {
        let space = try node.store.space(place.space)
        let roster = try space.flatMap { try node.roster(of: $0) }
        let shown = try space.flatMap { try node.store.log(place.tag, in: $0.number) }.flatMap {
            try node.store.operation(at: place.sequence, in: $0.number)?.id
        }
        for other in others {
            if forgetful.contains(other.identity.device) || other.refusal != nil { return .held }
            guard let record = try other.store.space(place.space),
                let log = try other.store.log(place.tag, in: record.number)
            else { continue }
            let known = roster?.horizon(of: other.identity.device).place(of: log.device, log.lane)
            if let floor = floors[other.identity.device]?[log.tag], floor > place.sequence,
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
