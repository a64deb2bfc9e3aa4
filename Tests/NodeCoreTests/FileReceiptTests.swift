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
        _ = try world.perform(.file(.forget([message(at: ben)], anyway: false)), on: ben)
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
        for node in [ben, cara] {
            _ = try world.perform(.file(.forget([message(at: node)], anyway: false)), on: node)
        }
        world.run(for: 5_000)
        #expect(try known() == ([], persons(ben, cara)))
        // The disk is too small for it, and yet it stays: it may be the last one.
        let settings = FileSettings(roomByteCount: 10, keptDayCount: 0)
        _ = try world.perform(.file(.set(settings)), on: ann)
        world.restart(ann)
        world.run(for: 30_000)
        #expect(try holds(ann))
        let forget = try Command.file(.forget([message(at: ann)], anyway: false))
        #expect(throws: CommandRefusal.fileOnlyHere) { try world.perform(forget, on: ann) }
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
        for node in [cara, ann] {
            _ = try world.perform(.file(.forget([message(at: node)], anyway: false)), on: node)
            world.run(for: 5_000)
        }
        #expect(try !holds(ann) && !holds(cara) && holds(ben))
        let forget = try Command.file(.forget([message(at: ben)], anyway: false))
        #expect(throws: CommandRefusal.fileOnlyHere) { try world.perform(forget, on: ben) }
    }

    @Test func `what is told of a file that nobody asked about changes nothing`() throws {
        let link = LinkID(1)
        var holders = FileHolders()
        let blobs = (0..<FileHolders.inquiredCountMax + 1).compactMap {
            BlobID(
                [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] + [UInt8](repeating: 0, count: 30))
        }
        holders.inquire(blobs, on: link)
        #expect(!holders.isInquired(blobs[0], on: link) && holders.isInquired(blobs[1], on: link))
        holders.add(blobs[1])
        holders.remove(blobs[1])
        #expect(holders.unshared.isEmpty && holders.isInquired(blobs[1], on: link))
        holders.close(link)
        #expect(!holders.isInquired(blobs[1], on: link))
    }
}
