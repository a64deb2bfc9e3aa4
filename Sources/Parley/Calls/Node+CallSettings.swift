import Glibc
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyStorage

/// The part of ``CallService`` that is about settings.
extension Node {
    /// The program for sound and pictures on this device, and the servers that help.
    public func callSettings() async throws -> CallSettingsView {
        try await read { try CallSettings.read(in: $0.store).view }
    }

    /// Uses a program for sound and pictures from the next call on, or none.
    public func setMediaProgram(_ words: [String]) async throws -> CallSettingsView {
        if let path = words.first {
            guard words.count <= CallSettings.programWordCountMax,
                words.allSatisfy({ $0.utf8.count <= 4096 && !$0.utf8.contains(0) })
            else { throw NodeError("bad-program", "That is too long for a program.") }
            guard path.hasPrefix("/"), access(path, X_OK) == 0, !Self.isFolder(path) else {
                throw NodeError(
                    "bad-program", "There is no program that can be run at \(path).",
                    hint: "Name a file that may be executed.")
            }
        }
        return try await changeCalls { $0.program = words }
    }

    /// Uses a server for connections where no direct way exists.
    public func addTurnServer(
        _ address: String, name: String?, password: String?, secret: String?
    ) async throws -> CallSettingsView {
        let server = CallSettings.Server(
            address: address, name: name, password: password, secret: secret)
        for word in [name, password, secret].compactMap({ $0 }) {
            guard !word.isEmpty, word.utf8.count <= CallSettings.wordByteCountMax else {
                throw NodeError(
                    "bad-server",
                    "A name, a password or a secret has from 1 to "
                        + "\(CallSettings.wordByteCountMax) bytes.")
            }
        }
        guard TurnServer(address: address, access: .open) != nil else {
            throw NodeError(
                "bad-server", "“\(address)” is no address of a server.",
                hint: "Write turn:HOST:PORT, turns:HOST:PORT or stun:HOST:PORT.")
        }
        guard server.server != nil else {
            throw NodeError(
                "bad-server", "A server takes a name with a password, or a secret, or nothing.")
        }
        return try await changeCalls { settings in
            if let place = settings.servers.firstIndex(where: { $0.address == address }) {
                settings.servers[place] = server
                return
            }
            guard settings.servers.count < CallSettings.serverCountMax else {
                throw NodeError(
                    "too-many-servers",
                    "At most \(CallSettings.serverCountMax) servers are asked.",
                    hint: "`parley calls turn remove` ends the use of one.")
            }
            settings.servers.append(server)
        }
    }

    /// Uses a server no more.
    public func removeTurnServer(_ address: String) async throws -> CallSettingsView {
        try await changeCalls { settings in
            guard let place = settings.servers.firstIndex(where: { $0.address == address }) else {
                throw NodeError(
                    "unknown-server", "No server in use has the address “\(address)”.",
                    hint: "`parley calls turn list` shows them.")
            }
            settings.servers.remove(at: place)
        }
    }

    private func changeCalls(
        _ change: @Sendable (inout CallSettings) throws -> Void
    ) async throws -> CallSettingsView {
        do {
            return try await running.write { store in
                var settings = try CallSettings.read(in: store)
                try change(&settings)
                try settings.keep(in: store)
                return settings.view
            }
        } catch let error as StoreError {
            throw NodeError(error)
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }
}
