import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I17: a message that is shown as delivered is held by a device of another person, and one that is
/// shown as read by a device of somebody who says that they have read it.
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
                    try look(at: message, of: node, in: space.id, world)
                    if message.state == .read {
                        try lookForReader(of: message, node, space, world)
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

    private func look(
        at message: Message, of node: SimulatedNode, in space: SpaceID, _ world: World
    ) throws {
        let place = Place(
            space: space, tag: message.reference.tag, sequence: message.reference.sequence)
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

    /// Who reads the newest may lack some before it, and has not read those.
    private func lookForReader(
        of message: Message, _ node: SimulatedNode, _ space: SpaceRecord, _ world: World
    ) throws {
        let place = Place(
            space: space.id, tag: message.reference.tag, sequence: message.reference.sequence)
        guard !read.contains(place) else { return }
        checkCount += 1
        let marks = try node.store.marks(.read, in: space.number).filter {
            $0.tag == place.tag && $0.sequence >= place.sequence
        }
        let readers = Set(marks.map { PersonID(reinterpreting: $0.actor) })
            .subtracting([node.identity.person])
        let devices = world.nodes.filter { readers.contains($0.identity.person) }
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
        let roster = try node.store.space(place.space).flatMap { try node.roster(of: $0) }
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
            if try other.store.operation(at: place.sequence, in: log.number) != nil { return .held }
        }
        return .nobody
    }
}
