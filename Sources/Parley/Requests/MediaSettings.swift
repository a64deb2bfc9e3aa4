import Glibc
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyStorage

/// The program for sound and pictures on this device, and the servers that help.
public struct GetCallSettings: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "callSettings", RequestScope.read,
        "The program for sound and pictures on this device, and the servers that help."
    )
    /// An example of the request.
    public static let example = GetCallSettings()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> CallSettingsView {
        try await node.read { try $0.callSettings() }
    }
}

/// Uses a program for sound and pictures from the next call on, or none.
public struct SetMediaProgram: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setMediaProgram", RequestScope.admin,
        "Uses a program for sound and pictures from the next call on, or none."
    )
    /// An example of the request.
    public static let example = SetMediaProgram(words: ["/usr/bin/media", "-q"])

    /// Its absolute path and its arguments; empty for none.
    public var words: [String]

    /// A request with these parameters.
    public init(words: [String]) {
        self.words = words
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> CallSettingsView {
        if let path = words.first {
            guard words.count <= CallSettings.programWordCountMax,
                words.allSatisfy({ $0.utf8.count <= 4096 && !$0.utf8.contains(0) })
            else {
                throw NodeError(
                    "bad-program",
                    "That is too long for the name and arguments of a program.")
            }
            guard path.hasPrefix("/"), access(path, X_OK) == 0, !Self.isFolder(path) else {
                throw NodeError(
                    "bad-program", "There is no program that can be run at \(path).",
                    hint: "Give the path of an executable file.")
            }
        }
        do {
            try await node.running.write { try CallSettings(program: words).keep(in: $0) }
        } catch let error as StoreError {
            throw NodeError(error)
        }
        return try await node.perform(GetCallSettings())
    }

    private static func isFolder(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }
}

/// Uses a server for connections where no direct way exists, in place of one with the same address.
/// It takes nothing, a name and a password that stay, or a secret shared with it from which those
/// are made.
public struct AddTurnServer: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "addTurnServer", RequestScope.admin,
        "Adds a server for connections that cannot be direct, in place of one with the same "
            + "address."
    )
    /// An example of the request.
    public static let example = AddTurnServer(
        address: "turn:turn.example:3478", name: "ada", password: "secret")

    /// `stun:`, `turn:` or `turns:`, host, port.
    public var address: String
    /// A name that stays.
    public var name: String?
    /// The password to it.
    public var password: String?
    /// A secret shared with the server.
    public var secret: String?

    /// A request with these parameters.
    public init(
        address: String, name: String? = nil, password: String? = nil, secret: String? = nil
    ) {
        self.address = address
        self.name = name
        self.password = password
        self.secret = secret
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> CallSettingsView {
        for word in [name, password, secret].compactMap({ $0 }) {
            guard TurnServer.isWord(word) else {
                throw NodeError(
                    "bad-server",
                    "A name, a password or a secret must have from 1 to "
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
                "bad-server", "A server needs a name with a password, or a secret, or nothing.")
        }
        guard let server = TurnServer(address: address, access: access) else {
            throw NodeError(
                "bad-server", "“\(address)” is not the address of a server.",
                hint: "Write turn:HOST:PORT, turns:HOST:PORT or stun:HOST:PORT.")
        }
        _ = try await node.running.perform(.setCallServer(server))
        return try await node.perform(GetCallSettings())
    }
}

/// Uses a server no more, by its address.
public struct RemoveTurnServer: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "removeTurnServer", RequestScope.admin,
        "Stops using a server, named by its address."
    )
    /// An example of the request.
    public static let example = RemoveTurnServer(address: "turn:turn.example:3478")

    /// As WebRTC writes it.
    public var address: String

    /// A request with these parameters.
    public init(address: String) {
        self.address = address
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> CallSettingsView {
        let servers = try await node.read { try $0.callServers() }
        guard servers.contains(where: { $0.address == address }) else {
            throw NodeError(
                "unknown-server", "No server in use has the address “\(address)”.",
                hint: "`parley calls turn list` shows them.")
        }
        _ = try await node.running.perform(.removeCallServer(address))
        return try await node.perform(GetCallSettings())
    }
}
