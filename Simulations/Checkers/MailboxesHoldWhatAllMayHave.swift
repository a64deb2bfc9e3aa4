import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I24: no envelope in a shared mailbox holds what one of its readers may not have: nothing of what
/// was written before a member came, where that is withheld from them.
///
/// Who is in is asked of the roster that the sender has, which I9 compares with a model.
/// Source: `Protocol/06-relay.md`, "Outbox".
final class MailboxesHoldWhatAllMayHave: Checker {
    static let invariant = "I24"
    static let needsRelay = true
    private(set) var checkCount = 0
    private let reader: EnvelopeReader

    init(_ reader: EnvelopeReader) { self.reader = reader }

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest else { return }
        for envelope in reader.envelopes(of: step) {
            for case .operations(let operations) in envelope.frames {
                try look(at: operations, by: step.node)
            }
        }
    }

    private func look(at operations: Operations, by node: SimulatedNode) throws {
        guard let space = try node.store.space(operations.space),
            let roster = try node.roster(of: space)
        else { return }
        for run in operations.runs where run.lane != .control {
            checkCount += 1
            let reader = roster.devices.first { device in
                let place = device.horizon.place(of: run.device, run.lane)
                return place.map { run.first <= $0.sequence } ?? false
            }
            guard let reader else { continue }
            throw violation(
                "\(node.name) puts what was written before \(reader.device) came into a mailbox"
                    + " that it reads")
        }
    }

    func looked(at world: World) throws {}
}
