import NIOCore
import Synchronization

/// The open connections of a transport, so that its end can be the end of all of them.
final class Registry: Sendable {
    private struct State {
        var isOpen = true
        var open: [ObjectIdentifier: (connection: Connection, channel: any Channel)] = [:]
    }

    private let state = Mutex(State())

    var isOpen: Bool { state.withLock { $0.isOpen } }

    var count: Int { state.withLock { $0.open.count } }

    /// False when the transport is shutting down: the connection must not begin.
    func add(_ connection: Connection, _ channel: any Channel) -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            state.open[ObjectIdentifier(connection)] = (connection, channel)
            return true
        }
    }

    func remove(_ connection: Connection) {
        state.withLock { _ = $0.open.removeValue(forKey: ObjectIdentifier(connection)) }
    }

    /// Lets nobody in from now on. `nil` when that was so already.
    func close() -> [(connection: Connection, channel: any Channel)]? {
        state.withLock { state in
            guard state.isOpen else { return nil }
            state.isOpen = false
            return Array(state.open.values)
        }
    }
}
