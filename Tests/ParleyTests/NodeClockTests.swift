import Dispatch
import ParleyNodeCore
import Synchronization
import Testing

@testable import Parley

@Suite("What a node has done later")
struct NodeClockTests {
    /// A machine whose clock goes on while it sleeps, and whose alarms do not.
    private final class Machine: Sendable {
        private struct State {
            var now: UInt64 = 5_000
            var alarms: [(delay: UInt64, body: @Sendable () -> Void)] = []
        }
        private let state = Mutex(State())

        var clock: NodeClock {
            NodeClock(now: {
                Instant(monotonic: self.state.withLock { $0.now }, wall: 0)
            }) { _, delay, body in
                self.state.withLock { $0.alarms.append((delay, body)) }
            }
        }
        var delays: [UInt64] { state.withLock { $0.alarms.map(\.delay) } }

        func pass(_ milliseconds: UInt64) { state.withLock { $0.now += milliseconds } }

        /// Lets all alarms go off that were set.
        func ring() {
            let alarms = state.withLock { state in
                defer { state.alarms = [] }
                return state.alarms
            }
            for alarm in alarms { alarm.body() }
        }
    }

    @Test("is done within a minute after a sleep in which its time has come")
    func slept() {
        let machine = Machine()
        let count = Mutex(0)
        machine.clock.call(on: .main, after: 6 * 3_600_000) { count.withLock { $0 += 1 } }
        #expect(machine.delays == [60_000])
        // Awake for a minute: it is not time yet.
        machine.pass(60_000)
        machine.ring()
        #expect(count.withLock { $0 } == 0 && machine.delays == [60_000])
        // The lid was closed for a night; the alarm is of a minute in which the machine is awake.
        machine.pass(8 * 3_600_000)
        machine.ring()
        #expect(count.withLock { $0 } == 1 && machine.delays.isEmpty)
    }

    @Test("is done to the millisecond where the machine is awake", arguments: [0, 1, 999, 60_001])
    func awake(after time: UInt64) {
        let machine = Machine()
        let count = Mutex(0)
        machine.clock.call(on: .main, after: time) { count.withLock { $0 += 1 } }
        var waited: UInt64 = 0
        while let delay = machine.delays.first {
            machine.pass(delay)
            waited += delay
            machine.ring()
        }
        #expect(count.withLock { $0 } == 1 && waited == time)
    }

    @Test("is never done where its time never comes")
    func never() {
        let machine = Machine()
        machine.clock.call(on: .main, after: .max) { Issue.record("it was done") }
        machine.pass(1 << 60)
        machine.ring()
        #expect(machine.delays == [60_000])
    }

    @Test("of a node that runs is done after a sleep as well")
    func running() async throws {
        let (folder, machine) = (try TemporaryFolder(), Machine())
        var settings = NodeSettings(home: folder.home("a"), models: folder.home("none"))
        settings.clock = machine.clock
        let (node, _) = try await Node.create(settings, name: "ann")
        #expect(!machine.delays.isEmpty && machine.delays.allSatisfy { $0 <= NodeClock.wakeMax })
        await node.shutdown()
    }
}
