import Synchronization

@testable import Parley

extension FakeNode {
    private static let relay = RelayView(
        relay: "dd", addresses: ["relay.example:7448"], state: "connected", until: nil)

    func relays() async throws -> [RelayView] { [Self.relay] }

    func addRelay(_ text: String, tickets: [String]) async throws -> RelayView {
        state.withLock { $0.calls.append((["addRelay", text] + tickets).joined(separator: " ")) }
        return Self.relay
    }

    func removeRelay(_ name: String) async throws {
        state.withLock { $0.calls.append("removeRelay \(name)") }
    }

    func moveRelay(_ name: String, to text: String) async throws -> RelayView {
        state.withLock { $0.calls.append("moveRelay \(name) \(text)") }
        return Self.relay
    }

    func outbox() async throws -> [OutboxView] {
        [
            OutboxView(
                conversation: "ab", name: "home", savedCount: 2, relayedCount: 1, changeCount: 0)
        ]
    }

    func setOffline(_ isOffline: Bool) async throws {
        state.withLock { $0.calls.append("setOffline \(isOffline)") }
    }
}
