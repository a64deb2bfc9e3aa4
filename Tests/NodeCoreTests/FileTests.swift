import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// Ann, ben and cara in a group, and dan whom only ann knows. Source: `Protocol/13-files.md`.
@Suite("Files in messages")
struct FileTests {
    private let world = World(seed: 2100)
    private let ann, ben, cara, dan: SimulatedNode
    private let group, pair: SpaceID
    private let file = SampleFile(byteCount: 3_000_000)

    init() throws {
        (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        (cara, dan) = (try world.addNode("cara"), try world.addNode("dan"))
        for other in [ben, cara] { _ = try world.introduce(ann, other) }
        _ = try world.introduce(ben, cara)
        pair = try world.introduce(ann, dan)
        group = try world.group("trip", [ann, ben, cara])
        world.run(for: 30_000)
    }

    private func send(
        _ file: SampleFile, by node: SimulatedNode, to space: SpaceID, holding: Bool = true
    ) throws -> OperationNumber {
        if holding { try file.put(into: node.store.blobs) }
        let reply = try world.perform(
            .send(space, [TextMessage(text: "", files: [file.attachment])], replyingTo: nil),
            on: node)
        guard case .messages(let numbers) = reply else { throw CommandRefusal.unknownMessage }
        return try #require(numbers.first)
    }

    private func holds(_ node: SimulatedNode, _ file: SampleFile) throws -> Bool {
        guard try node.store.blobs.heldBlob(file.blob)?.chunks.isWhole == true else { return false }
        for index in file.chunks.indices {
            let chunk = file.chunk(index)
            guard try node.store.blobs.chunk(chunk.index, of: file.blob) == chunk.bytes else {
                return false
            }
        }
        return true
    }

    private func message(at node: SimulatedNode) throws -> OperationNumber {
        try #require(
            try node.messages(in: group, limit: .max).last { !($0.content?.files ?? []).isEmpty }
        )
        .number
    }

    @Test func `a file comes to everybody in the conversation, and to nobody else`() throws {
        _ = try send(file, by: ann, to: group)
        world.run(for: 60_000)
        for node in [ben, cara] {
            #expect(try holds(node, file))
            #expect(try WantedFile.all(in: node.store).isEmpty)
        }
        #expect(try dan.store.blobs.blobs().isEmpty)
        // What dan asks for by its name he is not given: he is in no conversation that names it.
        var answers: [Frame] = []
        world.onStep = { step in
            guard step.node === dan, case .frame(_, let bytes) = step.input,
                let frame = try? Frame.decode(bytes)
            else { return }
            answers.append(frame)
        }
        let asked: [Frame] = [
            .blobAsk([file.blob]), .blobWant(BlobWant(blob: file.blob, part: .section(0))),
        ]
        for frame in asked { world.inject(frame, from: dan, to: ann) }
        world.run(for: 5_000)
        let nothing = Frame.blobHave(BlobHolding(blob: file.blob, ranges: []))
        #expect(answers.filter { $0 == nothing }.count == 2)
    }

    @Test func `a large file comes when the person wants it`() throws {
        let large = SampleFile(byteCount: Int(16 << 20) + 1)
        _ = try send(large, by: ann, to: group)
        world.run(for: 60_000)
        #expect(try ben.store.blobs.blobs().isEmpty)
        _ = try world.perform(.file(.fetch(message(at: ben))), on: ben)
        world.run(for: 60_000)
        #expect(try holds(ben, large))
        #expect(try cara.store.blobs.blobs().isEmpty)
    }

    @Test func `it comes from another member where its sender is away`() throws {
        world.partition([ann, ben, dan], [cara])
        _ = try send(file, by: ann, to: group)
        world.run(for: 60_000)
        #expect(try holds(ben, file))
        world.stopProcess(of: ann)
        world.heal()
        world.run(for: 120_000)
        #expect(try holds(cara, file))
    }

    @Test func `a kill on either side loses nothing that came`() throws {
        _ = try send(file, by: ann, to: group)
        var counts: [Int] = []
        for turn in 0..<40 {
            world.run(for: 60)
            let count = try ben.store.blobs.heldBlob(file.blob)?.chunks.count ?? 0
            #expect(count >= counts.last ?? 0)
            counts.append(count)
            world.restart(turn % 2 == 0 ? ben : ann)
        }
        world.run(for: 120_000)
        #expect(try holds(ben, file))
    }

    @Test func `a deletion for everybody removes the file, and ends what was under way`() throws {
        let number = try send(file, by: ann, to: group)
        world.run(for: 60_000)
        _ = try world.perform(.delete(number), on: ann)
        world.run(for: 60_000)
        for node in [ann, ben, cara] {
            #expect(try node.store.blobs.blobs().isEmpty)
            #expect(try WantedFile.all(in: node.store).isEmpty)
            #expect(!node.core.isFetching(file.blob))
        }
    }

    /// Notes at ann what the file was sealed as, as a node does that takes one in.
    private func note(_ content: Digest) throws {
        let own = OwnFile(blob: file.blob, key: file.key)
        try ann.store.begin(.normal)
        try own.keep(for: content, in: ann.store)
        try ann.store.commit()
    }

    @Test func `its key goes with its last message, though its bytes are gone here before`() throws
    {
        let number = try send(file, by: ann, to: group)
        let content: Digest = digest(.file, [7])
        try note(content)
        world.run(for: 60_000)
        #expect(try OwnFile.kept(content, in: ann.store)?.key == file.key)
        // By hand: the next start finds that it is not there.
        try ann.store.blobs.removeBlob(file.blob)
        world.restart(ann)
        world.run(for: 60_000)
        _ = try world.perform(.delete(number), on: ann)
        world.run(for: 60_000)
        #expect(try OwnFile.kept(content, in: ann.store) == nil)
        // One that was sealed and never sent leaves nothing either.
        try note(content)
        world.restart(ann)
        world.run(for: 60_000)
        #expect(try ann.store.values(.ownFile).isEmpty)
    }

    @Test func `a file stays as long as another message names it`() throws {
        let number = try send(file, by: ann, to: group)
        _ = try send(file, by: ann, to: pair, holding: false)
        world.run(for: 60_000)
        _ = try world.perform(.delete(number), on: ann)
        world.run(for: 60_000)
        #expect(try holds(ann, file))
        #expect(try holds(dan, file))
        #expect(try ben.store.blobs.blobs().isEmpty)
    }

    @Test func `a full disk keeps what is there, and the rest comes once there is room`() throws {
        let disk = try #require(ben.store.blobs as? MemoryBlobs)
        disk.byteCountMax = 10 * Limits.chunkByteCount
        _ = try send(file, by: ann, to: group)
        world.run(for: 60_000)
        #expect(try ben.store.blobs.heldBlob(file.blob)?.chunks.count == 10)
        #expect(ben.core.linkedPeers.count == 2)
        disk.byteCountMax = .max
        world.run(for: 700_000)
        #expect(try holds(ben, file))
    }

    /// Once whoever got it found it nowhere: who passed it on had it not, and did not fetch it.
    @Test func `who passes on what they do not hold fetches it, and gives it`() throws {
        let large = SampleFile(byteCount: Int(16 << 20) + 1)
        _ = try send(large, by: dan, to: pair)
        world.run(for: 60_000)
        #expect(try !holds(ann, large))
        _ = try send(large, by: ann, to: group, holding: false)
        world.run(for: 60_000)
        #expect(try holds(ann, large))
        _ = try world.perform(.file(.fetch(message(at: ben))), on: ben)
        world.run(for: 60_000)
        #expect(try holds(ben, large))
    }

    @Test func `who was asked and has nothing of it is told from who has it`() throws {
        let large = SampleFile(byteCount: Int(16 << 20) + 1)
        _ = try send(large, by: ann, to: group)
        world.run(for: 60_000)
        world.stopProcess(of: ann)
        world.run(for: 60_000)
        _ = try world.perform(.file(.fetch(message(at: ben))), on: ben)
        #expect(ben.core.outlook(for: large.blob) == FileOutlook(asked: [cara.identity.person]))
        world.run(for: 20_000)
        #expect(
            ben.core.outlook(for: large.blob)
                == FileOutlook(others: [cara.identity.person], isRefusedByDisk: false))
        let disk = try #require(ben.store.blobs as? MemoryBlobs)
        disk.byteCountMax = 10 * Limits.chunkByteCount
        world.restart(ann)
        world.run(for: 60_000)
        #expect(ben.core.outlook(for: large.blob).isRefusedByDisk)
    }

    @Test func `what nobody has keeps nothing waiting`() throws {
        // More than are fetched at a time, wanted long before and named where nobody has them.
        let shape = try #require(BlobShape(9))
        try ben.store.begin(.normal)
        for number in 0..<600 {
            let blob = BlobID { place in
                (place[0], place[1]) = (UInt8(number & 255), UInt8(number >> 8))
            }
            try WantedFile(blob: blob, shape: shape, since: 1, isAskedFor: false)
                .keep(in: ben.store)
        }
        try ben.store.commit()
        world.restart(ben)
        world.run(for: 900)
        #expect(try WantedFile.all(in: ben.store).count == 600)
        // Nor does it take room on the disk.
        #expect(try ben.store.blobs.blobs().isEmpty)
        _ = try send(file, by: ann, to: group)
        world.run(for: 60_000)
        #expect(try holds(ben, file))
    }

    @Test func `a file that is not here is not sent, and too many are refused`() throws {
        let other = SampleFile(byteCount: 100_000, seed: 9)
        #expect(throws: (any Error).self) {
            try send(other, by: ann, to: group, holding: false)
        }
        let one = ParleyConversation.Attachment(
            name: "x", size: 1, type: "", content: .inline([1]))
        let many = Array(repeating: one, count: 17)
        #expect(throws: (any Error).self) {
            try world.perform(
                .send(group, [TextMessage(text: "", files: many)], replyingTo: nil), on: ann)
        }
    }
}
