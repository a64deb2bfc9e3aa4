import Foundation
@testable import Parley
import ParleyNodeCore
import ParleyTransport
import Synchronization
import Testing

@Suite("A process of the program", .timeLimit(.minutes(1)))
struct DumpTests {
    @Test("Attack 94: may write no core dump")
    func noDump94() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("relay")
        let program = try Program(["relay", "run", "--home", home, "--listen", "127.0.0.1:0"])
        defer { program.signal(SIGKILL) }
        try await program.says("127.0.0.1:")
        let limits = try String(
            contentsOfFile: "/proc/\(program.processID)/limits", encoding: .utf8)
        let line = try #require(limits.split(separator: "\n").first { $0.contains("core file") })
        #expect(line.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
        // The kernel shows what a process that may not be dumped has open to nobody but root.
        if geteuid() != 0 { #expect(access("/proc/\(program.processID)/fd", R_OK) != 0) }
    }

    /// What the kernel keeps of a process is root's where it may not be dumped, else its user's: root's
    /// own processes look alike, so root starts it as somebody else.
    @Test("Attack 94: nor may another program of its user look into a node that runs")
    func noLook94() async throws {
        let folder = try TemporaryFolder()
        let nobody: uid_t = 65_534
        let isRoot = geteuid() == 0
        let user = isRoot ? nobody : geteuid()
        if isRoot { #expect(chown(folder.path, nobody, nobody) == 0) }
        let way = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
        func owner(of program: Program, _ file: String) throws -> uid_t {
            var status = stat()
            try #require(stat("/proc/\(program.processID)/\(file)", &status) == 0)
            return status.st_uid
        }
        // It speaks once it is what it stays: while a shell replaces itself, its files are root's.
        let word = folder.path + "/word"
        try Data("here\n".utf8).write(to: URL(filePath: word))
        let other = try Program([], by: way + ["tail", "-f", word])
        defer { other.signal(SIGKILL) }
        try await other.says("here")
        #expect(try owner(of: other, "environ") == user, "any other program's is its user's")
        let home = folder.home("a")
        let made = try Program(
            ["init", "--home", home, "--name", "ann"], by: way + [Program.path])
        #expect(try await made.ended() == 0, "\(made.output)")
        let node = try Program(
            ["run", "--home", home, "--no-listen", "--no-lan"], by: way + [Program.path])
        defer { node.signal(SIGKILL) }
        try await node.says("Ctrl-C stops it")
        for file in ["environ", "mem", "maps", "auxv"] {
            #expect(try owner(of: node, file) == 0, "\(file)")
        }
        let lines = try String(contentsOfFile: "/proc/\(node.processID)/status", encoding: .utf8)
        #expect(lines.contains("Uid:\t\(user)\t"))
        let limits = try String(contentsOfFile: "/proc/\(node.processID)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.contains("core file") })
        #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
        node.signal(SIGTERM)
        #expect(try await node.ended() == 0)
    }
}

/// Stands between two nodes, passes everything on, and keeps a copy.
final class RecordingProxy: Sendable {
    private let transport = Transport(threadCount: 1)
    private let target: Endpoint
    private let bytes = Mutex<[UInt8]>([])
    private let pumps = Mutex<[Task<Void, Never>]>([])

    init(to target: String) throws { self.target = try Endpoint(target) }

    /// What passed, both ways.
    var recorded: [UInt8] { bytes.withLock { $0 } }

    /// Who is at either end is not for it to know.
    private static let limits: TransportLimits = {
        var limits = TransportLimits()
        limits.handshakeTimeMax = nil
        return limits
    }()

    /// Begins; returns where.
    func listen() async throws -> String {
        let limits = Self.limits
        let listener = try await transport.listen(
            on: Endpoint("127.0.0.1:0"), limits: limits
        ) { [weak self] in
            let (near, far) = (Side(), Side())
            if let self { self.join(near, far, limits) }
            return near
        }
        return "\(try #require(listener.endpoints.first))"
    }

    private func join(_ near: Side, _ far: Side, _ limits: TransportLimits) {
        let record: @Sendable ([UInt8]) -> Void = { [weak self] bytes in
            self?.bytes.withLock { $0 += bytes }
        }
        near.meet(far, record)
        far.meet(near, record)
        let pump = Task { [transport, target] in
            // Where the target is not reached, the near side is told so by being closed.
            let reached = try? await transport.dial(target, limits: limits, handler: far)
            if reached == nil { near.hangUp() }
        }
        pumps.withLock { $0.append(pump) }
    }

    func shutdown() async { await transport.shutdown() }

    /// One of the two connections; what it hears, the other says.
    private final class Side: ConnectionHandler {
        private struct State {
            var connection: Connection?
            var early: [[UInt8]] = []
            var isOver = false
            var other: Side?
            var record: @Sendable ([UInt8]) -> Void = { _ in }
        }
        private let state = Mutex(State())

        func meet(_ other: Side, _ record: @escaping @Sendable ([UInt8]) -> Void) {
            state.withLock { ($0.other, $0.record) = (other, record) }
        }

        func opened(_ connection: Connection) {
            let (early, isOver) = state.withLock { state in
                state.connection = connection
                defer { state.early = [] }
                return (state.early, state.isOver)
            }
            for bytes in early { connection.send(bytes) }
            if isOver { connection.close() }
        }

        func received(_ bytes: [UInt8]) {
            let (other, record) = state.withLock { ($0.other, $0.record) }
            record(bytes)
            other?.say(bytes)
        }

        private func say(_ bytes: [UInt8]) {
            let connection = state.withLock { state in
                if state.connection == nil { state.early.append(bytes) }
                return state.connection
            }
            connection?.send(bytes)
        }

        func hangUp() {
            let connection = state.withLock { state in
                state.isOver = true
                return state.connection
            }
            connection?.close()
        }

        func becameWritable() {}

        func closed(_ reason: CloseReason) {
            let other = state.withLock { state in
                defer { state.other = nil }
                return state.other
            }
            other?.hangUp()
        }
    }
}

@Suite("Secrecy", .timeLimit(.minutes(4)))
struct SecrecyTests {
    /// Words that occur nowhere else.
    enum Canary: String, CaseIterable {
        case ownName = "Quetzalbird-Ann"
        case peerName = "Xylophagous-Ben"
        case alias = "Zwischenfall-Alias"
        case conversation = "Jackdaws-Sphinx-Group"
        case renamed = "Vexillology-Renamed"
        case text = "pterodactyl-umbrella-text"
        case edited = "ornithopter-edited-text"
        case deleted = "wheelbarrow-deleted-text"
        case reply = "marzipan-reply-text"
        case imported = "chrysanthemum-imported"
        case author = "NickOfTheImported"
        case emoji = "🦩\u{200D}🦚"
        case passphrase = "correct-horse-battery-canary"
    }

    /// Bytes that would give a canary away: as it is, in small letters, and in UTF-16.
    static let needles: [(name: String, bytes: [UInt8])] = Canary.allCases.flatMap { canary in
        let text = canary.rawValue
        return [
            ("\(canary)", Array(text.utf8)),
            ("\(canary), small", Array(text.lowercased().utf8)),
            ("\(canary), UTF-16", text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }),
        ]
    }

    static func found(in bytes: [UInt8]) -> [String] {
        let data = Data(bytes)
        return needles.filter { data.range(of: Data($0.bytes)) != nil }.map(\.name)
    }

    /// What is found in the files of a home, and how many bytes were looked at.
    static func look(in home: String) throws -> (found: [String], files: [String: Int]) {
        var found: [String] = []
        var files: [String: Int] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: home).sorted() {
            let path = home + "/" + name
            // While the node runs it replaces its guard by a rename: that file may be gone again,
            // and the one that took its place was looked at, or will be.
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
                attributes[.type] as? FileAttributeType == .typeRegular,
                let data = FileManager.default.contents(atPath: path)
            else { continue }
            let bytes = [UInt8](data)
            files[name] = bytes.count
            found += Self.found(in: bytes).map { "\($0) in \(name)" }
            #expect(Self.found(in: Array(name.utf8)).isEmpty)
        }
        return (found, files)
    }

    @Test("no word and no name is in a file of a node or on the wire")
    func canaries() async throws {
        let folder = try TemporaryFolder()
        let annSettings = NodeSettings(home: folder.home("a"))
        let benSettings = NodeSettings(
            home: folder.home("b"), passphrase: Array(Canary.passphrase.rawValue.utf8))
        let (ann, _) = try await Node.create(annSettings, name: Canary.ownName.rawValue)
        let (ben, _) = try await Node.create(benSettings, name: Canary.peerName.rawValue)
        let address = try #require(try await ann.start(listen: ["127.0.0.1:0"]).first)
        let proxy = try RecordingProxy(to: address)
        // Ann's card names the proxy, and ben listens nowhere: all they say passes through it.
        let between = try await proxy.listen()
        _ = try await ann.running.perform(.setProfile(name: nil, addresses: [between]))
        let invite = try await ann.perform(CreateInvite(hours: 1))
        try await ben.perform(AcceptInvite(link: invite.link, alias: Canary.alias.rawValue))
        try await eventually("they meet", on: [ann, ben]) {
            try await ben.perform(ListConversations()).contains { $0.name == Canary.alias.rawValue }
        }
        try await Self.talk(ann, ben)
        // Looking finds what is there.
        #expect(Self.found(in: Array("a \(Canary.reply.rawValue) b".utf8)).first == "reply")
        #expect(proxy.recorded.count > 5_000)
        #expect(Self.found(in: proxy.recorded) == [])
        // Both have indexed what they know, also what is gone again.
        for node in [ann, ben] {
            let hits = try await node.perform(SearchMessages(Canary.imported.rawValue)).hits
            #expect(hits.count == 20)
            let gone = try await node.perform(SearchMessages(Canary.deleted.rawValue))
            #expect(gone.hits.allSatisfy { $0.reason != "word" })
        }
        for home in [annSettings.home, benSettings.home] {
            let running = try Self.look(in: home)
            #expect(running.found == [])
            // The log of changes is emptied after a while.
            #expect(
                (running.files["database-wal"] ?? 0) + (running.files["database"] ?? 0) > 10_000)
        }
        await ann.shutdown()
        await ben.shutdown()
        await proxy.shutdown()
        for home in [annSettings.home, benSettings.home] {
            let ended = try Self.look(in: home)
            #expect(ended.found == [])
            #expect(ended.files["database"] ?? 0 > 10_000)
        }
        #expect(Self.found(in: proxy.recorded) == [])
    }

    /// Says every canary, and sees to it that the other has them all.
    private static func talk(_ ann: Node, _ ben: Node) async throws {
        try await ben.perform(SetAdditionPolicy(policy: .contacts))
        let group = try await ann.perform(
            CreateConversation(
                name: Canary.conversation.rawValue, members: [Canary.peerName.rawValue])
        ).id
        let sent = try await ann.perform(
            SendMessages(
                conversation: group,
                texts: [Canary.text, .deleted, .text].map { "\($0.rawValue) is what I say" }))
        try await ann.perform(
            EditMessage(message: MessageReference(sent[0].number), text: Canary.edited.rawValue))
        try await ann.perform(DeleteMessage(message: MessageReference(sent[1].number)))
        try await ann.perform(
            ReactToMessage(
                message: MessageReference(sent[2].number), emoji: Canary.emoji.rawValue, on: true))
        try await ann.perform(
            RenameConversation(conversation: group, name: Canary.renamed.rawValue))
        try await ann.perform(
            ImportMessages(
                conversation: group, fileHash: String(repeating: "ab", count: 32),
                throughLine: 200,
                rows: (1...200).map { line in
                    ImportMessages.Row(
                        line: line, author: Canary.author.rawValue,
                        time: 1_200_000_000_000 + UInt64(line) * 1000,
                        text: "\(Canary.imported.rawValue) \(line)", isAction: false)
                }))
        try await eventually("ben has it all", on: [ann, ben]) {
            let (mine, theirs) = (
                try await ann.perform(ListDigests()), try await ben.perform(ListDigests())
            )
            let digest = mine.first { $0.conversation == group }?.digest
            return digest != nil && theirs.contains { $0.digest == digest }
        }
        let page = try await ben.perform(ReadMessages(conversation: group, limit: 300))
        let heard = try #require(page.messages.first { $0.text == Canary.edited.rawValue })
        #expect(page.messages.contains { $0.author == Canary.author.rawValue })
        try await ben.perform(
            SendMessages(
                conversation: group, texts: [Canary.reply.rawValue],
                replyTo: MessageReference(heard.number)))
        try await ben.perform(
            MarkRead(
                conversation: group, messages: page.messages.map { MessageReference($0.number) },
                last: page.last))
        try await eventually("ann has the reply", on: [ann]) {
            try await ann.perform(ReadMessages(conversation: group, limit: 300)).messages
                .contains { $0.text == Canary.reply.rawValue }
        }
    }
}
