import Synchronization

@testable import Parley

extension FakeNode {
    func callSettings() async throws -> CallSettingsView {
        CallSettingsView(
            program: ["/usr/bin/media", "-q"],
            servers: [.init(address: "turn:turn.example:3478", access: "name", name: "ada")])
    }

    func setMediaProgram(_ words: [String]) async throws -> CallSettingsView {
        state.withLock { $0.calls.append("setMediaProgram \(words)") }
        var settings = try await callSettings()
        settings.program = words
        return settings
    }

    func addTurnServer(
        _ address: String, name: String?, password: String?, secret: String?
    ) async throws -> CallSettingsView {
        let words = [address, name, password, secret].map { $0 ?? "-" }.joined(separator: " ")
        state.withLock { $0.calls.append("addTurnServer \(words)") }
        return try await callSettings()
    }

    func removeTurnServer(_ address: String) async throws -> CallSettingsView {
        state.withLock { $0.calls.append("removeTurnServer \(address)") }
        var settings = try await callSettings()
        settings.servers = []
        return settings
    }
}
