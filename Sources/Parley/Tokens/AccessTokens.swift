import ParleySealing
import ParleyStorage
import ParleyWire
import Synchronization

/// The tokens with which programs may ask this node over HTTP.
///
/// Only the hash of a token is stored, in a file of mode 0600: 256 random bits need no slow one. A
/// reader of the file cannot make a token from it.
/// Source: `Protocol/14-local-api.md`, "Tokens".
public final class AccessTokens: GrantKeeper {
    /// So many there may be.
    public static let countMax = 64
    /// The prefix of every token, so that a leaked one is recognised.
    static let prefix = "parley_"
    static let byteCount = 32
    private static let fileByteCountMax = 256 << 10

    /// A token as the file holds it.
    struct Entry: Codable, Equatable, Sendable {
        var name: String
        var digest: String
        var scope: RequestScope
        var conversation: String?
        var created: UInt64
    }

    private struct File: Codable {
        var version = 1
        var tokens: [Entry]
    }

    private struct State {
        /// Nil before the file was read.
        var entries: [Entry]?
        var watchers = GrantWatchers()
    }

    private let file: HomeFile<File>
    private let state = Mutex(State())

    init(of home: Home) {
        file = HomeFile("tokens", of: home, atMost: Self.fileByteCountMax) { path in
            NodeError(
                "tokens-damaged", "The tokens in \(path) cannot be read.",
                hint: "Remove that file: all tokens end, and new ones can be made.")
        }
    }

    /// What a token allows; nil for an invalid or revoked one.
    public func grant(for token: String) -> TokenGrant? {
        guard let bytes = Self.bytes(of: token) else { return nil }
        let shown: Digest = digest(.accessToken, bytes)
        // A file that cannot be read lets nobody in; `parley token list` tells why.
        let entries = (try? state.withLock { try read(&$0) }) ?? []
        var found: TokenGrant?
        // All of them are looked at: the time tells nothing of where one was found.
        for entry in entries {
            guard let kept = entry.kept else { continue }
            if equalInConstantTime(kept, shown) { found = entry.grant(kept) }
        }
        return found
    }

    /// All of them, by name.
    func list() throws -> [Entry] {
        try state.withLock { try read(&$0) }.sorted { $0.name < $1.name }
    }

    /// Creates one, and returns its secret: the only time that it is available.
    func create(
        _ name: String, _ scope: RequestScope, conversation: String?, at time: UInt64
    ) throws -> (token: String, entry: Entry) {
        try Self.check(name)
        guard scope != .admin || conversation == nil else {
            throw NodeError(
                "bad-scope", "A token for one conversation can only read or write there.",
                hint: "Choose --scope read or --scope write.")
        }
        return try change { entries in
            guard !entries.contains(where: { $0.name == name }) else {
                throw NodeError(
                    "token-exists", "There is already a token “\(name)”.",
                    hint: "`parley token rotate \(name)` gives it a new secret.")
            }
            guard entries.count < Self.countMax else {
                throw NodeError(
                    "too-many-tokens", "There are \(Self.countMax) tokens already.",
                    hint: "`parley token list` shows them, `parley token revoke NAME` ends one.")
            }
            let (token, kept) = Self.make()
            let entry = Entry(
                name: name, digest: kept.description, scope: scope, conversation: conversation,
                created: time)
            entries.append(entry)
            return ((token, entry), [])
        }
    }

    /// Gives one another secret; the old one ends at once.
    func rotate(_ name: String, at time: UInt64) throws -> (token: String, entry: Entry) {
        try change { entries in
            let place = try Self.place(of: name, in: entries)
            let old = entries[place].kept
            let (token, kept) = Self.make()
            entries[place].digest = kept.description
            entries[place].created = time
            return ((token, entries[place]), old.map { [$0] } ?? [])
        }
    }

    /// Revokes one at once, with everything that uses it.
    func revoke(_ name: String) throws {
        try change { entries in
            let entry = entries.remove(at: try Self.place(of: name, in: entries))
            return ((), entry.kept.map { [$0] } ?? [])
        }
    }

    /// Has something done once when a token ends; nil where it has ended already.
    public func whenEnded(_ grant: TokenGrant, _ body: @escaping @Sendable () -> Void) -> Int? {
        state.withLock { state in
            // A file that cannot be read lets nobody in.
            let entries = (try? read(&state)) ?? []
            guard entries.contains(where: { $0.kept == grant.digest }) else { return nil }
            return state.watchers.add(grant.digest, body)
        }
    }

    /// Whether a token is good still.
    public func isAlive(_ grant: TokenGrant) -> Bool {
        // A file that cannot be read lets nobody in.
        let entries = (try? state.withLock { try read(&$0) }) ?? []
        return entries.contains { $0.kept == grant.digest }
    }

    /// Forgets what ``whenEnded(_:_:)`` registered.
    public func forget(_ watcher: Int) {
        state.withLock { $0.watchers.remove(watcher) }
    }

    // MARK: The file

    /// Changes the file, then what is known here, then ends everything that uses revoked tokens.
    private func change<R>(
        _ body: (inout [Entry]) throws -> (result: R, ended: [Digest])
    ) throws -> R {
        let (result, bodies) = try state.withLock { state in
            var entries = try read(&state)
            let (result, ended) = try body(&entries)
            try file.write(File(tokens: entries))
            state.entries = entries
            return (result, state.watchers.take(ended))
        }
        for body in bodies { body() }
        return result
    }

    private func read(_ state: inout State) throws -> [Entry] {
        if let entries = state.entries { return entries }
        let entries = try file.read { file in
            file.version == 1 && file.tokens.count <= Self.countMax
                && file.tokens.allSatisfy { $0.kept != nil }
        }?.tokens
        state.entries = entries ?? []
        return entries ?? []
    }

    private static func place(of name: String, in entries: [Entry]) throws -> Int {
        guard let place = entries.firstIndex(where: { $0.name == name }) else {
            throw NodeError(
                "unknown-token", "There is no token “\(name)”.",
                hint: "`parley token list` shows them.")
        }
        return place
    }

    /// Whether this can be the name of a program: easy to write in any command and any file.
    static func isName(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || [0x2D, 0x2E, 0x5F].contains($0)
        }
        return isPlain && (1...64).contains(name.utf8.count) && name.first != "-"
    }

    private static func check(_ name: String) throws {
        guard isName(name) else {
            throw NodeError(
                "bad-token-name",
                "The name of a token must have 1 to 64 letters a–z, digits, dots, hyphens or "
                    + "underscores.")
        }
    }

    private static func make() -> (token: String, kept: Digest) {
        var random = SystemRandom()
        let bytes = random.bytes(byteCount)
        return (prefix + hex(bytes), digest(.accessToken, bytes))
    }

    private static func bytes(of token: String) -> [UInt8]? {
        guard token.hasPrefix(prefix), token.utf8.count == prefix.utf8.count + 2 * byteCount
        else { return nil }
        return ParleyWire.bytes(hex: token.dropFirst(prefix.count))
    }
}

extension AccessTokens.Entry {
    /// The hash; nil where the file says none.
    fileprivate var kept: Digest? { bytes(hex: digest).flatMap { Digest($0) } }

    fileprivate func grant(_ kept: Digest) -> TokenGrant {
        TokenGrant(name: name, scope: scope, conversation: conversation, digest: kept)
    }
}
