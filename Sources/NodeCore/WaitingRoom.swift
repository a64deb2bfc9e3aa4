import ParleyLedger
import ParleyWire

/// Proven operations whose causes have not come yet.
///
/// It is bounded and holds nothing dear: the frontier has not moved, so whatever is dropped is
/// sent again. When it is full the oldest go.
struct WaitingRoom: Sendable {
    /// Runs that wait, over all spaces.
    static let runCountMax = 1024
    /// Bytes of operations that wait.
    static let byteCountMax = 8 << 20

    private var runs: [(space: SpaceNumber, run: VerifiedRun, byteCount: Int)] = []
    private var byteCount = 0
    /// How many runs were dropped for room.
    private(set) var droppedCount = 0

    var isEmpty: Bool { runs.isEmpty }
    var count: Int { runs.count }

    mutating func add(_ run: VerifiedRun, in space: SpaceNumber) {
        let size = run.operations.reduce(0) { $0 + $1.operation.byteCount }
        runs.append((space, run, size))
        byteCount += size
        while runs.count > Self.runCountMax || byteCount > Self.byteCountMax, !runs.isEmpty {
            byteCount -= runs.removeFirst().byteCount
            droppedCount += 1
        }
    }

    /// Takes out all that wait in a space, oldest first.
    mutating func take(_ space: SpaceNumber) -> [VerifiedRun] {
        guard runs.contains(where: { $0.space == space }) else { return [] }
        let taken = runs.filter { $0.space == space }
        runs.removeAll { $0.space == space }
        byteCount = runs.reduce(0) { $0 + $1.byteCount }
        return taken.map(\.run)
    }
}
