import Glibc
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyStorage

/// The part of ``CallService`` that is about settings.
extension Node {
    /// The program for sound and pictures on this device, and the servers that help.
    public func callSettings() async throws -> CallSettingsView {
        try await read { try $0.callSettings() }
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
        do {
            try await running.write { try CallSettings(program: words).keep(in: $0) }
        } catch let error as StoreError {
            throw NodeError(error)
        }
        return try await callSettings()
    }

    /// Uses a server for connections where no direct way exists.
    public func addTurnServer(
        _ address: String, name: String?, password: String?, secret: String?
    ) async throws -> CallSettingsView {
        for word in [name, password, secret].compactMap({ $0 }) {
            guard TurnServer.isWord(word) else {
                throw NodeError(
                    "bad-server",
                    "A name, a password or a secret has from 1 to "
                        + "\(TurnServer.wordByteCountMax) bytes.")
            }
        }
        let access: TurnServer.Access
        switch (name, password, secret) {
        case (nil, nil, nil): access = .open
        case (let name?, let password?, nil): access = .fixed(name: name, password: password)
        case (nil, nil, let secret?): access = .secret(secret)
        default:
            throw NodeError(
                "bad-server", "A server takes a name with a password, or a secret, or nothing.")
        }
        guard let server = TurnServer(address: address, access: access) else {
            throw NodeError(
                "bad-server", "“\(address)” is no address of a server.",
                hint: "Write turn:HOST:PORT, turns:HOST:PORT or stun:HOST:PORT.")
        }
        _ = try await running.perform(.setCallServer(server))
        return try await callSettings()
    }

    /// Uses a server no more.
    public func removeTurnServer(_ address: String) async throws -> CallSettingsView {
        guard try await read({ try $0.callServers().contains { $0.address == address } }) else {
            throw NodeError(
                "unknown-server", "No server in use has the address “\(address)”.",
                hint: "`parley calls turn list` shows them.")
        }
        _ = try await running.perform(.removeCallServer(address))
        return try await callSettings()
    }

    private static func isFolder(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }
}
