import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySignalling
import ParleySimulation
import ParleyWire

/// What somebody began and ends by themselves some time later.
enum LateDeed {
    /// A call is given up: by hanging up, or by dying.
    case giveUp(CallID, dies: Bool)
    /// Somebody who was kept away is let in again.
    case letIn(PersonID)
}

/// What people do that ends later, and what strangers do.
extension Stage {
    /// Calls that are given up, people who are kept away, and strangers.
    mutating func unruly(_ node: SimulatedNode, does deed: Deed) throws -> Bool {
        guard !node.isDown else { return false }
        switch deed {
        case .ringAndGo(let place, let time, let dies):
            guard let space = try world.observe({ try space(place, of: node) }),
                case .call(let call) = perform(.call(space.id, .microphone), on: node)
            else { return false }
            later(time, by: node, .giveUp(call, dies: dies))
            return true
        case .ringAt(let user):
            guard let person = self.node(user)?.identity.person else { return false }
            let world = world
            guard let space = try world.observe({ try common(node, person) }) else {
                return false
            }
            return perform(.call(space, .microphone), on: node) != nil
        case .shutOut(let user, let time):
            guard let person = self.node(user)?.identity.person,
                perform(.answerContact(person, .block), on: node) != nil
            else { return false }
            later(time, by: node, .letIn(person))
            return true
        case .intrude(let place):
            guard strangers.indices.contains(place) else { return false }
            return try world.intrude(strangers[place], on: node)
        default: return false
        }
    }

    /// A conversation that a node shares with a person: two who never met share groups alone.
    mutating func common(_ node: SimulatedNode, _ person: PersonID) throws -> SpaceID? {
        let shared = try node.conversations().filter { space in
            guard let roster = try node.roster(of: space) else { return false }
            return roster.member(person) != nil && roster.contains(node.identity.device)
        }
        return shared.isEmpty ? nil : shared[Int(random.next() % UInt64(shared.count))].id
    }

    private mutating func later(_ time: VirtualTime, by node: SimulatedNode, _ deed: LateDeed) {
        late.append((world.now + time.milliseconds, node.name, deed))
    }

    /// When the next of them is due.
    var nextLate: UInt64? { late.map(\.time).min() }

    /// Does what is due; all of it, once faults are over.
    mutating func endLate(all: Bool = false) {
        let due = late.filter { all || $0.time <= world.now }
        late.removeAll { all || $0.time <= world.now }
        for one in due where !end(one.deed, by: one.user) {
            // Whoever is down or takes back what it forgot does it when it can.
            late.append((world.now + 5_000, one.user, one.deed))
        }
    }

    /// Returns whether it is done with.
    private mutating func end(_ deed: LateDeed, by user: String) -> Bool {
        guard let node = self.node(user) else { return true }
        switch deed {
        case .giveUp(let call, let dies):
            guard !node.isDown, node.core.calls[call] != nil else { return true }
            if dies {
                node.plannedDeath = PlannedDeath(
                    stepCount: 1, point: .afterCommit, isLosingPower: false, downtime: 20_000)
            } else {
                _ = perform(.act(call, .hangUp), on: node)
            }
            return true
        case .letIn(let person):
            // Any device of the person's may: this one may have been revoked.
            let devices = world.nodes.filter {
                $0.identity.person == node.identity.person && !$0.isDown
            }
            return devices.contains { perform(.answerContact(person, .unblock), on: $0) != nil }
                || node.refusal != nil
        }
    }
}
