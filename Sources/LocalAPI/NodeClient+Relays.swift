public import Parley

/// The part of `NodeService` that is about relays.
extension NodeClient {
    /// See `RelayService.relays()`.
    public func relays() async throws -> [RelayView] { try await call("relays") }

    /// See `RelayService.addRelay(_:tickets:)`.
    public func addRelay(_ text: String, tickets: [String]) async throws -> RelayView {
        try await call("addRelay", ["text": text, "tickets": tickets])
    }

    /// See `RelayService.removeRelay(_:)`.
    public func removeRelay(_ name: String) async throws {
        let _: Nothing = try await call("removeRelay", ["name": name])
    }

    /// See `RelayService.moveRelay(_:to:)`.
    public func moveRelay(_ name: String, to text: String) async throws -> RelayView {
        try await call("moveRelay", ["name": name, "text": text])
    }

    /// See `RelayService.outbox()`.
    public func outbox() async throws -> [OutboxView] { try await call("outbox") }

    /// See `RelayService.setOffline(_:)`.
    public func setOffline(_ isOffline: Bool) async throws {
        let _: Nothing = try await call("setOffline", ["on": isOffline])
    }
}
