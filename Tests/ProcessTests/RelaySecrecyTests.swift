import Foundation
import ParleyRelaying
import ParleySealing
import ParleyTransport
import ParleyWire
import Testing

@testable import RelayServerTests

@Suite("What a relay can know", .timeLimit(.minutes(3)))
struct RelaySecrecyTests {
    /// Two devices of one conversation, with what they would not have known.
    struct Conversation {
        let text = "the harbour lights were green on thursday"
        let name = "Ada Countess of Lovelace"
        let space = SpaceID { $0.copyBytes(from: (0..<32).map { UInt8($0) ^ 0x5a }) }
        let epoch = OperationID { $0.copyBytes(from: (0..<32).map { UInt8($0) ^ 0xa5 }) }
        let ada: DeviceSigningKey
        let ben: DeviceSigningKey
        let seed: EpochSeed
        var chain: Chain

        init(using random: inout SystemRandom) {
            ada = .generate(using: &random)
            ben = .generate(using: &random)
            seed = EpochSeed(.random(using: &random), space: space)
            chain = seed.chain(of: ada.device)
        }

        /// An envelope of Ada's that names everybody.
        mutating func envelope(
            in mailbox: MailboxID, using random: inout SystemRandom
        ) throws -> [UInt8] {
            let content =
                Array(text.utf8) + Array(name.utf8) + space.bytes + epoch.bytes
                + ada.device.bytes + ben.device.bytes
            return try Envelope.seal(
                content, at: EnvelopePlace(space: space, epoch: epoch, mailbox: mailbox),
                chain: &chain, keys: seed.keys, by: ada, using: &random)
        }

        /// What nobody but the two may find, each as it could lie somewhere.
        var secrets: [(what: String, bytes: [UInt8])] {
            let texts = [text, name, ada.device.description, space.description]
            let names =
                [ada.device.bytes, ben.device.bytes, space.bytes, epoch.bytes]
                + [ada.seed, seed.secret, seed.keys.envelopes, seed.keys.mailboxes].map {
                    $0.withUnsafeBytes { Array($0) }
                }
            return texts.map { ($0, Array($0.utf8)) }
                + names.flatMap { [(hex($0), $0), (hex($0) + " as words", Self.words($0))] }
        }

        /// Identifiers lie in memory as numbers, whose bytes are turned round.
        static func words(_ bytes: [UInt8]) -> [UInt8] {
            stride(from: 0, to: bytes.count, by: 8).flatMap { start in
                bytes[start..<min(start + 8, bytes.count)].reversed()
            }
        }
    }

    @Test("neither its files nor its memory nor what goes to and fro holds a word, a name, an id")
    func knowsNothing() async throws {
        let folder = try ScratchFolder()
        let home = folder.path + "/relay"
        let relay = try await RelayProcessTests.RelayProcess(home: home)
        let transport = Transport()
        var random = SystemRandom()
        var conversation = Conversation(using: &random)
        let drop = conversation.seed.keys.drop(at: relay.key, ofDay: 20_000)
        let access = MailboxAccess(drop: drop.key)
        let ada = try await RelayCaller.call(relay.key, at: relay.endpoint, over: transport)
        let ben = try await RelayCaller.call(relay.key, at: relay.endpoint, over: transport)
        _ = try await ada.ask(.open(writers: nil, ticket: nil), as: access)
        _ = try await ben.ask(.subscribe, as: access)
        var envelopes: [[UInt8]] = []
        for _ in 0..<20 {
            let envelope = try conversation.envelope(in: drop.id, using: &random)
            guard case .stored = try await ada.ask(.put(envelope: envelope), as: access) else {
                Issue.record("it was not stored")
                return
            }
            envelopes.append(envelope)
        }
        let page = try await ben.ask(.get(RelayRange(after: 0)), as: access)
        #expect(entries(of: page).map(\.envelope) == envelopes)

        let files = try Files.contents(of: home)
        let memory = try Memory.regions(of: relay.program.processID)
        let traffic = [ada.traffic, ben.traffic]
        // The search finds what is there: envelopes in the files, the mailbox's name in memory.
        #expect(Files.hold(files, envelopes[7]) && Files.hold(files, drop.id.bytes))
        #expect(Files.hold(memory, Conversation.words(drop.id.bytes)))
        #expect(traffic.allSatisfy { $0.count > 20 * 512 })
        #expect(!Files.hold(traffic, drop.id.bytes), "not even mailboxes are seen on the way")
        for (what, bytes) in conversation.secrets {
            #expect(!Files.hold(files, bytes), "\(what) is in a file")
            #expect(!Files.hold(memory, bytes), "\(what) is in memory")
            #expect(!Files.hold(traffic, bytes), "\(what) is on the way")
        }
        relay.program.signal(SIGTERM)
        _ = try await relay.program.ended()
        await transport.shutdown()
    }

    private func entries(of page: RelayAnswer) -> [RelayEntry] {
        if case .entries(let entries, _, _) = page { entries } else { [] }
    }
}

/// What lies on a disk.
private enum Files {
    static func contents(of folder: String) throws -> [[UInt8]] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
            Array(try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)))
        }
    }

    static func hold(_ pieces: [[UInt8]], _ wanted: [UInt8]) -> Bool {
        pieces.contains { piece in piece.withUnsafeBytes { holds($0, wanted) } }
    }

    /// Looks where the first byte stands: gigabytes are searched, and not by a generic walk.
    private static func holds(_ piece: UnsafeRawBufferPointer, _ wanted: [UInt8]) -> Bool {
        guard var place = piece.baseAddress, let first = wanted.first else { return false }
        let end = place + piece.count
        while end - place >= wanted.count,
            let found = memchr(place, Int32(first), end - place - wanted.count + 1)
        {
            if memcmp(found, wanted, wanted.count) == 0 { return true }
            place = UnsafeRawPointer(found) + 1
        }
        return false
    }
}

/// What a process of ours holds in memory.
private enum Memory {
    static func regions(of process: Int32) throws -> [[UInt8]] {
        let maps = try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)
        let file = open("/proc/\(process)/mem", O_RDONLY)
        try #require(file >= 0, "the memory of a child can be read")
        defer { close(file) }
        let regions = maps.split(separator: "\n").compactMap { line -> [UInt8]? in
            let words = line.split(separator: " ")
            guard words.count > 1, words[1].hasPrefix("rw") else { return nil }
            let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard ends.count == 2, ends[1] - ends[0] < 1 << 30 else { return nil }
            var bytes = [UInt8](repeating: 0, count: Int(ends[1] - ends[0]))
            let count = pread(file, &bytes, bytes.count, off_t(ends[0]))
            return count > 0 ? Array(bytes.prefix(count)) : nil
        }
        try #require(regions.reduce(0) { $0 + $1.count } > 1 << 20)
        return regions
    }
}
