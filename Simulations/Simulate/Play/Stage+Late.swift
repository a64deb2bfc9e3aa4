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
    /// Somebody who was kept away, and kept this person away, is given a new invite.
    case makeUp(user: String, tries: Int)
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
            // Neither may write into the other's inbox any more, and neither can say how to: with relays
            // alone nothing but a new invite brings them together (Protocol/06-relay.md, "Inboxes").
            if try world.hasRelaysOnly && keepsAway(person, node) {
                later(time, by: node, .makeUp(user: user, tries: Self.tryCountMax))
            }
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
    mutating func endLate(all: Bool = false) throws {
        let due = late.filter { all || $0.time <= world.now }
        late.removeAll { all || $0.time <= world.now }
        for one in due where try !end(one.deed, by: one.user) {
            // Whoever is down or takes back what it forgot does it when it can.
            late.append((world.now + 5_000, one.user, one.deed))
        }
    }

    /// Returns whether it is done with.
    private mutating func end(_ deed: LateDeed, by user: String) throws -> Bool {
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
        case .makeUp(let user, let tries):
            if try makeUp(node, with: user) || tries == 0 { return true }
            later(VirtualTime(milliseconds: 5_000), by: node, .makeUp(user: user, tries: tries - 1))
            return true
        }
    }

    /// How often a new invite is tried: a person's devices may all be down, or revoked.
    private static let tryCountMax = 120

    /// Gives somebody a new invite, once neither keeps the other away.
    private mutating func makeUp(_ node: SimulatedNode, with user: String) throws -> Bool {
        guard let person = self.node(user)?.identity.person else { return true }
        let hosts = world.nodes.filter { $0.identity.person == node.identity.person && !$0.isDown }
        let guests = world.nodes.filter { $0.identity.person == person && !$0.isDown }
        // Disks fail for those who do something, not for who looks at it.
        let world = world
        let open = try world.observe {
            try hosts.allSatisfy { try !$0.keepsAway(person) }
                && guests.allSatisfy { try !$0.keepsAway(node.identity.person) }
        }
        guard open else { return false }
        for host in hosts {
            for guest in guests where try invite(guest.name, by: host) { return true }
        }
        return false
    }

    /// Whether a device of somebody keeps the person of a node away.
    private func keepsAway(_ person: PersonID, _ node: SimulatedNode) throws -> Bool {
        try world.observe {
            try world.nodes.contains {
                try $0.identity.person == person && $0.keepsAway(node.identity.person)
            }
        }
    }
}
