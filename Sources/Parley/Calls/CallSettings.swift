import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyStorage

/// This device's settings for calls: its program for sound and pictures. They are stored in the
/// node's own sealed table, and concern this device only.
struct CallSettings: Codable, Equatable, Sendable {
    /// Words that the program is started with.
    static let programWordCountMax = 32

    /// The program's absolute path and its arguments; empty if there is none.
    var program: [String] = []

    static let key = Array("calls".utf8)

    /// The stored settings; nothing if none were set.
    static func read(in store: SQLiteStore) throws -> CallSettings {
        guard let bytes = try store.value(.profile, key) else { return CallSettings() }
        return try JSONDecoder().decode(CallSettings.self, from: Data(bytes))
    }

    /// Keeps it.
    func keep(in store: SQLiteStore) throws {
        try store.transact(.full) { try set(in: store) }
    }

    /// The same, within a transaction.
    func set(in store: SQLiteStore) throws {
        let bytes = Array(try JSONEncoder().encode(self))
        try store.setValue(bytes, .profile, Self.key)
    }
}

extension TurnServer {
    /// The server with a password that holds from now on.
    ///
    /// - Parameter label: the label in generated names: random for each call, it reveals nothing to
    ///   the server about the caller.
    func told(at wall: UInt64, label: String) -> MediaLine.Server {
        let credentials = credentials(at: wall, label: label)
        return MediaLine.Server(
            urls: [address], username: credentials?.name, credential: credentials?.password)
    }

    /// The shown part: no password and no secret.
    var view: CallSettingsView.Server {
        switch access {
        case .open: .init(address: address, access: "open", name: nil)
        case .fixed(let name, _): .init(address: address, access: "name", name: name)
        case .secret: .init(address: address, access: "secret", name: nil)
        }
    }
}

extension Views {
    /// The servers that help calls of this person, on whichever of their devices they were set.
    func callServers() throws -> [TurnServer] {
        guard let own = core.ownSpace else { return [] }
        return try NodeCore.callServers(ownSpace: own.number, in: store)
    }

    func callSettings() throws -> CallSettingsView {
        CallSettingsView(
            program: try CallSettings.read(in: store).program,
            servers: try callServers().map(\.view))
    }
}
