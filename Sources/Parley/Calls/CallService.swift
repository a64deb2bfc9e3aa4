/// What a node can be asked about calls.
public protocol CallService: Sendable {
    /// The program for sound and pictures on this device, and the servers that help.
    func callSettings() async throws -> CallSettingsView
    /// Uses a program for sound and pictures from the next call on, or none where the list is
    /// empty: its absolute path, and what it is started with.
    func setMediaProgram(_ words: [String]) async throws -> CallSettingsView
    /// Uses a server for connections where no direct way exists, in place of one with the same
    /// address: `stun:`, `turn:` or `turns:`, host, port. It takes nothing, a name and a password
    /// that stay, or a secret shared with it from which those are made.
    func addTurnServer(
        _ address: String, name: String?, password: String?, secret: String?
    ) async throws -> CallSettingsView
    /// Uses a server no more, by its address.
    func removeTurnServer(_ address: String) async throws -> CallSettingsView
}

/// What this device needs for calls. Passwords and secrets are never shown.
public struct CallSettingsView: Codable, Equatable, Sendable {
    /// A server.
    public struct Server: Codable, Equatable, Sendable {
        /// As WebRTC writes it.
        public var address: String
        /// `open` (it takes nothing), `name` (a name and a password that stay) or `secret`.
        public var access: String
        /// The name, where there is one that stays.
        public var name: String?
    }
    /// The program's absolute path and what it is started with; empty where there is none.
    public var program: [String]
    /// Servers, in the order in which they were added.
    public var servers: [Server]
}
