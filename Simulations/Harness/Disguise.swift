import ParleyLedger
import ParleySealing
import ParleyWire

/// What a changed program does to every frame that leaves it, until the end of the run.
///
/// The core behind it is the production one and knows nothing of it: a liar that is found out is
/// answered by the same code as everybody.
struct Disguise: Sendable {
    /// A branch of its own log that some must never see.
    struct Hidden: Sendable {
        var tag: LogTag
        /// The first place of the branch.
        var place: UInt64
        var victims: [DeviceID]
    }

    /// Operations of others leave erased.
    var stripsBodies = false
    /// Runs of others that begin at an odd place never leave.
    var withholds = false
    /// Chunks of files leave as other ones.
    var spoilsFiles = false
    /// Branches that it shows to some and not to others.
    var hidden: [Hidden] = []
    /// How often it made branches whose hashes begin alike.
    var groundCount = 0
    /// The group in which somebody waits to be asked, and how often it was flooded.
    var unasked: (group: SpaceID, floodCount: Int)?

    /// The frame as it leaves, or nil where nothing of it is left.
    func dressed(
        _ bytes: [UInt8], from liar: DeviceID, to victim: DeviceID
    ) -> [UInt8]? {
        if spoilsFiles, bytes.first == Frame.Kind.blobChunk.rawValue, let last = bytes.last {
            return bytes.dropLast() + [last ^ 1]
        }
        guard stripsBodies || withholds || !hidden.isEmpty,
            // The production core made it a moment ago: it decodes, or is no business of ours.
            let frame = try? Frame.decode(bytes)
        else { return bytes }
        switch frame {
        case .operations(var operations):
            let runs = operations.runs.count
            operations.runs = operations.runs.compactMap {
                dressed($0, of: operations.space, from: liar, to: victim)
            }
            if operations.runs.isEmpty, runs > 0, !operations.endsAnswer { return nil }
            return Frame.operations(operations).encoded()
        case .frontier(var frontier):
            frontier.entries.removeAll { isHidden($0.tag, through: $0.sequence, from: victim) }
            return Frame.frontier(frontier).encoded()
        default:
            return bytes
        }
    }

    private func dressed(
        _ run: Run, of space: SpaceID, from liar: DeviceID, to victim: DeviceID
    ) -> Run? {
        let tag = LogTag(OperationHash.log(space: space, device: run.device, lane: run.lane))
        if isHidden(tag, through: run.last, from: victim) { return nil }
        if run.device == liar { return run }
        if withholds, run.first % 2 == 1 { return nil }
        guard stripsBodies else { return run }
        var run = run
        run.operations = run.operations.map { operation in
            // Without a salt it was never to be erased, and everybody would refuse it.
            guard case .present(let salt, _) = operation.body, !salt.isEmpty,
                let commitment = OperationHash.commitment(of: operation)
            else { return operation }
            return operation.erased(commitment: commitment)
        }
        return run
    }

    private func isHidden(_ tag: LogTag, through place: UInt64, from victim: DeviceID) -> Bool {
        hidden.contains { $0.tag == tag && place >= $0.place && $0.victims.contains(victim) }
    }
}
