import Foundation
import Glibc
import ParleyWire
import Synchronization

/// Runs an actor on one thread of its own at the lowest priority: whatever else the machine has to
/// do goes first.
///
/// A process must not end with such a thread in it. The last thread to end frees all memory of the
/// process, and on a busy machine this one would take seconds for it.
final class ThreadExecutor: SerialExecutor {
    private struct State {
        var jobs: Queue<UnownedJob> = []
        var isRunning = false
        /// Whether the thread waits a while for more to do.
        var isPatient = true
    }
    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)
    private let name: String

    init(label: String) { name = label }

    /// Whether there is a thread now.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    /// From now on the thread ends as soon as it has nothing to do.
    func end() {
        state.withLock { $0.isPatient = false }
        signal.signal()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { start() }
        signal.signal()
    }

    /// The thread begins with the first job and ends after an idle while: a node that searches
    /// nothing has none.
    private func start() {
        let thread = Thread { [self] in run() }
        thread.name = name
        thread.stackSize = 8 << 20
        thread.start()
    }

    private func run() {
        // On Linux 0 is this thread alone.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
        while true {
            if let job = state.withLock({ $0.jobs.popFirst() }) {
                job.runSynchronously(on: asUnownedSerialExecutor())
                continue
            }
            let isPatient = state.withLock { $0.isPatient }
            if isPatient, signal.wait(timeout: .now() + .seconds(10)) == .success { continue }
            let isDone = state.withLock { state in
                guard state.jobs.isEmpty else { return false }
                state.isRunning = false
                return true
            }
            if isDone { return }
        }
    }
}
