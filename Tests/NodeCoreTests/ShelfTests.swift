import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyRelaying
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

/// Ann and ben, who use one relay, and files between them. Source: `Protocol/13-files.md`, "Shelves".
@Suite("Files that lie at relays")
struct ShelfTests {
    private static let hour: UInt64 = 3_600_000
    private static let pieceCount = 17
    private let pair: Pair
    private let file = SampleFile(byteCount: 1_000_000)
    private var world: World { pair.world }
    private var ann: SimulatedNode { pair.ann }
    private var ben: SimulatedNode { pair.ben }

    init() throws { try self.init { _ in } }

    private init(_ setUp: (SimulatedRelay) -> Void) throws {
        pair = try Pair(seed: 2300, setUp)
    }

    private func send(
        _ file: SampleFile, by node: SimulatedNode, to space: SpaceID? = nil, holding: Bool = true
    ) throws -> OperationNumber {
        if holding { try file.put(into: node.store.blobs) }
        let reply = try world.perform(
            .send(
                space ?? pair.space, [TextMessage(text: "", files: [file.attachment])],
                replyingTo: nil), on: node)
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

    /// The shelf on which a node lays a file.
    private func shelf(of file: SampleFile, by node: SimulatedNode) throws -> MailboxID {
        let secret = try #require(try node.store.secret(.inbox, [], in: nil))
        return MailboxID(shelf: ShelfKeys.owner(of: file.blob, secret: secret).device)
    }

    /// How many envelopes lie on a shelf.
    private func count(on shelf: MailboxID, at relay: SimulatedRelay? = nil) throws -> Int {
        var store = (relay ?? pair.relay).store
        let range = RelayRange(after: 0, byteCountMax: 1 << 30)
        guard case .answer(let answer)? = try store.perform([.get(shelf, range)], at: 0).first,
            case .entries(let entries, _, _) = answer
        else { return 0 }
        return entries.count
    }

    /// Ben is away while ann sends, and ann when ben comes.
    private func sendPastEachOther(
        _ file: SampleFile, laidFor time: UInt64 = 60_000, _ befall: () throws -> Void = {}
    ) throws {
        world.cut(ann, ben)
        world.stopProcess(of: ben)
        _ = try send(file, by: ann)
        world.run(for: time)
        try befall()
        world.stopProcess(of: ann)
        world.start(ben)
        world.run(for: 60_000)
    }

    private func count(_ refusal: Refusal, at node: SimulatedNode) throws -> UInt64 {
        try node.store.number(.refusal, Array(refusal.rawValue.utf8)) ?? 0
    }

    @Test func `a file comes to who is never there with its sender, and is taken away then`() throws
    {
        try sendPastEachOther(file)
        #expect(try holds(ben, file))
        #expect(try WantedFile.all(in: ben.store).isEmpty)
        #expect(try ben.store.values(.shelfCursor).isEmpty)
        let shelf = try shelf(of: file, by: ann)
        #expect(try count(on: shelf) == Self.pieceCount)
        world.stopProcess(of: ben)
        world.start(ann)
        world.run(for: 60_000)
        #expect(try count(on: shelf) == 0)
        for table in [ValueTable.ownShelf, .shelf] {
            #expect(try ann.store.values(table).isEmpty)
        }
        // Whoever stays away finds nothing to do.
        world.start(ben)
        world.run(for: 60_000)
        #expect(try ben.store.values(.untoldFiles).isEmpty)
    }

    @Test func `what a link brings is laid nowhere`() throws {
        _ = try send(file, by: ann)
        world.run(for: 60_000)
        #expect(try holds(ben, file))
        #expect(try count(on: shelf(of: file, by: ann)) == 0)
        #expect(try ann.store.values(.ownShelf).isEmpty)
    }

    @Test func `a kill of who lays it there, or of who reads it, loses nothing`() throws {
        world.cut(ann, ben)
        world.stopProcess(of: ben)
        _ = try send(file, by: ann)
        world.run(for: 9_000)
        let shelf = try shelf(of: file, by: ann)
        var counts = [0]
        for _ in 0..<12 where counts.last != Self.pieceCount {
            world.run(for: 1_100)
            world.crash(ann)
            world.start(ann)
            world.run(for: 10_030)
            counts.append(try count(on: shelf))
        }
        world.run(for: 60_000)
        #expect(try count(on: shelf) == Self.pieceCount)
        #expect(Set(counts).count > 1)
        world.stopProcess(of: ann)
        world.start(ben)
        for _ in 0..<20 {
            world.run(for: 60)
            let before = try ben.store.blobs.heldBlob(file.blob)?.chunks.count ?? 0
            world.restart(ben)
            #expect(try ben.store.blobs.heldBlob(file.blob)?.chunks.count ?? 0 >= before)
        }
        world.run(for: 60_000)
        #expect(try holds(ben, file))
    }

    @Test func `a relay that has lost it, as it says, is given it anew`() throws {
        try sendPastEachOther(file) {
            world.wipe(pair.relay)
            world.run(for: 120_000)
        }
        #expect(try holds(ben, file))
    }

    @Test func `a relay that emptied a shelf in silence is given it anew within a day`() throws {
        let shelf = try shelf(of: file, by: ann)
        try sendPastEachOther(file) { () throws in
            pair.relay.store.lose(shelf)
            world.run(for: 20_000)
            #expect(try count(on: shelf) == 0)
            world.run(for: 31 * Self.hour)
            #expect(try count(on: shelf) == Self.pieceCount)
        }
        #expect(try holds(ben, file))
    }

    @Test func `what is lacked for long is laid anew before relays let go of it`() throws {
        world.cut(ann, ben)
        world.stopProcess(of: ben)
        _ = try send(file, by: ann)
        world.run(for: 60_000)
        let shelf = try shelf(of: file, by: ann)
        let place = ShelfPlace(blob: file.blob, relay: pair.relay.key)
        let first = try #require(try ShelfRecord.kept(place, in: ann.store))
        world.run(for: 26 * 24 * Self.hour)
        let second = try #require(try ShelfRecord.kept(place, in: ann.store))
        #expect(second.round == 1 && second.first > first.last)
        #expect(try count(on: shelf) == Self.pieceCount)
        var old = second
        old.round = NodeCore.shelfRoundCountMax
        #expect(!old.isOld(at: .max))
        old.beginAnew(at: 0)
        #expect(old.round > NodeCore.shelfRoundCountMax)
    }

    @Test func `a deletion for everybody takes it from the relay`() throws {
        world.cut(ann, ben)
        world.stopProcess(of: ben)
        let number = try send(file, by: ann)
        world.run(for: 60_000)
        let shelf = try shelf(of: file, by: ann)
        #expect(try count(on: shelf) == Self.pieceCount)
        _ = try world.perform(.delete(number), on: ann)
        world.run(for: 60_000)
        #expect(try count(on: shelf) == 0)
        #expect(try ann.store.values(.ownShelf).isEmpty)
    }

    @Test func `each relay is given it at which somebody reads who lacks it`() throws {
        let cara = try world.addNode("cara")
        let other = world.addRelay("other")
        world.start(other)
        try world.use(other, by: cara)
        _ = try world.introduce(ann, cara)
        let group = try world.group("trip", [ann, ben, cara])
        world.run(for: 60_000)
        world.partition([ann], [ben], [cara])
        world.stopProcess(of: ben)
        world.stopProcess(of: cara)
        _ = try send(file, by: ann, to: group)
        world.run(for: 120_000)
        let shelf = try shelf(of: file, by: ann)
        #expect(try count(on: shelf) == Self.pieceCount)
        #expect(try count(on: shelf, at: other) == Self.pieceCount)
        let states = try ann.core.shelfStates(of: file.blob, in: ann.store)
        #expect(states.map(\.lackingCount) == [1, 1] && states.map(\.laidCount) == [17, 17])
        world.stopProcess(of: ann)
        world.startAll()
        world.stopProcess(of: ann)
        world.run(for: 120_000)
        #expect(try holds(ben, file))
        #expect(try holds(cara, file))
        world.start(ann)
        world.run(for: 240_000)
        #expect(try count(on: shelf) == 0)
        #expect(try count(on: shelf, at: other) == 0)
    }

    @Test func `who passes a file on lays it on a shelf of their own`() throws {
        _ = try send(file, by: ann)
        world.run(for: 60_000)
        let cara = try world.addNode("cara")
        try world.use(pair.relay, by: cara)
        let second = try world.introduce(ben, cara)
        world.run(for: 60_000)
        world.cut(ben, cara)
        world.stopProcess(of: cara)
        world.stopProcess(of: ann)
        _ = try send(file, by: ben, to: second, holding: false)
        world.run(for: 60_000)
        #expect(try count(on: shelf(of: file, by: ben)) == Self.pieceCount)
        world.stopProcess(of: ben)
        world.start(cara)
        world.run(for: 60_000)
        #expect(try holds(cara, file))
    }

    @Test func `what is more than a shelf holds is not laid, and messages go on`() throws {
        let test = try ShelfTests { $0.policy.shelfByteCountMax = 512 << 10 }
        try test.sendPastEachOther(test.file)
        #expect(try test.count(on: test.shelf(of: test.file, by: test.ann)) == 0)
        #expect(try WantedFile.kept(test.file.blob, in: test.ben.store) != nil)
        test.world.start(test.ann)
        test.world.run(for: 60_000)
        let states = try test.ann.core.shelfStates(of: test.file.blob, in: test.ann.store)
        #expect(states.map(\.isTooLarge) == [true])
    }

    @Test func `a relay that takes little at a time gets all of it, and messages first`() throws {
        let test = try ShelfTests {
            $0.policy.storing = RelayPolicy.Rate(burst: 512 << 10, perSecond: 32 << 10)
        }
        let (world, pair) = (test.world, test.pair)
        world.cut(pair.ann, pair.ben)
        world.stopProcess(of: pair.ben)
        _ = try test.send(test.file, by: pair.ann)
        for count in 0..<20 {
            world.run(for: 3_000)
            try pair.say("word \(count)", by: pair.ann)
            world.run(for: 500)
            #expect(try pair.states(of: pair.ann).last == .relayed)
        }
        world.run(for: 120_000)
        #expect(try test.count(on: test.shelf(of: test.file, by: pair.ann)) == Self.pieceCount)
        #expect(try test.count(.relay, at: pair.ann) == 0)
    }

    @Test func `tickets are left for what people say`() throws {
        let test = try ShelfTests { $0.policy.needsTicket = true }
        let (world, pair) = (test.world, test.pair)
        for node in [pair.ann, pair.ben] {
            try world.use(
                pair.relay, by: node,
                tickets: (0..<4).map { _ in world.issueTicket(of: pair.relay) })
        }
        world.run(for: 60_000)
        world.cut(pair.ann, pair.ben)
        world.stopProcess(of: pair.ben)
        _ = try test.send(test.file, by: pair.ann)
        world.run(for: 60_000)
        let shelf = try test.shelf(of: test.file, by: pair.ann)
        #expect(try test.count(on: shelf) == 0)
        try world.use(
            pair.relay, by: pair.ann,
            tickets: (0..<8).map { _ in world.issueTicket(of: pair.relay) })
        world.run(for: 1_200_000)
        #expect(try test.count(on: shelf) == Self.pieceCount)
    }

    @Test func `of many files between texts it is told that all are here`() throws {
        for count in 0..<80 {
            try pair.say("text \(count)", by: ann)
            _ = try send(SampleFile(byteCount: 100, seed: UInt8(count)), by: ann)
            if count % 10 == 0 { world.run(for: 2_000) }
        }
        world.run(for: 120_000)
        #expect(try ann.store.values(.ownShelf).isEmpty)
        #expect(try ben.store.values(.untoldFiles).isEmpty)
    }

    @Test func `what does not fit into the room for files is not begun from a shelf`() throws {
        _ = try world.perform(
            .file(.set(FileSettings(roomByteCount: 900_000, keptDayCount: 0))), on: ben)
        try sendPastEachOther(file)
        #expect(try ben.store.blobs.heldBlob(file.blob)?.chunks.count ?? 0 == 0)
        #expect(ben.core.hasNoRoom(for: file.blob))
        #expect(try WantedFile.kept(file.blob, in: ben.store) != nil)
        _ = try world.perform(
            .file(.set(FileSettings(roomByteCount: 9_000_000, keptDayCount: 0))), on: ben)
        world.run(for: 60_000)
        #expect(try holds(ben, file))
    }

    @Test("Attack 216: a shelf with much of no use is left for an hour, and read on then")
    func junk() throws {
        try sendPastEachOther(file) {
            // Junk comes first, and then what belongs there.
            let junk = (0..<100).map { [UInt8](repeating: UInt8($0), count: 512) }
            try refillShelf { junk + $0 }
        }
        #expect(!(try holds(ben, file)))
        #expect(try count(.uselessShelf, at: ben) == 1)
        world.run(for: Self.hour + 60_000)
        #expect(try holds(ben, file))
    }

    /// What lies on ann's shelf lies there backwards from now on, and so much of it no more.
    private func turnAround(leavingOut count: Int = 0) throws {
        try refillShelf { Array($0.reversed().dropFirst(count)) }
    }

    /// Puts other envelopes on ann's shelf in the place of those that lie there.
    private func refillShelf(_ change: ([[UInt8]]) -> [[UInt8]]) throws {
        let shelf = try shelf(of: file, by: ann)
        let range = RelayRange(after: 0, byteCountMax: 1 << 30)
        guard
            case .answer(.entries(let entries, _, _))? = try pair.relay.store.perform(
                [.get(shelf, range)], at: World.epoch + world.now
            ).first
        else { return }
        _ = try pair.relay.store.perform(
            [.acknowledge(shelf, upTo: .max)], at: World.epoch + world.now)
        try lay(change(entries.map(\.envelope)), on: shelf)
    }

    private func lay(_ envelopes: [[UInt8]], on shelf: MailboxID) throws {
        let orders = envelopes.map { envelope in
            RelayOrder.put(
                shelf, by: .shelf, share: RelayShare(number: 0),
                hash: digest(.relayBlob, envelope), envelope: envelope)
        }
        _ = try pair.relay.store.perform(orders, at: World.epoch + world.now)
    }

    /// Ben has read all but the last piece, and his disk loses those that he has.
    private func losePieces() throws -> [UInt8] {
        var last: [UInt8] = []
        try sendPastEachOther(file) {
            try refillShelf { envelopes in
                last = envelopes.last ?? []
                return envelopes.dropLast()
            }
        }
        let held = try #require(try ben.store.blobs.heldBlob(file.blob))
        #expect(held.chunks.count == Self.pieceCount - 2)
        try ben.store.blobs.removeBlob(file.blob)
        return last
    }

    @Test func `what was read of a shelf and lost is read again at the next start`() throws {
        let last = try losePieces()
        world.stopProcess(of: ben)
        try lay([last], on: shelf(of: file, by: ann))
        world.start(ben)
        world.run(for: 60_000)
        #expect(try holds(ben, file))
    }

    /// Once only a day later: how far the shelf was read had been kept, and the piece was behind that.
    @Test func `what a full disk did not take is read again once there is room`() throws {
        let disk = try #require(ben.store.blobs as? MemoryBlobs)
        try sendPastEachOther(file) { disk.byteCountMax = disk.byteCount + 100_000 }
        #expect(!(try holds(ben, file)))
        disk.byteCountMax = .max
        world.run(for: 11 * 60_000)
        #expect(try holds(ben, file))
    }

    @Test("Attack 216: what came before its hashes is read again soon")
    func order() throws {
        try sendPastEachOther(file) { try turnAround() }
        #expect(try holds(ben, file))
    }

    @Test("Attack 216: a shelf is read again soon once for each hashes that came late")
    func orderWithGap() throws {
        try sendPastEachOther(file) { try turnAround(leavingOut: 1) }
        #expect(!(try holds(ben, file)))
        world.run(for: 2 * Self.hour)
        let reading = try #require(ben.core.shelves.readings.values.first)
        #expect(reading.repeatCount == 1 && !reading.isToBeRepeated)
        #expect(try ben.store.blobs.heldBlob(file.blob)?.chunks.count == 15)
    }
}
