@testable import ParleyFiles
import ParleyLedger
import ParleySimulation
import ParleyWire
import Testing

/// Peers that hold parts of a blob, and one that fetches it.
private struct Swarm {
    var fetcher = BlobFetcher<Int>()
    var servers: [Int: BlobServer<Int>] = [:]
    var stores: [Int: MemoryBlobs] = [:]
    let store = MemoryBlobs()
    /// Frames that are on their way to the one who fetches.
    var flying: [(link: Int, frame: Frame)] = []
    var done: [BlobID] = []
    var refused: [BlobFetcher<Int>.Refusal] = []
    var failed: [BlobID] = []
    /// How often each chunk was given.
    var givenCounts: [ChunkIndex: Int] = [:]
    var now: UInt64 = 0

    mutating func addPeer(_ link: Int, holding blob: SampleFile, chunks: Range<Int>? = nil) throws {
        let held = MemoryBlobs()
        try blob.put(into: held, chunks: chunks)
        stores[link] = held
        var server = BlobServer<Int>()
        server.grant(blob.blob, to: 0)
        servers[link] = server
    }

    /// Does what the one who fetches wants done.
    mutating func perform(_ outputs: [BlobFetcher<Int>.Output]) throws {
        for output in outputs {
            switch output {
            case .send(let link, let frame): try deliver(frame, to: link)
            case .completed(let blob): done.append(blob)
            case .refused(_, let why): refused.append(why)
            case .failed(let blob, _): failed.append(blob)
            }
        }
    }

    private mutating func deliver(_ frame: Frame, to link: Int) throws {
        guard let held = stores[link] else { return }
        switch frame {
        case .blobAsk(let blobs):
            for blob in blobs {
                flying.append(
                    (link, .blobHave(try BlobServer<Int>.holding(of: blob, in: held))))
            }
        case .blobWant(let want):
            let isTaken = servers[link]?.take(want, on: 0)
            #expect(isTaken == true)
        default: Issue.record("nobody asks so")
        }
    }

    /// One frame of each peer arrives. Returns whether any did.
    mutating func turn() throws -> Bool {
        for link in servers.keys.sorted() {
            guard let held = stores[link] else { continue }
            if let frame = try servers[link]?.next(for: 0, from: held) {
                flying.append((link, frame))
            }
        }
        let frames = flying
        flying = []
        for (link, frame) in frames {
            now += 1
            try take(frame, from: link)
        }
        return !frames.isEmpty
    }

    mutating func take(_ frame: Frame, from link: Int) throws {
        switch frame {
        case .blobHave(let holding):
            try perform(fetcher.learn(holding, on: link, at: now, in: store))
        case .blobSection(let section):
            try perform(fetcher.take(section, on: link, at: now, in: store))
        case .blobChunk(let chunk):
            givenCounts[chunk.index, default: 0] += 1
            try perform(fetcher.take(chunk, on: link, at: now, in: store))
        default: Issue.record("nobody gives that")
        }
    }

    mutating func run() throws { while try turn() {} }
}

@Suite("Fetching a blob")
struct BlobFetcherTests {
    /// 300 chunks.
    private let blob = SampleFile(byteCount: 65_520 * 299 + 1)
    private var shape: BlobShape {
        get throws { try #require(BlobShape(blob.size)) }
    }

    private func begin(_ swarm: inout Swarm) throws {
        try swarm.perform(swarm.fetcher.fetch(blob.blob, shape, into: swarm.store))
        for link in swarm.stores.keys.sorted() {
            try swarm.perform(swarm.fetcher.ask([blob.blob], on: link, at: swarm.now))
        }
    }

    private func requireWhole(_ swarm: Swarm) throws {
        #expect(swarm.done == [blob.blob])
        for chunk in 0..<blob.chunks.count {
            let index = ChunkIndex(clamping: UInt64(chunk))
            #expect(try swarm.store.chunk(index, of: blob.blob) == blob.chunks[chunk])
        }
    }

    @Test func `one peer gives all of it, each chunk once`() throws {
        var swarm = Swarm()
        try swarm.addPeer(1, holding: blob)
        try begin(&swarm)
        try swarm.run()
        try requireWhole(swarm)
        #expect(swarm.givenCounts.values.allSatisfy { $0 == 1 })
        #expect(swarm.fetcher.blobs.isEmpty)
    }

    @Test func `several peers give what each of them has, and nothing is asked for twice`() throws {
        var swarm = Swarm()
        try swarm.addPeer(1, holding: blob, chunks: 0..<120)
        try swarm.addPeer(2, holding: blob, chunks: 100..<300)
        try swarm.addPeer(3, holding: blob, chunks: 250..<260)
        try begin(&swarm)
        try swarm.run()
        try requireWhole(swarm)
        #expect(swarm.givenCounts.values.allSatisfy { $0 == 1 })
    }

    @Test func `what is held already is not asked for`() throws {
        var swarm = Swarm()
        try swarm.addPeer(1, holding: blob)
        try blob.put(into: swarm.store, chunks: 0..<299)
        try begin(&swarm)
        try swarm.run()
        #expect(swarm.givenCounts == [299: 1])
        #expect(swarm.done == [blob.blob])
    }

    @Test func `a link that ends owes nothing: others are asked for it`() throws {
        var swarm = Swarm()
        try swarm.addPeer(1, holding: blob)
        try swarm.addPeer(2, holding: blob)
        try begin(&swarm)
        for _ in 0..<5 { _ = try swarm.turn() }
        swarm.stores[1] = nil
        swarm.servers[1] = nil
        try swarm.perform(swarm.fetcher.close(1, at: swarm.now, in: swarm.store))
        try swarm.run()
        try requireWhole(swarm)
    }

    @Test func `a peer that gives nothing is let go of after its time`() throws {
        var swarm = Swarm()
        try swarm.addPeer(1, holding: blob)
        try swarm.addPeer(2, holding: blob)
        try begin(&swarm)
        for _ in 0..<3 { _ = try swarm.turn() }
        swarm.servers[1] = nil
        try swarm.run()
        #expect(swarm.done.isEmpty)
        let early = swarm.now + BlobFetcher<Int>.patience - 300
        let outputs = try swarm.fetcher.endWaiting(at: early, in: swarm.store)
        #expect(outputs.isEmpty)
        swarm.now += BlobFetcher<Int>.patience + 1
        try swarm.perform(swarm.fetcher.endWaiting(at: swarm.now, in: swarm.store))
        try swarm.run()
        try requireWhole(swarm)
    }

    @Test("Attack 210: a wrong chunk is not kept, and nothing more is wanted of who gave it")
    func wrongChunk() throws {
        var swarm = Swarm()
        try swarm.addPeer(1, holding: blob)
        try swarm.addPeer(2, holding: blob, chunks: 0..<10)
        try begin(&swarm)
        for _ in 0..<2 { _ = try swarm.turn() }
        let held = try #require(swarm.stores[1])
        guard case .blobChunk(var chunk)? = try swarm.servers[1]?.next(for: 0, from: held) else {
            Issue.record("the first chunk is wanted by now")
            return
        }
        chunk.bytes[5] ^= 1
        try swarm.take(.blobChunk(chunk), from: 1)
        #expect(swarm.refused == [.wrong])
        #expect(try swarm.store.chunk(chunk.index, of: blob.blob) == nil)
        try swarm.run()
        #expect(swarm.done.isEmpty)
        #expect(!swarm.fetcher.isOwed(by: 1))
        // Not even when it is asked about by name: another link has to come.
        let asked = swarm.fetcher.ask([blob.blob], on: 1, at: swarm.now)
        #expect(asked.isEmpty)
        try swarm.addPeer(3, holding: blob)
        try swarm.perform(swarm.fetcher.ask([blob.blob], on: 3, at: swarm.now))
        try swarm.run()
        try requireWhole(swarm)
    }

    @Test func `a section of another size, or of other hashes, is not kept`() throws {
        for change in 0..<3 {
            var swarm = Swarm()
            try swarm.addPeer(1, holding: blob)
            try begin(&swarm)
            let holding = swarm.flying
            swarm.flying = []
            for (link, frame) in holding { try swarm.take(frame, from: link) }
            var section = blob.section(0)
            switch change {
            case 0: section.size = section.size.next
            case 1: section.leaves[3] = section.leaves[4]
            default: section.sections.append(section.sections[0])
            }
            try swarm.take(.blobSection(section), from: 1)
            #expect(swarm.refused == [.wrong])
            #expect(try swarm.store.section(0, of: blob.blob) == nil)
        }
    }

    @Test func `what nobody asked for is not kept`() throws {
        var swarm = Swarm()
        try swarm.addPeer(1, holding: blob)
        try swarm.take(.blobChunk(blob.chunk(0)), from: 1)
        try begin(&swarm)
        try swarm.take(.blobChunk(blob.chunk(299)), from: 1)
        try swarm.take(.blobSection(blob.section(0)), from: 7)
        #expect(swarm.refused == [.unasked, .unasked, .unasked])
        // Who was not asked is not listened to either.
        try swarm.take(
            .blobHave(BlobHolding(blob: blob.blob, ranges: [.init(first: 0, last: 299)])), from: 7)
        #expect(!swarm.fetcher.isOwed(by: 7))
    }

    @Test func `a file of which nothing came takes no room on the disk`() throws {
        var swarm = Swarm()
        try swarm.addPeer(1, holding: blob, chunks: 0..<0)
        try begin(&swarm)
        try swarm.run()
        #expect(swarm.fetcher.blobs == [blob.blob])
        #expect(try swarm.store.heldBlob(blob.blob) == nil)
        try swarm.addPeer(2, holding: blob)
        try swarm.perform(swarm.fetcher.ask([blob.blob], on: 2, at: swarm.now))
        while try swarm.store.heldBlob(blob.blob) == nil, try swarm.turn() {}
        #expect(try swarm.store.section(0, of: blob.blob) == blob.section(0))
        try swarm.run()
        try requireWhole(swarm)
    }

    @Test func `a full disk ends the fetch, and what came stays`() throws {
        var swarm = Swarm()
        try swarm.addPeer(1, holding: blob)
        swarm.store.byteCountMax = 40 * Limits.chunkByteCount
        try begin(&swarm)
        try swarm.run()
        #expect(swarm.failed == [blob.blob])
        #expect(swarm.fetcher.blobs.isEmpty)
        #expect(try swarm.store.heldBlob(blob.blob)?.chunks.count == 40)
        // Those that are under way when it ends are refused, not kept.
        #expect(swarm.refused.allSatisfy { $0 == .unasked })
        swarm.store.byteCountMax = .max
        swarm.servers[1]?.close(0)
        swarm.servers[1]?.grant(blob.blob, to: 0)
        try begin(&swarm)
        try swarm.run()
        try requireWhole(swarm)
    }

    @Test func `a chunk that rotted where it is served is not given, and fetched anew there`()
        throws
    {
        var swarm = Swarm()
        try swarm.addPeer(1, holding: blob)
        try swarm.addPeer(2, holding: blob, chunks: 0..<300)
        swarm.stores[1]?.rot(7, of: blob.blob)
        try begin(&swarm)
        try swarm.run()
        try requireWhole(swarm)
        #expect(swarm.refused.isEmpty)
    }

    @Test func `a peer owes no more than its window`() throws {
        var swarm = Swarm()
        try swarm.addPeer(1, holding: blob)
        try begin(&swarm)
        let holding = swarm.flying
        swarm.flying = []
        for (link, frame) in holding { try swarm.take(frame, from: link) }
        try swarm.take(.blobSection(blob.section(0)), from: 1)
        var wanted = 0
        var server = try #require(swarm.servers[1])
        let held = try #require(swarm.stores[1])
        while let frame = try server.next(for: 0, from: held) {
            if case .blobChunk = frame { wanted += 1 }
        }
        #expect(wanted == BlobPace.windowStart)
    }
}

@Suite("Serving blobs")
struct BlobServerTests {
    private let store = MemoryBlobs()

    private func next(_ server: inout BlobServer<Int>, _ link: Int) throws -> Frame? {
        try server.next(for: link, from: store)
    }

    @Test("Attack 211: only what was granted is given, and only so much is noted")
    func granted() throws {
        let blob = SampleFile(byteCount: 65_520 * 299)
        try blob.put(into: store)
        var server = BlobServer<Int>()
        let want = BlobWant(blob: blob.blob, part: .chunks(from: 0, count: 64))
        var taken = [server.take(want, on: 1)]
        server.grant(blob.blob, to: 1)
        for _ in 0..<5 { taken.append(server.take(want, on: 1)) }
        #expect(taken == [false, true, true, true, true, false])
        #expect(server.waiting == [1])
        server.withdraw(blob.blob)
        #expect(try next(&server, 1) == nil)
        server.grant(blob.blob, to: 2)
        taken = [server.take(BlobWant(blob: blob.blob, part: .section(0)), on: 2)]
        #expect(taken == [true])
        #expect(try next(&server, 2) == .blobSection(blob.section(0)))
        server.close(2)
        #expect(!server.isGranted(blob.blob, to: 2))
    }

    @Test func `what is not there is said once, and the rest of it not waited for`() throws {
        let blob = SampleFile(byteCount: 65_520 * 100)
        try blob.put(into: store, chunks: 50..<60)
        var server = BlobServer<Int>()
        server.grant(blob.blob, to: 1)
        let taken = server.take(
            BlobWant(blob: blob.blob, part: .chunks(from: 40, count: 30)), on: 1)
        #expect(taken)
        let holding = BlobHolding(blob: blob.blob, ranges: [.init(first: 50, last: 59)])
        #expect(try next(&server, 1) == .blobHave(holding))
        for index in 50..<60 { #expect(try next(&server, 1) == .blobChunk(blob.chunk(index))) }
        #expect(try next(&server, 1) == nil)
    }
}
