import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// Who has a file, and who has had it, by what devices tell. Source: `Protocol/13-files.md`, "Held" and "Room".
@Suite("Who has files")
struct FileReceiptTests {
    private let world = World(seed: 2210)
    private let ann, ben, cara: SimulatedNode
    private let group: SpaceID
    private let file = SampleFile(byteCount: 1_000_000, seed: 9)

    init() throws {
        (ann, ben, cara) = (
            try world.addNode("ann"), try world.addNode("ben"), try world.addNode("cara")
        )
        for other in [ben, cara] { _ = try world.introduce(ann, other) }
        _ = try world.introduce(ben, cara)
        group = try world.group("trip", [ann, ben, cara])
        world.run(for: 30_000)
    }

    @discardableResult
    private func send() throws -> OperationNumber {
        try file.put(into: ann.store.blobs)
        let reply = try world.perform(
            .send(group, [TextMessage(text: "", files: [file.attachment])], replyingTo: nil),
            on: ann)
        guard case .messages(let numbers) = reply else { throw CommandRefusal.unknownMessage }
        world.run(for: 20_000)
        return try #require(numbers.first)
    }

    private func holds(_ node: SimulatedNode) throws -> Bool {
        try node.store.blobs.heldBlob(file.blob)?.chunks.isWhole == true
    }

    private func message(at node: SimulatedNode) throws -> OperationNumber {
        try #require(
            try node.messages(in: group, limit: .max).first {
                $0.content?.files.first?.blob == file.blob
            }
        ).number
    }

    private func disk(of node: SimulatedNode) throws -> MemoryBlobs {
        try #require(node.store.blobs as? MemoryBlobs)
    }

    /// Who has the file now, and who has had it, by what ann knows.
    private func known() throws -> (holders: [PersonID], receivers: [PersonID]) {
        let receivers = try HeldFile.receivers(
            of: file.blob, as: ann.identity.device, in: ann.store)
        return (try HeldFile.kept(file.blob, in: ann.store)?.holders ?? [], receivers.sorted())
    }

    private func persons(_ nodes: SimulatedNode...) -> [PersonID] {
        nodes.map(\.identity.person).sorted()
    }

    @Test func `nobody is told of a file that a crash could still take`() throws {
        try disk(of: ben).isKeepingNothing = true
        try send()
        world.run(for: 120_000)
        #expect(try holds(ben))
        #expect(try known().receivers == persons(cara))
        #expect(try ben.store.values(.unkeptFile).map(\.key) == [file.blob.bytes])
        // It is tried again.
        try disk(of: ben).isKeepingNothing = false
        world.run(for: 700_000)
        #expect(try known().receivers == persons(ben, cara))
        #expect(try ben.store.values(.unkeptFile).isEmpty)
    }

    @Test func `what a loss of power took is fetched again, and told of then`() throws {
        try disk(of: ben).isKeepingNothing = true
        try send()
        #expect(try holds(ben))
        world.crash(ben, losingPower: true)
        #expect(try !holds(ben))
        world.start(ben)
        world.run(for: 60_000)
        #expect(try holds(ben))
        #expect(try known().receivers == persons(cara))
        try disk(of: ben).isKeepingNothing = false
        world.restart(ben)
        world.run(for: 60_000)
        #expect(try known().receivers == persons(ben, cara))
        world.crash(ben, losingPower: true)
        world.start(ben)
        #expect(try holds(ben))
    }

    @Test func `a file that goes before the disk has it for good is told of to nobody`() throws {
        try disk(of: ben).isKeepingNothing = true
        try send()
        _ = try world.perform(.file(.forget([message(at: ben)], anyway: true)), on: ben)
        #expect(try ben.store.values(.unkeptFile).isEmpty)
        try disk(of: ben).isKeepingNothing = false
        world.restart(ben)
        world.run(for: 700_000)
        #expect(try known().receivers == persons(cara))
    }

    @Test func `who has had a file and gave it up is not relied on`() throws {
        try send()
        world.run(for: 60_000)
        #expect(try known() == (persons(ben, cara), persons(ben, cara)))
        for node in [ben, cara] { try free(at: node) }
        #expect(try !holds(ben) && !holds(cara))
        #expect(try known() == ([], persons(ben, cara)))
        // The disk is too small for it, and yet it stays: it may be the last one.
        let settings = FileSettings(roomByteCount: 10, keptDayCount: 0)
        _ = try world.perform(.file(.set(settings)), on: ann)
        world.restart(ann)
        world.run(for: 30_000)
        #expect(try holds(ann))
        try free(at: ann)
        #expect(try holds(ann))
        // Who fetches it again has it.
        _ = try world.perform(.file(.fetch(message(at: cara))), on: cara)
        world.run(for: 60_000)
        #expect(try holds(cara) && !holds(ann))
        #expect(try known() == (persons(cara), persons(ben, cara)))
    }

    @Test func `who has a file from its sender hears that the sender gave it up`() throws {
        try send()
        world.run(for: 60_000)
        // On this link nobody has asked about it.
        world.restart(ben)
        world.run(for: 60_000)
        for node in [cara, ann] { try free(at: node) }
        #expect(try !holds(ann) && !holds(cara) && holds(ben))
        try free(at: ben)
        #expect(try holds(ben))
        let row = try #require(try HeldFile.kept(file.blob, in: ben.store))
        #expect(row.isDoubted && !row.canComeAgain)
    }

    @Test func `who was away when a file was given up does not rely on it`() throws {
        try send()
        world.run(for: 60_000)
        world.partition([ann, cara], [ben])
        for node in [cara, ann] { try free(at: node, anyway: true) }
        #expect(try !holds(ann) && !holds(cara) && holds(ben))
        // Ben knows nothing of it, and there is nobody to ask.
        try free(at: ben)
        let settings = FileSettings(roomByteCount: 10, keptDayCount: 0)
        _ = try world.perform(.file(.set(settings)), on: ben)
        world.run(for: 60_000)
        #expect(try holds(ben))
        world.heal()
        world.run(for: 700_000)
        #expect(try holds(ben))
        try free(at: ben)
        #expect(try holds(ben))
        try free(at: ben, anyway: true)
        #expect(try !holds(ben))
    }

    @Test func `of two that give a file up at the same moment one keeps it`() throws {
        world.partition([ann, ben], [cara])
        try send()
        world.run(for: 60_000)
        #expect(try holds(ann) && holds(ben) && !holds(cara))
        for round in 0..<100 {
            for node in [ann, ben] {
                _ = try world.perform(
                    .file(.forget([message(at: node)], anyway: false)), on: node)
                #expect(try holds(ann) || holds(ben), "\(round)")
            }
            world.run(for: 200)
        }
        #expect(try holds(ann) || holds(ben))
        for node in [ann, ben] {
            _ = try world.perform(.file(.fetch(message(at: node))), on: node)
        }
        world.run(for: 60_000)
        // The same where both have no room for it.
        let settings = FileSettings(roomByteCount: 10, keptDayCount: 0)
        for node in [ann, ben] { _ = try world.perform(.file(.set(settings)), on: node) }
        world.run(for: 1_800_000)
        #expect(try holds(ann) != holds(ben))
    }

    /// Frees the file as a person does who waits for a while.
    private func free(at node: SimulatedNode, anyway: Bool = false) throws {
        for _ in 0..<100 {
            let command = try Command.file(.forget([message(at: node)], anyway: anyway))
            guard case .freed(_, let awaited, _) = try world.perform(command, on: node), awaited > 0
            else { break }
            world.run(for: 200)
        }
        world.run(for: 5_000)
    }

    @Test func `what is told of a file that nobody asked about changes nothing`() throws {
        let link = LinkID(1)
        var holders = FileHolders()
        let blobs = (0..<FileHolders.inquiredCountMax + 1).compactMap {
            BlobID(
                [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] + [UInt8](repeating: 0, count: 30))
        }
        holders.inquire(blobs, on: link, at: 0)
        #expect(!holders.isInquired(blobs[0], on: link) && holders.isInquired(blobs[1], on: link))
        holders.add(blobs[1])
        holders.remove(blobs[1])
        #expect(holders.unshared.isEmpty && holders.isInquired(blobs[1], on: link))
        holders.close(link)
        #expect(!holders.isInquired(blobs[1], on: link))
    }

    @Test func `an answer is relied on for less long than it binds`() throws {
        let (one, two) = (LinkID(1), LinkID(2))
        let blob = try #require(BlobID([UInt8](repeating: 7, count: 32)))
        var holders = FileHolders()
        let unasked = holders.answer(blob, isWhole: true, on: one, at: 5)
        #expect(!unasked && !holders.isConfirmed(blob, at: 5))
        holders.inquire([blob], on: one, at: 100)
        holders.inquire([blob], on: two, at: 100)
        #expect(holders.isAwaited(blob, at: 100) && !holders.isAwaited(blob, at: 10_100))
        // Whoever answers too late may hold it no more.
        let late = holders.answer(blob, isWhole: true, on: two, at: 10_100)
        #expect(!late && !holders.isConfirmed(blob, at: 10_100))
        let timely = holders.answer(blob, isWhole: true, on: one, at: 10_099)
        #expect(timely)
        #expect(holders.isConfirmed(blob, at: 10_099) && !holders.isConfirmed(blob, at: 10_100))
        // Another one's word changes nothing of it, and its own does.
        _ = holders.answer(blob, isWhole: false, on: two, at: 10_099)
        #expect(holders.isConfirmed(blob, at: 10_099))
        _ = holders.answer(blob, isWhole: false, on: one, at: 10_099)
        #expect(!holders.isConfirmed(blob, at: 10_099))
        var promises = FilePromises()
        promises.make(blob, at: 200)
        #expect(promises.hold(blob, at: 15_199) && !promises.hold(blob, at: 15_200))
    }

    @Test func `more promises than are noted bind for all files`() throws {
        var promises = FilePromises()
        let blobs = (0...FilePromises.countMax).compactMap {
            BlobID(
                [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] + [UInt8](repeating: 0, count: 30))
        }
        let other = try #require(BlobID([UInt8](repeating: 7, count: 32)))
        for blob in blobs.dropLast() { promises.make(blob, at: 1) }
        #expect(!promises.hold(other, at: 2))
        promises.make(try #require(blobs.last), at: 2)
        #expect(promises.hold(other, at: 15_001) && !promises.hold(other, at: 15_002))
        // What has ended makes room.
        promises.make(other, at: 20_000)
        #expect(promises.hold(other, at: 20_001) && !promises.hold(blobs[0], at: 20_001))
    }
}
