import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I43: a message for later is sent by the device that is named alone, once, not before its time, and soon
/// after it; and a reminder rings at its device alone, and once.
///
/// What was to be said is noted when it is asked for: once it is said nothing names its device any more. A
/// step that was lost may have been undone, so a message counts as said as long as its node holds it.
/// Source: `Protocol/05-identity.md`, "Reminders" and "Scheduled messages".
final class DueOnce: Checker {
    static let invariant = "I43"
    /// A node looks at the wall clock once a minute, and tries again as often.
    private static let patience: UInt64 = 300_000
    private(set) var checkCount = 0

    /// Something that a device is to say.
    private struct Errand: Hashable {
        var device: DeviceID
        var space: SpaceID
        var payload: [UInt8]
    }

    /// Something that waits, or rang.
    private struct Named<ID: Hashable>: Hashable {
        var device: DeviceID
        var id: ID
    }

    /// From when on each may be said; one time for each time that it was asked for.
    private var errands: [Errand: [UInt64]] = [:]
    private var said: [Errand: [OperationID]] = [:]
    /// Since when it has been due, by the clock of the world.
    private var dueSince: [Named<ScheduledMessage.ID>: UInt64] = [:]
    private var rung: Set<Named<Reminder.ID>> = []

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest else { return }
        switch step.input {
        case .command(_, .schedule(.add(let message, to: let space, at: let time))):
            // Of a lost step it may stand in the store all the same.
            let errand = Errand(
                device: step.node.identity.device, space: space,
                payload: message.draft().payload ?? [])
            errands[errand, default: []].append(time)
        case .command(_, .remind(.take(let id))):
            // It waits again where another device had not heard that it rang.
            rung = rung.filter { $0.id != id }
        case .timer(.scheduled):
            for case .changed(let changes) in step.effects where !step.isLost {
                for case .message(_, let number) in changes { try look(at: number, step.node) }
            }
        case .timer(.ringing):
            for case .changed(let changes) in step.effects where !step.isLost {
                for case .reminder(let id) in changes { try look(at: id, step.node) }
            }
        default: break
        }
    }

    /// A message that a device said by itself.
    private func look(at number: OperationNumber, _ node: SimulatedNode) throws {
        guard let stored = try node.store.operation(number), stored.operation.header.kind == .text,
            let log = try node.store.log(stored.log), log.device == node.identity.device,
            let space = try node.store.spaces().first(where: { $0.number == log.space })
        else { return }
        checkCount += 1
        let errand = Errand(
            device: log.device, space: space.id, payload: stored.operation.payload ?? [])
        guard let times = errands[errand] else {
            throw violation("\(node.name) says later what another device was to say")
        }
        guard times.contains(where: { $0 <= stored.operation.header.wallClock }) else {
            throw violation("\(node.name) says something before its time")
        }
        said[errand, default: []].append(stored.id)
        let held = try said[errand, default: []].filter { id in
            try node.store.operations(in: log.number, 0...UInt64.max, limit: .max)
                .contains { $0.id == id }
        }
        guard held.count <= times.count else {
            throw violation("\(node.name) says twice what it was to say later")
        }
    }

    private func look(at id: Reminder.ID, _ node: SimulatedNode) throws {
        guard let own = node.core.ownSpace,
            let reminder = try Overview.reminders(ownSpace: own.number, in: node.store)
                .first(where: { $0.id == id })
        else { return }
        checkCount += 1
        guard reminder.device == node.identity.device else {
            throw violation("\(node.name) rings for what is to ring at another device")
        }
        guard rung.insert(Named(device: reminder.device, id: id)).inserted else {
            throw violation("\(node.name) rings twice for one reminder")
        }
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws { forget(node) }

    func wasSetBack(_ node: SimulatedNode) { forget(node) }

    /// What a node did may be undone.
    private func forget(_ node: SimulatedNode) {
        let device = node.identity.device
        rung = rung.filter { $0.device != device }
        dueSince = dueSince.filter { $0.key.device != device }
    }

    func looked(at world: World) throws {
        for node in world.honestNodes {
            let device = node.identity.device
            guard !node.isDown, !node.core.isBehind, node.core.rejoin == nil,
                !node.core.node.isRevoked, let own = node.core.ownSpace
            else {
                dueSince = dueSince.filter { $0.key.device != device }
                continue
            }
            let due = try Overview.scheduled(ownSpace: own.number, in: node.store).filter {
                $0.state == .waiting && $0.device == device && $0.time <= world.wall(of: node)
            }
            let names = Set(due.map { Named(device: device, id: $0.id) })
            dueSince = dueSince.filter { $0.key.device != device || names.contains($0.key) }
            for name in names {
                let since = dueSince[name] ?? world.now
                dueSince[name] = since
                checkCount += 1
                guard world.now <= since + Self.patience else {
                    throw violation("\(node.name) does not say what it was to say at a time")
                }
            }
        }
    }
}
