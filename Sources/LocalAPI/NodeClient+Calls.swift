public import Parley

/// The part of `NodeService` that is about calls.
extension NodeClient {
    /// See `CallService.callSettings()`.
    public func callSettings() async throws -> CallSettingsView { try await call("callSettings") }

    /// See `CallService.setMediaProgram(_:)`.
    public func setMediaProgram(_ words: [String]) async throws -> CallSettingsView {
        try await call("setMediaProgram", ["words": words])
    }

    /// See `CallService.addTurnServer(_:name:password:secret:)`.
    public func addTurnServer(
        _ address: String, name: String?, password: String?, secret: String?
    ) async throws -> CallSettingsView {
        try await call(
            "addTurnServer",
            ["address": address, "name": name, "password": password, "secret": secret])
    }

    /// See `CallService.removeTurnServer(_:)`.
    public func removeTurnServer(_ address: String) async throws -> CallSettingsView {
        try await call("removeTurnServer", ["address": address])
    }
}
