import ParleyLedger
import ParleyWire

/// Proven operations whose causes have not come yet.
///
/// It is bounded and holds nothing valuable: the frontier has not moved, so dropped runs are sent
/// again. No log takes more than a share, so that invented causes that never arrive crowd out
/// nobody else. When it is full the oldest go.
struct WaitingRoom: Sendable {
    /// Runs that wait, over all spaces.
    static let runCountMax = 1024
    /// Bytes of operations that wait.
    static let byteCountMax = 8 << 20
    /// Runs of one log that wait: later ones follow them, and could not be applied before.
    static let logRunCountMax = 64
    /// Bytes of one log that wait.
    static let logByteCountMax = 1 << 20

    private struct Share: Sendable {
        var runCount = 0
        var byteCount = 0
    }

    /// How long a run waits for its causes, in milliseconds. They come on the same link as the run,
    /// so causes that take longer were invented, or are held by nobody who can be reached.
    static let patience: UInt64 = 20_000

    /// Operations that wait, and since when.
    struct Waiter: Sendable {
        var run: VerifiedRun
        /// On the monotonic clock, in milliseconds.
        var since: UInt64
        /// Whether it waits for lane 0, which it does as long as it takes: the authority of an
        /// operation is computed from lane 0.
        var waitsForControl = false

        /// Whether its wait ends one day.
        var isPatient: Bool { run.lane != .control && !waitsForControl }

        /// Whether something that it may wait for is in one of these logs: a cause, or what comes before it.
        func isAwaiting(_ logs: Set<LogTag>) -> Bool {
            if logs.contains(LogTag(run.log)) { return true }
            guard let header = run.operations.first?.operation.header else { return false }
            return header.dependencies.contains { logs.contains($0.tag) }
                || header.references.contains { logs.contains($0.tag) }
        }

        /// Whether it waits no longer.
        func isOverdue(at now: UInt64) -> Bool {
            isPatient && now >= since + WaitingRoom.patience
        }
    }

    private var runs: Queue<(space: SpaceNumber, waiter: Waiter, byteCount: Int)> = []
    private var byteCount = 0
    private var shares: [LogID: Share] = [:]
    /// How many runs were dropped for room.
    private(set) var droppedCount = 0

    var isEmpty: Bool { runs.isEmpty }
    var count: Int { runs.count }

    func holds(_ space: SpaceNumber) -> Bool { runs.contains { $0.space == space } }

    /// Whether something waits for lane 0 of a space.
    func lacksControl(of space: SpaceNumber) -> Bool {
        runs.contains { $0.space == space && !$0.waiter.isPatient }
    }

    /// When the first of those that wait is overdue, or nil.
    var nextDue: UInt64? {
        runs.filter(\.waiter.isPatient).map { $0.waiter.since + Self.patience }
            .min()
    }

    /// Spaces in which somebody is overdue, ascending.
    func overdueSpaces(at now: UInt64) -> [SpaceNumber] {
        Set(runs.filter { $0.waiter.isOverdue(at: now) }.map(\.space)).sorted()
    }

    mutating func add(_ run: VerifiedRun, in space: SpaceNumber, since: UInt64) {
        add(Waiter(run: run, since: since), in: space)
    }

    mutating func add(_ waiter: Waiter, in space: SpaceNumber) {
        let run = waiter.run
        let size = run.operations.reduce(0) { $0 + $1.operation.byteCount }
        let share = shares[run.log] ?? Share()
        guard !holds(run) else { return }
        // A run as large as a frame may be is let in, if it is the only one of its log.
        guard share.runCount < Self.logRunCountMax,
            share.runCount == 0 || share.byteCount + size <= Self.logByteCountMax
        else {
            droppedCount += 1
            return
        }
        runs.append((space, waiter, size))
        count(run.log, 1, size)
        while runs.count > Self.runCountMax || byteCount > Self.byteCountMax,
            let oldest = runs.popFirst()
        {
            count(oldest.waiter.run.log, -1, -oldest.byteCount)
            droppedCount += 1
        }
    }

    /// Whether the very same run is waiting: every peer that is asked delivers it.
    private func holds(_ run: VerifiedRun) -> Bool {
        guard shares[run.log] != nil else { return false }
        return runs.contains {
            $0.waiter.run.log == run.log && $0.waiter.run.first == run.first
                && $0.waiter.run.operations.last?.id == run.operations.last?.id
        }
    }

    private mutating func count(_ log: LogID, _ runCount: Int, _ size: Int) {
        byteCount += size
        var share = shares[log] ?? Share()
        share.runCount += runCount
        share.byteCount += size
        shares[log] = share.runCount == 0 ? nil : share
    }

    /// Takes out all that wait in a space, or those that these logs may release, oldest first.
    mutating func take(_ space: SpaceNumber, awaiting logs: Set<LogTag>? = nil) -> [Waiter] {
        func isTaken(_ entry: (space: SpaceNumber, waiter: Waiter, byteCount: Int)) -> Bool {
            entry.space == space && logs.map { entry.waiter.isAwaiting($0) } ?? true
        }
        let taken = runs.filter(isTaken)
        guard !taken.isEmpty else { return [] }
        runs.removeAll(where: isTaken)
        for one in taken { count(one.waiter.run.log, -1, -one.byteCount) }
        return taken.map(\.waiter)
    }
}
