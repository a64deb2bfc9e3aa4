import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I9: who is in a space is what an independent model makes of its control operations, and whoever
/// is out is served nothing. So is what a node that runs takes for it: it has worked that out as
/// operations came, and not all at once.
///
/// A device in the roster gets no content at or below its horizon, and of nobody's log more than
/// the removals leave. A device that is out gets lane 0 up to and including what put it out; a
/// member's that never was in gets lane 0, and a stranger's nothing. Which frames leave is what counts,
/// not what a node believes. Where a fork of lane 0 is proven, what of lane 0 goes to those who are out
/// is not judged: the words about a branch go there as well.
final class RostersAgree: Checker {
    static let invariant = "I9"
    /// The first byte of OPS. Source: Protocol/06-sync.md, "Frames".
    private static let operationsType: UInt8 = 4

    private(set) var checkCount = 0
    private let roster: (SpaceRecord, any SimulatedStore) throws -> Roster?
    private let heldRoster: (SpaceRecord, SimulatedNode) -> Roster?
    private let book = NaiveBook()
    private var known: [DeviceID: Known] = [:]

    /// What is known of a node between two looks.
    private struct Known {
        var peers: [LinkID: LinkPeer] = [:]
        var rowCount = 0
        var forkCount = 0
        var spaces: [SpaceID: Control] = [:]
        /// Spaces whose rosters were not compared since they changed.
        var unseen: Set<SpaceID> = []
        /// What the store had counted when it was last read; nil where that cannot be told.
        var changeCount: UInt64?
        /// Whether the last step changed a space.
        var hasBefore = false
    }

    private struct Control {
        /// As it was before the step that is looked at: what a step had begun to send it may send.
        var before: NaiveControl?
        var now: NaiveControl
    }

    /// - Parameters:
    ///   - roster: tells who is in a space; as every node works it out where left out.
    ///   - heldRoster: tells what a node that runs takes for it; nil where it has not looked.
    init(
        roster: @escaping (SpaceRecord, any SimulatedStore) throws -> Roster? = {
            try RosterReader.roster(of: $0, in: $1)
        },
        heldRoster: @escaping (SpaceRecord, SimulatedNode) -> Roster? = {
            $1.isDown ? nil : $1.core.heldRoster(of: $0.number)
        }
    ) {
        self.roster = roster
        self.heldRoster = heldRoster
    }

    func observed(_ step: StepReport) throws {
        let device = step.node.identity.device
        switch step.input {
        case .linkOpened(let link, let peer): known[device, default: Known()].peers[link] = peer
        case .linkClosed(let link): known[device]?.peers[link] = nil
        default: break
        }
        guard step.node.isHonest else { return }
        try takeNote(of: step.node)
        if step.isLost { return }
        for case .send(let link, let bytes) in step.effects
        where bytes.first == Self.operationsType {
            guard let peer = known[device]?.peers[link],
                case .operations(let operations) = try Frame.decode(bytes)
            else { continue }
            for run in operations.runs { try look(at: run, operations.space, to: peer, step.node) }
        }
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws { forget(node) }

    func wasSetBack(_ node: SimulatedNode) { forget(node) }

    private func forget(_ node: SimulatedNode) { known[node.identity.device] = Known() }

    /// Works the model of a space out anew where lane 0 has grown.
    private func takeNote(of node: SimulatedNode) throws {
        let device = node.identity.device
        let change = node.store.changeCount
        if let known = known[device], let change, known.changeCount == change, !known.hasBefore {
            return
        }
        var known = known[device] ?? Known()
        known.changeCount = change
        for space in known.spaces.keys.sorted() { known.spaces[space]?.before = nil }
        known.hasBefore = false
        var changed: Set<SpaceNumber> = []
        let count = node.store.operationCount
        for row in stride(from: min(known.rowCount, count) + 1, through: count, by: 1) {
            guard let stored = try node.store.operation(OperationNumber(Int64(row))),
                let log = try node.store.log(stored.log), log.lane == .control
            else { continue }
            changed.insert(log.space)
        }
        known.rowCount = count
        let forkCount = try node.store.forks().count
        let isForked = known.forkCount != forkCount
        known.forkCount = forkCount
        if isForked || !changed.isEmpty {
            for space in try node.store.spaces() where isForked || changed.contains(space.number) {
                let control = try book.read(space, of: node)
                known.spaces[space.id] = Control(
                    before: known.spaces[space.id]?.now, now: control)
                known.unseen.insert(space.id)
                known.hasBefore = true
            }
        }
        self.known[device] = known
    }

    // MARK: What is served

    private func look(
        at run: Run, _ space: SpaceID, to peer: LinkPeer, _ node: SimulatedNode
    ) throws {
        guard let control = known[node.identity.device]?.spaces[space] else { return }
        checkCount += 1
        guard let wrong = Self.wrong(with: run, to: peer, by: control.now) else { return }
        if let before = control.before, Self.wrong(with: run, to: peer, by: before) == nil {
            return
        }
        throw violation(
            "\(node.name) sends \(owner(of: peer.device, node)) the \(run.lane) log of"
                + " \(owner(of: run.device, node)) from \(run.first) to \(run.last), though \(wrong)"
        )
    }

    private static func wrong(
        with run: Run, to peer: LinkPeer, by control: NaiveControl
    ) -> String? {
        // Between two branches nobody can choose before it is proven that there are two.
        if control.rosters.isForked { return nil }
        let (now, rosters) = (control.now, control.rosters)
        let isIn = now.owners[peer.device] == peer.person
        if run.lane == .control {
            // Its person's word is all that it takes to come in, and for that it has to know where.
            let isUntold = now.seats[peer.person] != nil && now.person(of: peer.device) == nil
            if isIn || isUntold { return nil }
            // Who is out by a branch above a fork may hear all that vouches for it.
            if !rosters.forks.isEmpty { return nil }
            let departure = control.departure(of: peer.device, peer.person)
            if departure.isEmpty { return "it never was a member" }
            let tag = LogTag(
                OperationHash.log(space: rosters.space, device: run.device, lane: .control))
            let last = departure.filter { rosters.acts[$0].tag == tag }
                .map { rosters.acts[$0].sequence }.max()
            return last.map { run.last <= $0 } ?? false ? nil : "it was out by then"
        }
        guard isIn else { return "it is no member" }
        if control.invited.contains(peer.person) { return "its person has not accepted" }
        if let person = now.owners[peer.device],
            let place = now.seats[person]?.horizon.place(of: run.device, run.lane),
            run.first <= place.sequence
        {
            return "it came after \(place.sequence)"
        }
        switch now.limit(of: run.device, run.lane, rosters) {
        case .all: return nil
        case .none: return "nothing of that counts"
        case .through(let last, _):
            return run.last <= last ? nil : "nothing of that counts beyond \(last)"
        }
    }

    private func owner(of device: DeviceID, _ node: SimulatedNode) -> String {
        let owner = node.world?.nodes.first { $0.identity.device == device }?.name
        return owner ?? "a stranger"
    }

    // MARK: What nodes make of it

    func glanced(at world: World) throws {
        for node in world.honestNodes {
            let unseen = known[node.identity.device]?.unseen ?? []
            if unseen.isEmpty { continue }
            for space in try node.store.spaces() where unseen.contains(space.id) {
                guard let control = known[node.identity.device]?.spaces[space.id]?.now else {
                    continue
                }
                try compare(space, control, of: node)
            }
            known[node.identity.device]?.unseen = []
        }
    }

    func looked(at world: World) throws {
        for node in world.honestNodes {
            for space in try node.store.spaces() {
                try compare(space, try book.read(space, of: node), of: node)
            }
        }
    }

    private func compare(
        _ space: SpaceRecord, _ control: NaiveControl, of node: SimulatedNode
    ) throws {
        if control.rosters.isForked { return }
        guard let roster = try roster(space, node.store) else {
            guard control.now.seats.isEmpty else {
                throw violation("\(node.name) knows nobody in a space that has members")
            }
            return
        }
        checkCount += 1
        let devices = Set(control.now.owners.keys).union(control.now.former.keys)
        let difference = control.now.difference(
            from: roster, control.rosters, about: devices.sorted())
        if roster.invited != control.invited {
            throw violation(
                "\(node.name) takes \(roster.invited) for those who have not accepted, and not"
                    + " \(control.invited)")
        }
        if let difference {
            throw violation("\(node.name) takes for the roster of a space \(difference)")
        }
        guard let held = heldRoster(space, node), held != roster else { return }
        if let difference = control.now.difference(
            from: held, control.rosters, about: devices.sorted())
        {
            throw violation("\(node.name) goes by a roster of a space with \(difference)")
        }
    }
}
