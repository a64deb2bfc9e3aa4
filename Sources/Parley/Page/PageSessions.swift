import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire
import Synchronization

/// The browser sessions of the page: links that work once, and the sessions that they become.
///
/// Of a session only its hash is kept, in a file of mode 0600. Links are in memory alone. The page has a
/// host name of its own, drawn once for this home: cookies ignore ports, so that under a name which others
/// use the page of another program would be sent what lets in here.
/// Source: `Protocol/14-local-api.md`, "The page".
public final class PageSessions: GrantKeeper {
    /// So many sessions there may be; the one that was used least of late makes room.
    public static let countMax = 32
    /// So many links may be open at once; the oldest makes room.
    static let linkCountMax = 8
    /// How long a link is good.
    public static let linkTimeMax: Duration = .seconds(60)
    /// After so many milliseconds in which nobody used it, a session has ended.
    public static let idleTimeMax: UInt64 = 12 * 3_600_000
    /// How old the recorded last use in the file may be, in milliseconds.
    private static let useNoteTimeMax: UInt64 = 600_000
    private static let secretByteCount = 32
    private static let fileByteCountMax = 64 << 10

    /// Its secret and how long it is valid.
    struct Entry: Codable, Equatable, Sendable {
        var name: String
        var digest: String
        var created: UInt64
        var used: UInt64
    }

    private struct File: Codable {
        var version = 1
        /// The first label of the page's host name.
        var label: String
        /// The port that was listened on last; 0 before the first time.
        var port: UInt16
        var sessions: [Entry]
    }

    private struct State {
        /// Nil before the file was read.
        var file: File?
        var links: [(digest: Digest, end: ContinuousClock.Instant)] = []
        var watchers = GrantWatchers()
        /// When the file was written, in Unix milliseconds.
        var noted: UInt64 = 0
        var address: String?
    }

    /// What time it is: in Unix milliseconds, and on a clock that does not go back.
    typealias Now = @Sendable () -> (wall: UInt64, steady: ContinuousClock.Instant)

    private let file: HomeFile<File>
    private let now: Now
    private let state = Mutex(State())

    init(of home: Home, now: @escaping Now = { (SystemClock.now.wall, .now) }) {
        self.now = now
        file = HomeFile("page", of: home, atMost: Self.fileByteCountMax) { path in
            NodeError(
                "page-damaged", "The sessions of the page in \(path) cannot be read.",
                hint: "Remove that file: all sessions end, and `parley open` begins a new one.")
        }
    }

    // MARK: Where it is

    /// The page's host name, without a port: a label of 80 random bits below `localhost`.
    public func host() throws -> String {
        try state.withLock { try read(&$0).label } + ".localhost"
    }

    /// The last port, which preserves what a browser stored for the page; nil before the first
    /// time.
    public func lastPort() throws -> UInt16? {
        let port = try state.withLock { try read(&$0).port }
        return port > 0 ? port : nil
    }

    /// The page is available from now on, at `http://NAME.localhost:PORT`.
    public func begin(port: UInt16) throws {
        try state.withLock { state in
            var content = try read(&state)
            content.port = port
            try write(content, &state)
            state.address = "http://\(content.label).localhost:\(port)/"
        }
    }

    /// The page is no longer available.
    public func end() { state.withLock { ($0.address, $0.links) = (nil, []) } }

    // MARK: Links

    /// A link that lets one browser in, once, within ``linkTimeMax``.
    func makeLink() throws -> String {
        var random = SystemRandom()
        let bytes = random.bytes(Self.secretByteCount)
        let end = now().steady + Self.linkTimeMax
        return try state.withLock { state in
            guard let address = state.address else {
                throw NodeError(
                    "no-page", "The node is running without its page.",
                    hint:
                        "Stop it, then run `parley run --page`; `parley config set run.page true` "
                        + "has the page always served, also by `parley service`.")
            }
            let steady = now().steady
            state.links = state.links.filter { $0.end > steady }.suffix(Self.linkCountMax - 1)
            state.links.append((digest(.pageSession, bytes), end))
            // Behind the #: a browser sends that to nobody, and no log has it.
            return address + "#enter=" + hex(bytes)
        }
    }

    /// Begins a session by the secret of a link, which is then used up. The session's secret is
    /// returned only here. Nil if the link is invalid or expired.
    public func enter(_ secret: String) throws -> (secret: String, grant: TokenGrant)? {
        guard let shown = Self.kept(of: secret) else { return nil }
        let time = now()
        var random = SystemRandom()
        let bytes = random.bytes(Self.secretByteCount)
        let kept: Digest = digest(.pageSession, bytes)
        let (entry, bodies) = try state.withLock { state -> (Entry?, [@Sendable () -> Void]) in
            var isGood = false
            for link in state.links where equalInConstantTime(link.digest, shown) {
                isGood = link.end > time.steady
            }
            state.links.removeAll { $0.digest == shown }
            guard isGood else { return (nil, []) }
            var content = try read(&state)
            var over = Self.removeIdle(&content.sessions, at: time.wall)
            if content.sessions.count >= Self.countMax,
                let least = content.sessions.indices.min(by: {
                    content.sessions[$0].used < content.sessions[$1].used
                })
            {
                over.append(content.sessions.remove(at: least))
            }
            let entry = Entry(
                name: Self.freeName(beside: content.sessions), digest: kept.description,
                created: time.wall, used: time.wall)
            content.sessions.append(entry)
            try write(content, &state)
            return (entry, state.watchers.take(over.compactMap(\.kept)))
        }
        for body in bodies { body() }
        return entry.map { (hex(bytes), $0.grant(kept)) }
    }

    // MARK: Sessions

    /// What a session allows; nil for an invalid or ended one.
    ///
    /// - Parameters:
    ///   - secret: what the browser shows.
    ///   - isUse: whether the person does something with it: that keeps it from ending.
    public func grant(for secret: String, isUse: Bool) -> TokenGrant? {
        guard let shown = Self.kept(of: secret) else { return nil }
        let wall = now().wall
        return state.withLock { state in
            // A file that cannot be read lets nobody in; `parley page sessions` tells why.
            guard var content = try? read(&state) else { return nil }
            var found: Int?
            // All of them are looked at: the time tells nothing of where one was found.
            for (place, entry) in content.sessions.enumerated() {
                guard let kept = entry.kept else { continue }
                if equalInConstantTime(kept, shown) { found = place }
            }
            guard let found, !content.sessions[found].isIdle(at: wall) else { return nil }
            if isUse {
                content.sessions[found].used = wall
                state.file = content
                if wall < state.noted || wall - state.noted > Self.useNoteTimeMax {
                    // Where it cannot be written, the session ends earlier after the next start.
                    try? write(content, &state)
                }
            }
            return content.sessions[found].grant(shown)
        }
    }

    /// Whether a session is good still.
    public func isAlive(_ grant: TokenGrant) -> Bool {
        let wall = now().wall
        // A file that cannot be read lets nobody in.
        let sessions = (try? state.withLock { try read(&$0).sessions }) ?? []
        return sessions.contains { $0.kept == grant.digest && !$0.isIdle(at: wall) }
    }

    /// Has something done once when a session ends; nil where it has ended already.
    public func whenEnded(_ grant: TokenGrant, _ body: @escaping @Sendable () -> Void) -> Int? {
        guard isAlive(grant) else { return nil }
        return state.withLock { $0.watchers.add(grant.digest, body) }
    }

    /// Forgets what ``whenEnded(_:_:)`` registered.
    public func forget(_ watcher: Int) { state.withLock { $0.watchers.remove(watcher) } }

    /// All sessions that are good, by name.
    func list() throws -> [Entry] {
        let wall = now().wall
        return try state.withLock { try read(&$0).sessions }
            .filter { !$0.isIdle(at: wall) }.sorted { $0.created < $1.created }
    }

    /// Ends one at once, with everything that uses it.
    func end(_ name: String) throws {
        guard try remove(where: { $0.name == name }) else {
            throw NodeError(
                "unknown-session", "There is no session “\(name)” of the page.",
                hint: "`parley page sessions` shows them.")
        }
    }

    /// Ends the session of this grant at once.
    public func end(_ grant: TokenGrant) throws {
        _ = try remove { $0.kept == grant.digest }
    }

    private func remove(where isMeant: (Entry) -> Bool) throws -> Bool {
        let over = try state.withLock { state -> [@Sendable () -> Void]? in
            var content = try read(&state)
            let gone = content.sessions.filter(isMeant)
            guard !gone.isEmpty else { return nil }
            content.sessions.removeAll(where: isMeant)
            try write(content, &state)
            return state.watchers.take(gone.compactMap(\.kept))
        }
        for body in over ?? [] { body() }
        return over != nil
    }

    // MARK: The file

    private func read(_ state: inout State) throws -> File {
        if let content = state.file { return content }
        let found = try file.read { content in
            content.version == 1 && content.sessions.count <= Self.countMax
                && content.sessions.allSatisfy { $0.kept != nil } && Self.isLabel(content.label)
        }
        if let found {
            state.file = found
            return found
        }
        var random = SystemRandom()
        let fresh = File(label: "p" + hex(random.bytes(10)), port: 0, sessions: [])
        try write(fresh, &state)
        return fresh
    }

    private func write(_ content: File, _ state: inout State) throws {
        try file.write(content)
        (state.file, state.noted) = (content, now().wall)
    }

    private static func isLabel(_ text: String) -> Bool {
        text.utf8.count == 21 && text.first == "p" && bytes(hex: text.dropFirst()) != nil
    }

    private static func removeIdle(_ sessions: inout [Entry], at wall: UInt64) -> [Entry] {
        let idle = sessions.filter { $0.isIdle(at: wall) }
        sessions.removeAll { $0.isIdle(at: wall) }
        return idle
    }

    private static func freeName(beside sessions: [Entry]) -> String {
        let taken = Set(sessions.map(\.name))
        let names = (1...countMax + 1).map { "browser-\($0)" }
        return names.first { !taken.contains($0) } ?? "browser"
    }

    private static func kept(of secret: String) -> Digest? {
        guard secret.utf8.count == 2 * secretByteCount, let bytes = bytes(hex: secret[...])
        else { return nil }
        return digest(.pageSession, bytes)
    }
}

extension PageSessions.Entry {
    /// The hash; nil where the file says none.
    fileprivate var kept: Digest? { bytes(hex: digest).flatMap { Digest($0) } }

    /// Whether it was unused for so long that it has ended. A last use in the future, by a clock
    /// that was set back since, counts as now.
    fileprivate func isIdle(at wall: UInt64) -> Bool {
        wall > used && wall - used > PageSessions.idleTimeMax
    }

    /// A slash is in no name of a token.
    fileprivate func grant(_ kept: Digest) -> TokenGrant {
        TokenGrant(
            name: "page/" + name, scope: .write, conversation: nil, digest: kept, isOfPage: true)
    }
}
