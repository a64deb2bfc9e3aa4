import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// A space read from `OPS` frames as a node reads it, but for links and time: runs are proven, lane
/// 0 is judged, every log's views are walked, and all of it is folded once.
struct SpaceReader {
    let store = MemoryStore()
    let space: SpaceRecord
    private(set) var judge: Judge
    /// What is held, by identifier, with the logs that hold it.
    private var held: [String: (operation: VerifiedOperation, log: LogNumber)] = [:]

    init(_ frames: [Hex], named id: SpaceID, kind: SpaceKind) throws {
        try store.begin(.normal)
        space = try store.addSpace(id, kind: kind)
        var graph = ControlGraph(space: id)
        var waiting: [(operation: VerifiedOperation, device: DeviceID)] = []
        for frame in frames {
            for run in try frame.runs() {
                let kept = try Self.keep(run, in: space, store)
                if run.lane == .control { waiting += kept.operations.map { ($0, run.device) } }
                for operation in kept.operations {
                    held[operation.id.description] = (operation, kept.log)
                }
            }
        }
        var count = waiting.count + 1
        while waiting.count < count {
            count = waiting.count
            waiting.removeAll { graph.add($0.operation, by: $0.device) }
        }
        judge = Judge(graph)
        for var log in try store.logs(in: space.number) where log.lane != .control {
            log.limit = judge.roster.limit(of: log)
            try store.update(log)
            if log.lane.carriesAuthority { try ViewWalk.again(through: log, judge, store) }
        }
        _ = try StandSettling.again(space.number, by: judge.placing, in: store)
        let context = MergeContext(
            space: space, roster: judge.roster, ownPerson: PersonID(reinterpreting: id),
            newestStand: 0)
        try Merge.rebuild(context, judging: &judge, in: store)
        try store.commit()
    }

    private static func keep(
        _ run: Run, in space: SpaceRecord, _ store: MemoryStore
    ) throws -> (operations: [VerifiedOperation], log: LogNumber) {
        let id = OperationHash.log(space: space.id, device: run.device, lane: run.lane)
        var log =
            try store.log(LogTag(id), in: space.number)
            ?? store.addLog(id, device: run.device, lane: run.lane, in: space.number)
        var kept: [VerifiedOperation] = []
        for piece in try NodeCore.verify(run, in: space.id, against: log, limit: nil) {
            _ = try store.insert(piece.operations, in: log.number)
            log.hold(piece)
            kept += piece.operations
        }
        try store.update(log)
        return (kept, log.number)
    }

    /// The view that an operation was written under, and whether a message there counts.
    mutating func judgement(on id: String) throws -> (view: LogView?, roster: Roster?, counts: Bool)
    {
        let (operation, number) = try #require(held[id])
        let log = try #require(try store.log(number))
        let view = try store.view(at: operation.sequence, in: number)
        let roster = judge.view(view)
        guard case .effective(let author) = judge.standing(of: operation, in: log, under: view)
        else { return (view, roster, false) }
        return (view, roster, author.role >= .member)
    }

    func digest() throws -> Digest {
        try ViewDigest.digest(of: space, roster: judge.roster, in: store)
    }

    func messages() throws -> [Message] {
        try Timeline(of: space, roster: judge.roster, ownPerson: PersonID(reinterpreting: space.id))
            .page(limit: 1000, in: store)
    }
}
