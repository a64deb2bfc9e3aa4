import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyStorage

/// What this device needs for calls: its program for sound and pictures. It is kept in the node's own
/// sealed table, and concerns this device alone.
struct CallSettings: Codable, Equatable, Sendable {
    /// Words that the program is started with.
    static let programWordCountMax = 32

    /// The program's absolute path and what it is started with; empty where there is none.
    var program: [String] = []

    static let key = Array("calls".utf8)

    /// What is kept; nothing where nothing was said.
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
    /// - Parameter label: what stands in names that are made: drawn anew for each call, it tells
    ///   the server nothing of who calls.
    func told(at wall: UInt64, label: String) -> MediaLine.Server {
        let credentials = credentials(at: wall, label: label)
        return MediaLine.Server(
            urls: [address], username: credentials?.name, credential: credentials?.password)
    }

    /// What is shown: no password and no secret.
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
