import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I24: no envelope in a shared mailbox holds what one of its readers may not have: nothing of what
/// was written before a member came, where that is withheld from them, and nothing but control
/// operations where somebody reads who is out.
///
/// Who is in is asked of the roster that the sender has, which I9 compares with a model.
/// Source: `Protocol/06-relay.md`, "Outbox".
final class MailboxesHoldWhatAllMayHave: Checker {
    static let invariant = "I24"
    static let needsRelay = true
    private(set) var checkCount = 0
    private let reader: EnvelopeReader
    /// The devices that an epoch was made for: it follows from what its author had seen.
    private var readers: [OperationID: Set<DeviceID>] = [:]

    init(_ reader: EnvelopeReader) { self.reader = reader }

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest else { return }
        for envelope in reader.envelopes(of: step) {
            for case .operations(let operations) in envelope.frames {
                try look(at: operations, under: envelope.epoch, by: step.node)
            }
        }
    }

    private func look(
        at operations: Operations, under epoch: OperationID, by node: SimulatedNode
    ) throws {
        guard let space = try node.store.space(operations.space),
            let roster = try node.roster(of: space)
        else { return }
        for run in operations.runs where run.lane != .control {
            checkCount += 1
            let reader = roster.devices.first { device in
                let place = device.horizon.place(of: run.device, run.lane)
                return place.map { run.first <= $0.sequence } ?? false
            }
            if let reader {
                throw violation(
                    "\(node.name) puts what was written before \(reader.device) came into a"
                        + " mailbox that it reads")
            }
            // Who is out themselves seals under the last epoch that they had.
            guard roster.contains(node.identity.device) else { continue }
            let out = try readers(of: epoch, in: space, node).first { !roster.contains($0) }
            if out != nil {
                throw violation(
                    "\(node.name) puts what it writes where somebody reads whom it knows to be out")
            }
        }
    }

    private func readers(
        of epoch: OperationID, in space: SpaceRecord, _ node: SimulatedNode
    ) throws -> Set<DeviceID> {
        if let known = readers[epoch] { return known }
        var judge = try RosterReader.judge(of: space, in: node.store)
        let place = judge.graph.epochs.first { $0.id == epoch }?.place
        guard let place, let roster = judge.view(LogView(first: 0, tips: [place])) else {
            return []
        }
        let devices = Set(roster.devices.map(\.device))
        readers[epoch] = devices
        return devices
    }

    func looked(at world: World) throws {}
}
