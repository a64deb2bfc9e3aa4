import Foundation
import ParleyNodeCore
import ParleySignalling
import ParleyStorage

/// What this device needs for calls: its program for sound and pictures, and servers that help.
/// It is kept in the node's own sealed table, and concerns this device alone.
struct CallSettings: Codable, Equatable, Sendable {
    /// A server, with what it knows this node by.
    struct Server: Codable, Equatable, Sendable {
        var address: String
        var name: String?
        var password: String?
        var secret: String?

        /// The server as the room of calls has it; nil for what cannot be one.
        var server: TurnServer? {
            switch (name, password, secret) {
            case (nil, nil, nil): TurnServer(address: address, access: .open)
            case (let name?, let password?, nil):
                TurnServer(address: address, access: .fixed(name: name, password: password))
            case (nil, nil, let secret?): TurnServer(address: address, access: .secret(secret))
            default: nil
            }
        }
    }

    /// Servers that are asked: each makes every call slower to begin.
    static let serverCountMax = 8
    /// Bytes of a name, a password or a secret.
    static let wordByteCountMax = 512
    /// Words that the program is started with.
    static let programWordCountMax = 32

    /// The program's absolute path and what it is started with; empty where there is none.
    var program: [String] = []
    /// Servers, in the order in which they were added.
    var servers: [Server] = []

    private static let key = Array("calls".utf8)

    /// What is kept; nothing where nothing was said.
    static func read(in store: SQLiteStore) throws -> CallSettings {
        guard let bytes = try store.value(.profile, key) else { return CallSettings() }
        return try JSONDecoder().decode(CallSettings.self, from: Data(bytes))
    }

    /// Keeps it.
    func keep(in store: SQLiteStore) throws {
        let bytes = Array(try JSONEncoder().encode(self))
        try store.transact(.full) { try store.setValue(bytes, .profile, Self.key) }
    }

    /// The servers with passwords that hold from now on.
    ///
    /// - Parameter label: what stands in names that are made: drawn anew for each call, it tells
    ///   the server nothing of who calls.
    func servers(at wall: UInt64, label: String) -> [MediaLine.Server] {
        servers.compactMap(\.server).map { server in
            let credentials = server.credentials(at: wall, label: label)
            return MediaLine.Server(
                urls: [server.address], username: credentials?.name,
                credential: credentials?.password)
        }
    }

    /// What is shown: no password and no secret.
    var view: CallSettingsView {
        CallSettingsView(
            program: program,
            servers: servers.map { server in
                CallSettingsView.Server(
                    address: server.address,
                    access: server.secret != nil ? "secret" : server.name != nil ? "name" : "open",
                    name: server.name)
            })
    }
}
