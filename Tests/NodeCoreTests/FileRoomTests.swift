import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// Ann sends ben and cara files, whose disks have little room. Source: `Protocol/13-files.md`, "Room".
@Suite("Room for files")
struct FileRoomTests {
    private let world = World(seed: 2200)
    private let ann, ben, cara: SimulatedNode
    private let group: SpaceID
    private let files = (1...4).map { SampleFile(byteCount: 1_000_000, seed: UInt8($0)) }

    init() throws {
        (ann, ben, cara) = (
            try world.addNode("ann"), try world.addNode("ben"), try world.addNode("cara")
        )
        for other in [ben, cara] { _ = try world.introduce(ann, other) }
        _ = try world.introduce(ben, cara)
        group = try world.group("trip", [ann, ben, cara])
        world.run(for: 30_000)
    }

    /// Room for so many of the files, and a little more.
    private func allow(_ count: Int, days: UInt64 = 0, at node: SimulatedNode) throws {
        let settings = FileSettings(
            roomByteCount: UInt64(count) * 1_010_000, keptDayCount: days)
        _ = try world.perform(.file(.set(settings)), on: node)
    }

    @discardableResult
    private func send(_ file: SampleFile, by node: SimulatedNode) throws -> OperationNumber {
        try file.put(into: node.store.blobs)
        let reply = try world.perform(
            .send(group, [TextMessage(text: "", files: [file.attachment])], replyingTo: nil),
            on: node)
        guard case .messages(let numbers) = reply else { throw CommandRefusal.unknownMessage }
        world.run(for: 20_000)
        return try #require(numbers.first)
    }

    private func held(by node: SimulatedNode) throws -> [Int] {
        try files.indices.filter {
            try node.store.blobs.heldBlob(files[$0].blob)?.chunks.isWhole == true
        }
    }

    private func message(_ place: Int, at node: SimulatedNode) throws -> OperationNumber {
        try #require(
            try node.messages(in: group, limit: .max).first {
                $0.content?.files.first?.blob == files[place].blob
            }
        ).number
    }

    /// Frees the files of a message as a person does who waits for a while.
    private func free(_ number: OperationNumber, at node: SimulatedNode) throws {
        for _ in 0..<100 {
            let command = Command.file(.forget([number], anyway: false))
            guard case .freed(_, let awaited, _) = try world.perform(command, on: node), awaited > 0
            else { return }
            world.run(for: 200)
        }
    }

    /// What is noted is what the disk has.
    private func requireCounted(_ node: SimulatedNode) throws {
        let blobs = try node.store.blobs.blobs()
        let rows = try HeldFile.all(in: node.store).filter { $0.state != .givenUp }
        #expect(rows.map(\.blob) == blobs)
        #expect(node.core.fileByteCount == rows.reduce(0) { $0 + $1.shape.sealedByteCount })
    }

    @Test func `what was used longest ago goes, and comes again when it is wanted`() throws {
        try allow(2, at: ben)
        for file in files.prefix(3) { try send(file, by: ann) }
        #expect(try held(by: ben) == [1, 2])
        #expect(try held(by: cara) == [0, 1, 2])
        #expect(try WantedFile.all(in: ben.store).isEmpty)
        try requireCounted(ben)
        // It does not come by itself, over a restart either.
        world.restart(ben)
        world.run(for: 30_000)
        #expect(try held(by: ben) == [1, 2])
        _ = try world.perform(.file(.noteUse(files[1].blob)), on: ben)
        _ = try world.perform(.file(.fetch(message(0, at: ben))), on: ben)
        world.run(for: 30_000)
        #expect(try held(by: ben) == [0, 1])
        try requireCounted(ben)
    }

    @Test func `what has a star stays, and so does what came lately`() throws {
        try allow(2, at: ben)
        for file in files.prefix(2) { try send(file, by: ann) }
        _ = try world.perform(.star(message(0, at: ben), isOn: true), on: ben)
        try send(files[2], by: ann)
        #expect(try held(by: ben) == [0, 2])
        try allow(2, days: 7, at: ben)
        try send(files[3], by: ann)
        #expect(try held(by: ben) == [0, 2])
        #expect(ben.core.hasNoRoom(for: files[3].blob))
        #expect(try WantedFile.kept(files[3].blob, in: ben.store) != nil)
        // Nobody is held back by it, and it comes once there is room.
        try allow(3, days: 7, at: ben)
        world.run(for: 30_000)
        #expect(try held(by: ben) == [0, 2, 3])
        #expect(!ben.core.hasNoRoom(for: files[3].blob))
        try requireCounted(ben)
    }

    @Test func `a file that is larger than all room is not begun`() throws {
        for file in files.prefix(2) { try send(file, by: ann) }
        try allow(0, days: 7, at: ben)
        #expect(try held(by: ben) == [0, 1])
        try send(files[2], by: ann)
        #expect(try held(by: ben) == [0, 1])
        #expect(ben.core.hasNoRoom(for: files[2].blob))
        // A person who wants it is not given what does not fit either.
        _ = try world.perform(.file(.fetch(message(2, at: ben))), on: ben)
        world.run(for: 30_000)
        #expect(ben.core.hasNoRoom(for: files[2].blob))
        try requireCounted(ben)
        try allow(0, at: ben)
        world.run(for: 30_000)
        #expect(try ben.store.blobs.blobs().isEmpty)
        try requireCounted(ben)
    }

    @Test func `what only this device is known to have is not given up`() throws {
        world.partition([ann], [ben, cara])
        try send(files[0], by: ann)
        try allow(0, at: ann)
        world.restart(ann)
        world.run(for: 1_000)
        #expect(try held(by: ann) == [0])
        world.heal()
        world.run(for: 120_000)
        #expect(try held(by: ben) == [0])
        // Both have said that they hold it.
        #expect(try held(by: ann).isEmpty)
        try allow(4, at: ann)
        _ = try world.perform(.file(.fetch(message(0, at: ann))), on: ann)
        world.run(for: 30_000)
        #expect(try held(by: ann) == [0])
        try requireCounted(ann)
    }

    @Test func `who has files that were sent is noted, each person once`() throws {
        try send(files[0], by: ann)
        let row = try #require(try HeldFile.kept(files[0].blob, in: ann.store))
        #expect(!row.cameFromOthers)
        #expect(row.holders == [ben, cara].map(\.identity.person).sorted())
        // What nobody was asked about is not noted.
        var chunks = ChunkSet(of: row.shape.chunkCount)
        for chunk in 0..<row.shape.chunkCount { chunks.insert(chunk) }
        let claim = Frame.blobHave(BlobHolding(blob: files[1].blob, ranges: chunks.ranges()))
        world.partition([ann, ben], [cara])
        try files[1].put(into: ann.store.blobs)
        world.inject(claim, from: ben, to: ann)
        world.run(for: 1_000)
        #expect(try HeldFile.kept(files[1].blob, in: ann.store) == nil)
    }

    @Test func `a person frees what files take, and the messages stay`() throws {
        let number = try send(files[0], by: ann)
        let atBen = try message(0, at: ben)
        let forget = Command.file(.forget([atBen], anyway: false))
        #expect(try world.perform(forget, on: ben) == .freed(count: 0, awaited: 1, onlyHere: 0))
        world.run(for: 1_000)
        #expect(try world.perform(forget, on: ben) == .freed(count: 1, awaited: 0, onlyHere: 0))
        #expect(try held(by: ben).isEmpty)
        #expect(try message(0, at: ben) == atBen)
        #expect(try world.perform(forget, on: ben) == .freed(count: 0, awaited: 0, onlyHere: 0))
        world.restart(ben)
        world.run(for: 60_000)
        #expect(try held(by: ben).isEmpty)
        _ = try world.perform(.file(.fetch(atBen)), on: ben)
        world.run(for: 30_000)
        #expect(try held(by: ben) == [0])
        // Ann may, since others have it.
        try free(number, at: ann)
        #expect(try held(by: ann).isEmpty)
        world.partition([ann], [ben, cara])
        let alone = try send(files[1], by: ann)
        let kept = try world.perform(.file(.forget([alone], anyway: false)), on: ann)
        #expect(kept == .freed(count: 0, awaited: 0, onlyHere: 1))
        #expect(try held(by: ann) == [1])
        _ = try world.perform(.file(.forget([alone], anyway: true)), on: ann)
        #expect(try held(by: ann).isEmpty)
        try requireCounted(ann)
    }

    @Test func `nothing comes by itself where a person said so`() throws {
        let settings = FileSettings(fetchByteCountMax: 0)
        _ = try world.perform(.file(.set(settings)), on: ben)
        try send(files[0], by: ann)
        #expect(try held(by: ben).isEmpty)
        #expect(try held(by: cara) == [0])
        _ = try world.perform(.file(.fetch(message(0, at: ben))), on: ben)
        world.run(for: 30_000)
        #expect(try held(by: ben) == [0])
    }

    @Test func `what comes by itself differs by kind, and the kind's own word goes first`() throws {
        var settings = FileSettings(fetchByteCountMax: 1_000_000)
        settings.fetchByteCountMaxByKind[.picture] = 10
        settings.fetchByteCountMaxByKind[.video] = 0
        settings.fetchByteCountMaxByKind[.sound] = .max
        _ = try world.perform(.file(.set(settings)), on: ben)
        world.restart(ben)
        world.run(for: 1_000)
        let kept = try FileSettings.kept(in: ben.store)
        let byKind = kept.fetchByteCountMaxByKind
        #expect(byKind[.sound] == FileSettings.most.fetchByteCountMax && byKind[.other] == nil)
        for (type, sizes) in [
            ("image/jpeg", [10: true, 11: false]), ("video/mp4", [1: false]),
            ("audio/ogg", [1_000_001: true]), ("application/ogg", [1_000_001: true]),
            ("", [1_000_000: true, 1_000_001: false]), ("imagery/x", [11: true]),
            ("image", [11: false]), ("/image", [11: true]),
        ] {
            for (size, comes) in sizes {
                let size = BlobSize(clamping: UInt64(size))
                #expect(kept.comesByItself(size, type: type) == comes, "\(type) \(size)")
            }
        }
        var picture = files[0].attachment
        picture.type = "image/png"
        for file in files.prefix(2) { try file.put(into: ann.store.blobs) }
        _ = try world.perform(
            .send(
                group, [TextMessage(text: "", files: [picture, files[1].attachment])],
                replyingTo: nil), on: ann)
        world.run(for: 30_000)
        #expect(try held(by: ben) == [1] && held(by: cara) == [0, 1])
    }

    @Test func `a crash between the disk and what is noted leaves nothing behind`() throws {
        for file in files.prefix(2) { try send(file, by: ann) }
        // It was given up, and the disk was not told.
        try free(message(0, at: ben), at: ben)
        try files[0].put(into: ben.store.blobs)
        world.restart(ben)
        world.run(for: 30_000)
        #expect(try held(by: ben) == [1])
        try requireCounted(ben)
        // The disk has it, and nothing is noted, as after an earlier program.
        try ben.store.begin(.normal)
        try HeldFile.drop(files[1].blob, in: ben.store)
        try ben.store.commit()
        world.restart(ben)
        world.run(for: 30_000)
        #expect(try held(by: ben) == [1])
        #expect(try HeldFile.kept(files[1].blob, in: ben.store)?.cameFromOthers == true)
        try requireCounted(ben)
        // It is noted, and somebody removed it by hand.
        try ben.store.blobs.removeBlob(files[1].blob)
        world.restart(ben)
        world.run(for: 30_000)
        #expect(try HeldFile.kept(files[1].blob, in: ben.store) == nil)
        #expect(ben.core.fileByteCount == 0)
        _ = try world.perform(.file(.fetch(message(1, at: ben))), on: ben)
        world.run(for: 30_000)
        #expect(try held(by: ben) == [1])
        try requireCounted(ben)
        // Of what ann sent it is known that it is her own.
        try ann.store.begin(.normal)
        try HeldFile.drop(files[1].blob, in: ann.store)
        try ann.store.commit()
        world.restart(ann)
        world.run(for: 30_000)
        let row = try #require(try HeldFile.kept(files[1].blob, in: ann.store))
        #expect(!row.cameFromOthers && row.holders.count == 2)
    }

    @Test func `a deletion frees the room`() throws {
        let number = try send(files[0], by: ann)
        try send(files[1], by: ann)
        _ = try world.perform(.delete(number), on: ann)
        world.run(for: 30_000)
        for node in [ann, ben, cara] {
            #expect(try held(by: node) == [1])
            try requireCounted(node)
        }
    }

    @Test func `settings hold over a restart, and nothing beyond their bounds`() throws {
        let most = FileSettings(
            roomByteCount: .max, fetchByteCountMax: .max, keptDayCount: .max)
        _ = try world.perform(.file(.set(most)), on: ben)
        world.restart(ben)
        world.run(for: 1_000)
        #expect(try FileSettings.kept(in: ben.store) == FileSettings.most)
        try send(files[0], by: ann)
        #expect(try held(by: ben) == [0])
    }
}
