import Foundation
import ParleyConversation
import ParleyLedger
import ParleyLocalAPI
import ParleyRelaying
import ParleySealing
import ParleyStorage
import ParleyWire
import Synchronization
import Testing

@testable import Parley
@testable import ParleyNodeCore

/// Floods of what is well formed and asks for work: files, conversations, history, what a member may
/// write, and letters. Bounds as in ``FloodTests``.
@Suite("A node under a flood of work", .serialized, .timeLimit(.minutes(20)))
struct WorkFloodTests {
    @Test("Attack 211: questions for files that nobody has, and pieces that nobody wants")
    func files() async throws {
        try await FloodedNode.endures(
            "questions for files", refusing: "too-many-frames", threads: 1
        ) { node, flood, source in
            let blobs = (0..<Limits.askedBlobCountMax).map { number in
                BlobID { buffer in
                    for index in buffer.indices {
                        buffer[index] = UInt8(truncatingIfNeeded: number + index)
                    }
                }
            }
            let asks = Frame.blobAsk(blobs)
            let wants = blobs.map { Frame.blobWant(BlobWant(blob: $0, part: .section(0))) }
            let holds = blobs.map { Frame.blobHave(BlobHolding(blob: $0, ranges: [])) }
            node.repeats(
                ([asks] + wants + holds).map { $0.encoded() }, after: [FloodedNode.hello],
                as: node.member, flood, from: source)
        }
    }

    @Test("Attack 64: lists of conversations and digests that differ, by a contact")
    func spaces() async throws {
        try await FloodedNode.endures(
            "lists of conversations", refusing: "too-many-frames", threads: 1
        ) { node, flood, source in
            let digests = FrontierDigests(
                control: Check(high: 1, low: 1), content: Check(high: 2, low: 2),
                receipts: Check(high: 3, low: 3))
            let entries = (1...UInt64(Limits.spaceCountMax)).map {
                Spaces.Entry(hash: $0, digests: digests)
            }
            let list = Frame.spaces(Spaces(salt: 7, entries: entries))
            let beats = (0..<50).map { number in
                Frame.heartbeat(
                    Digest { $0.initializeMemory(as: UInt8.self, repeating: UInt8(number)) })
            }
            node.repeats(
                ([list] + beats).map { $0.encoded() }, after: [FloodedNode.hello], as: node.member,
                flood, from: source)
        }
    }

    @Test("Attack 68: the same history again and again, by a contact who reads all of it")
    func refetching() async throws {
        try await FloodedNode.endures("history fetched again", refusing: nil, threads: 1) {
            node, flood, source in
            let want = Frame.want(
                Want(
                    space: node.space, limit: UInt64(Limits.wantOperationCountMax),
                    ranges: [.init(tag: node.tag, first: 0, last: 199)]))
            let credit = Frame.credit(.greatest)
            node.repeats(
                [want.encoded(), credit.encoded()], after: [FloodedNode.hello], as: node.member,
                flood, from: source)
        }
    }

    @Test("Attack 321: new messages as fast as a member can write them")
    func newMessages() async throws {
        try await FloodedNode.endures("new messages of a member", refusing: nil, threads: 1) {
            node, flood, source in
            do {
                let writer = try MemberWriter(of: node)
                node.sends(
                    { writer.next() }, after: [FloodedNode.hello], as: node.member, flood,
                    from: source)
                try writer.close()
            } catch {
                Issue.record("the member cannot write: \(error)")
            }
        }
    }

    @Test("Attack 86: letters and signals of strangers and of a contact, from 256 addresses")
    func letters() async throws {
        let node = try await FloodedNode()
        let relay = try await FloodedRelay(in: node.folder, of: node.client)
        let flood = Flood()
        let letters = try relay.letters(of: node)
        for number in 0..<4 {
            flood.begin { relay.puts(letters[number % letters.count], $0) }
        }
        let result = try await Endurance.measure(node, under: flood)
        result.expectBearable("letters", refusing: "stranger")
        await node.end()
        relay.program.signal(SIGTERM)
        #expect(try await relay.program.ended() == 0)
    }

    @Test("Attack 325: letters of few bytes that open to very many operations, by a contact")
    func fullLetters() async throws {
        let node = try await FloodedNode()
        let relay = try await FloodedRelay(in: node.folder, of: node.client)
        let flood = Flood()
        let letters = try relay.fullLetters(of: node)
        for _ in 0..<2 { flood.begin { relay.puts(letters, $0) } }
        let result = try await Endurance.measure(node, under: flood)
        result.expectBearable("letters that are full", refusing: "too-many-frames")
        await node.end()
        relay.program.signal(SIGTERM)
        #expect(try await relay.program.ended() == 0)
    }

    @Test("Attack 322: links without end, each ended by a frame of very many operations")
    func lastFrames() async throws {
        try await FloodedNode.endures("frames that end the link", refusing: "too-many-frames") {
            node, flood, _ in
            do {
                let frame = try FullFrame.make(for: node, endsLink: true).encoded()
                node.repeats(
                    [frame], after: [FloodedNode.hello], as: node.member, flood,
                    from: 0x7F00_0000 + UInt32.random(in: 2...255))
            } catch {
                Issue.record("the frame cannot be made: \(error)")
            }
        }
    }
}

/// As many operations as a frame opens to, in few bytes, which nothing proves.
private enum FullFrame {
    static func make(for node: FloodedNode, endsLink: Bool) throws -> Frame {
        let least = try Operation.make(
            OperationHeader(kind: OperationKind(rawValue: 64), wallClock: 0, clock: 0),
            payload: [1])
        let wrong = try #require(SignatureBytes([UInt8](repeating: 3, count: 64)))
        let half = UInt64(Limits.frameOperationCountMax / 2)
        let runs = [1_000_000, 1_000_000 + half].map { first in
            Run(
                device: node.member.device, lane: .content, first: first,
                anchor: OperationID { $0[0] = 5 },
                operations: Array(repeating: least, count: Int(half)),
                heads: endsLink && first > 1_000_000
                    ? [SignedHead(sequence: first + half - 1, signature: wrong)] : [])
        }
        return .operations(Operations(space: node.space, endsAnswer: false, runs: runs))
    }
}

/// The one who floods as a member writes: valid operations, each after the one before.
private final class MemberWriter: Sendable {
    private struct State {
        let store: SQLiteStore
        let author: LogAuthor
        let key: DeviceSigningKey
        let space: SpaceRecord
        let tag: LogTag
        var number = 0
        /// What is written and not sent.
        var frames: [[UInt8]] = []
    }

    /// Operations of a frame.
    private static let operationCount = 250
    /// Frames that are written before the flood begins: writing one takes longer than sending it.
    private static let frameCount = 40

    private let state: Mutex<State>

    init(of node: FloodedNode) throws {
        let store = try SQLiteStore.open(home: Home(node.folder.home("m")), unlock: .keyFile)
        let keys = try #require(try NodeKeys(in: store))
        let space = try #require(try store.space(node.space))
        let log = try #require(try store.log(node.tag, in: space.number))
        let last = try #require(try store.operation(at: log.end - 1, in: log.number))
        let author = LogAuthor(
            key: keys.identity.key, space: space,
            authority: last.operation.header.authority ?? 0, wallClock: 1_700_000_000_000)
        state = Mutex(
            State(
                store: store, author: author, key: keys.identity.key, space: space, tag: node.tag))
        try state.withLock { state in
            state.frames = try (0..<Self.frameCount).map { _ in try Self.write(&state) }
        }
    }

    /// The next frames of messages; none where the store fails.
    func next() -> [[UInt8]] {
        state.withLock { state in
            defer { state.frames = [] }
            // What fails ends the flood, and the test with it.
            return state.frames.isEmpty ? (try? [Self.write(&state)]) ?? [] : state.frames
        }
    }

    func close() throws { try state.withLock { try $0.store.close() } }

    private static func write(_ state: inout State) throws -> [UInt8] {
        let store = state.store
        let log = try #require(try store.log(state.tag, in: state.space.number))
        let last = try #require(try store.operation(at: log.end - 1, in: log.number))
        let drafts = (0..<Self.operationCount).map { _ in
            state.number += 1
            return TextMessage(text: "flood \(state.number) of words without end").draft()
        }
        var random = SystemRandom()
        try store.begin(.normal)
        let written = try state.author.append(drafts, to: store, using: &random)
        try store.commit()
        let end = log.end + UInt64(written.count) - 1
        let run = Run(
            device: state.key.device, lane: .content, first: log.end, anchor: last.id,
            operations: written.map(\.operation.operation),
            heads: try store.heads(in: log.number, log.end...end))
        let frame = Frame.operations(
            Operations(space: state.space.id, endsAnswer: false, runs: [run]))
        return frame.encoded()
    }
}

/// A relay in a process of its own, in whose inbox letters of no use are put.
private struct FloodedRelay {
    let program: Program
    let part: CardPart
    let mailbox: CardMailbox

    init(in folder: TemporaryFolder, of client: NodeClient) async throws {
        program = try Program(
            ["relay", "run", "--home", folder.home("relay"), "--listen", "127.0.0.1:0"])
        try await program.says("Ctrl-C stops the relay")
        let text = program.output.split(separator: "\n").first { $0.hasPrefix("parley-relay:") }
        try await client.perform(AddRelay(text: String(try #require(text))))
        var found: CardPart?
        try await eventually("the card shows the inbox", on: [NodeProcess]()) {
            let card = try #require(CardText(try await client.perform(GetCard()).text)?.card)
            found = try Card(bytes: card).parts.first
            return found?.mailboxes.isEmpty == false
        }
        part = try #require(found)
        mailbox = try #require(part.mailboxes.first)
    }

    /// Letters that are kept and such that pass, of a stranger and of a contact: all of them open.
    func letters(of node: FloodedNode) throws -> [[RelayAction]] {
        var random = SystemRandom()
        let prekey = try #require(part.prekeys.last).key
        let store = try SQLiteStore.open(home: Home(node.folder.home("m")), unlock: .keyFile)
        let contact = try #require(try NodeKeys(in: store)).identity.key
        try store.close()
        let stranger = DeviceSigningKey.generate(using: &random)
        let shown = Frame.introduce(
            Introduction(
                card: node.card, redemption: nil, join: nil, isRequest: false, isContact: true))
        func sealed(_ content: [UInt8], as form: Letter.Form, by key: DeviceSigningKey) throws
            -> [UInt8]
        {
            let letter = Letter.seal(
                content, as: form, to: prekey, inbox: mailbox.inbox, by: key, using: &random)
            return try #require(letter)
        }
        return try [stranger, contact].flatMap { key in
            let kept = try (0..<UInt64(200)).map { number in
                let content = LetterContent.encode([shown], number: LetterNumber(clamping: number))
                let bytes = try #require(content)
                return RelayAction.put(envelope: try sealed(bytes, as: .kept, by: key))
            }
            let passing = try (0..<200).map { number in
                let content = PassingContent(
                    sent: WallTime(clamping: UInt64(Date.now.timeIntervalSince1970 * 1_000)),
                    person: node.member.person, signal: [9, 9, UInt8(number)])
                return RelayAction.volatile(
                    lifetime: 10, envelope: try sealed(content.bytes, as: .passing, by: key))
            }
            return [kept, passing]
        }
    }

    /// Letters of a contact that hold as many operations as a letter may.
    func fullLetters(of node: FloodedNode) throws -> [RelayAction] {
        var random = SystemRandom()
        let prekey = try #require(part.prekeys.last).key
        let store = try SQLiteStore.open(home: Home(node.folder.home("m")), unlock: .keyFile)
        let contact = try #require(try NodeKeys(in: store)).identity.key
        try store.close()
        let shown = Frame.introduce(
            Introduction(
                card: node.card, redemption: nil, join: nil, isRequest: false, isContact: true))
        let full = try FullFrame.make(for: node, endsLink: false)
        return try (0..<UInt64(1_000)).map { number in
            let content = try #require(
                LetterContent.encode([shown, full], number: LetterNumber(clamping: number)))
            let letter = Letter.seal(
                content, to: prekey, inbox: mailbox.inbox, by: contact, using: &random)
            return RelayAction.put(envelope: try #require(letter))
        }
    }

    /// Puts them, again and again, from many addresses, each as fast as the relay takes them.
    func puts(_ actions: [RelayAction], _ flood: Flood) {
        let goesOn = { flood.goesOn }
        let source = 0x7F00_0000 + UInt32.random(in: 2...255)
        guard var caller = FloodCaller(mailbox, from: source, while: goesOn) else { return }
        let access = MailboxAccess(mailbox.inbox, key: mailbox.writer)
        caller.order { client in for action in actions { client.ask(action, as: access) } }
        flood.counted(actions.count)
        var answerCount = 0
        while caller.isOpen, goesOn(), answerCount < actions.count {
            answerCount += caller.exchange(while: goesOn).count
        }
    }
}
