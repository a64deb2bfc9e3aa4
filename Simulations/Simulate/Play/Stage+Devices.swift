import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulatedDisk
import ParleySimulation
import ParleyWire

/// What people do about their devices and backups, and with links into groups.
extension Stage {
    mutating func household(of node: SimulatedNode, does deed: Deed) throws -> Bool {
        let (world, choice) = (world, storeChoice)
        switch deed {
        case .link(let device):
            guard !node.isDown else { return false }
            return try begins(device) { try world.addDevice(device, of: node, on: choice) }
        case .keepBackup:
            guard !node.isDown, !node.core.node.isRevoked else { return false }
            backups[node.identity.person] = try node.makeBackup()
            return true
        case .recover(let device, let helper, let kept):
            let backup = backups[node.identity.person]
            let friend = helper.flatMap { self.node($0) }
            guard helper == nil ? backup != nil : friend?.isDown == false else { return false }
            // Who keeps somebody away makes them no invite.
            if let friend, try friend.keepsAway(node.identity.person) { return false }
            let staying = kept.compactMap { self.node($0) }
            return try begins(device) {
                try world.recover(
                    device, of: node, from: helper == nil ? backup : nil, helpedBy: friend,
                    keeping: staying, on: choice)
            }
        case .openGroup(let place, let uses, let time?):
            return try open(place, for: uses, lasting: time, by: node)
        case .join(let user, let member):
            guard !node.isDown, var link = links[user] else { return false }
            if let member {
                // Whoever is down tells nobody what they are called.
                guard let asked = self.node(member), !asked.isDown,
                    let card = try world.observe({ try Self.card(of: asked) })
                else { return false }
                link.card = card
            }
            return perform(.joinGroup(link), on: node) != nil
        default: return false
        }
    }

    /// A device comes to be, where nobody has it yet: as all else is at that moment.
    private mutating func begins(
        _ device: String, _ make: () throws -> SimulatedNode
    ) throws -> Bool {
        guard node(device) == nil else { return false }
        do {
            _ = try make()
        } catch is WorldError {
            // Whoever was asked refused, or died over it; a friend after it was made.
            refusedCount += 1
        }
        guard let new = node(device) else { return false }
        setClock(of: new)
        setModels()
        for other in away.sorted().compactMap(node) where other !== new { world.cut(new, other) }
        hold(new)
        doneCount += 1
        return true
    }

    func revocation(of device: SimulatedNode, byCode: Bool) -> Command {
        let root = byCode ? world.recoveryKey(of: device) : nil
        return .revokeDevice(device.identity.device, root: root)
    }

    private mutating func open(
        _ place: Int, for uses: Int, lasting time: VirtualTime, by node: SimulatedNode
    ) throws -> Bool {
        guard !node.isDown, let space = try world.observe({ try space(place, of: node) }),
            let card = try world.observe({ try Self.card(of: node) })
        else { return false }
        let secret = (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let expires = World.epoch + world.now + time.milliseconds
        let reply = perform(
            .createGroupInvite(
                space.id, secret: secret, role: .member, uses: UInt32(clamping: uses),
                expires: expires), on: node)
        guard case .operation(let invite)? = reply else { return false }
        links[scenario.person(of: node.name)] = GroupLink(
            space: space.id, invite: invite, secret: secret, expires: expires, name: "a group",
            card: card)
        return true
    }

    /// Whom a guest asks, as a link says it.
    private static func card(of node: SimulatedNode) throws -> [UInt8]? {
        try node.store.value(.card, node.identity.person.bytes)
    }

    /// Carries out a command and counts what came of it; nil where it was refused.
    mutating func perform(_ command: Command, on node: SimulatedNode) -> CommandReply? {
        do {
            let reply = try world.perform(command, on: node)
            doneCount += 1
            return reply
        } catch {
            refusedCount += 1
            return nil
        }
    }

    func closing(_ place: Int, by node: SimulatedNode) throws -> Command? {
        guard let space = try space(place, of: node),
            let invite = try node.roster(of: space)?.invites.first
        else { return nil }
        return .endGroupInvite(space.id, invite.operation)
    }
}
