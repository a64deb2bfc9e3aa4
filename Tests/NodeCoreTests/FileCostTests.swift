import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// What peers may make a node do with files. Source: `Protocol/13-files.md`, "Fetching", "Serving", "Held".
@Suite("Files, and who pays for them")
struct FileCostTests {
    private let file = SampleFile(byteCount: 65_520 * 40)

    /// Ben has heard of a file of ann's, and has a link with her.
    private func desk(seed: UInt64) throws -> (desk: LetterDesk, link: LinkID) {
        var desk = try LetterDesk(seed: seed)
        try file.put(into: desk.pair.ann.store.blobs)
        let message = TextMessage(text: "", files: [file.attachment])
        _ = try desk.pair.world.perform(
            .send(desk.pair.space, [message], replyingTo: nil), on: desk.pair.ann)
        let run = try desk.lastRun(of: desk.pair.ann)
        let link = try desk.link(of: desk.pair.ann)
        let operations = Operations(space: desk.pair.space, endsAnswer: false, runs: [run])
        _ = try desk.step(.frame(link, Frame.operations(operations).encoded()))
        return (desk, link)
    }

    private var whole: Frame {
        .blobHave(BlobHolding(blob: file.blob, ranges: [.init(first: 0, last: 39)]))
    }

    @Test("Attack 333: who owes one piece of a file pays for all others that it sends")
    func unasked() throws {
        var (desk, link) = try desk(seed: 333)
        let ann = desk.pair.ann.identity.person
        func spent(_ frame: Frame) throws -> UInt64 {
            let before = desk.core.peers.allowances.spent(by: ann)
            _ = try desk.step(.frame(link, frame.encoded()))
            return desk.core.peers.allowances.spent(by: ann) - before
        }
        _ = try spent(whole)
        // The hashes are owed now, and never come.
        let chunk = Frame.blobChunk(file.chunk(5))
        let units = FrameWork.units(of: chunk.encoded(), sharing: 1)
        #expect(try spent(chunk) == units)
        var wrong = file.section(0)
        wrong.index = 3
        #expect(try spent(.blobSection(wrong)) > 0)
        #expect(try spent(.blobSection(file.section(0))) == 0, "the one that was asked for")
        // So are the first chunks, each once.
        #expect(try spent(.blobChunk(file.chunk(0))) == 0)
        #expect(try spent(.blobChunk(file.chunk(0))) == units)
        for _ in 0..<400 { _ = try desk.step(.frame(link, chunk.encoded())) }
        let ends = desk.core.peers.links[link]?.isEnding != false
        #expect(ends)
    }

    @Test("a peer that gives what it is asked for pays nothing")
    func honest() throws {
        var (desk, link) = try desk(seed: 334)
        let ann = desk.pair.ann.identity.person
        _ = try desk.step(.frame(link, whole.encoded()))
        let before = desk.core.peers.allowances.spent(by: ann)
        _ = try desk.step(.frame(link, Frame.blobSection(file.section(0)).encoded()))
        for chunk in file.chunks.indices {
            _ = try desk.step(.frame(link, Frame.blobChunk(file.chunk(chunk)).encoded()))
        }
        let isWhole = try desk.store.blobs.heldBlob(file.blob)?.chunks.isWhole
        #expect(isWhole == true)
        let spent = desk.core.peers.allowances.spent(by: ann) - before
        #expect(spent == 0)
    }

    @Test("Attack 334: a file is given as often as it is of use, and then as it is paid for")
    func givenAgain() throws {
        var (desk, link) = try desk(seed: 335)
        try file.put(into: desk.store.blobs)
        _ = try desk.step(.frame(link, Frame.blobAsk([file.blob]).encoded()))
        let want = Frame.blobWant(BlobWant(blob: file.blob, part: .chunks(from: 0, count: 40)))
        func given() throws -> Int {
            var count = 0
            for _ in 0..<200 {
                var inputs: [Input] = [.frame(link, want.encoded()), .roomOn(link)]
                while let input = inputs.popLast() {
                    let effects = try desk.effects(of: input)
                    for case .send(link, let bytes) in effects {
                        if BlobPiece(in: bytes) != nil { count += 1 }
                    }
                    let tells = effects.contains { if case .tellRoom = $0 { true } else { false } }
                    if tells { inputs.append(.roomOn(link)) }
                }
            }
            return count
        }
        let free = Int(NodeCore.givenPieceCountMin)
        let rate = Allowance.Rate.person(spaceCount: 1)
        let atOnce = try given()
        #expect(atOnce >= free)
        #expect(atOnce <= free + Int(rate.burst / FrameWork.piece) / 2 + 8)
        desk.now.monotonic += 1_000
        let later = try given()
        #expect(later > 100, "what waits goes on")
        #expect(later <= Int(rate.perSecond / FrameWork.piece) + 8)
    }

    // MARK: Receipts

    private let large = SampleFile(byteCount: (16 << 20) + 1)
    private let small = SampleFile(byteCount: 100, seed: 3)

    private func send(_ messages: [TextMessage], _ pair: Pair) throws {
        _ = try pair.world.perform(.send(pair.space, messages, replyingTo: nil), on: pair.ann)
    }

    private func message(_ file: SampleFile) -> TextMessage {
        TextMessage(text: "", files: [file.attachment])
    }

    private func pair(seed: UInt64) throws -> Pair {
        let pair = try Pair(seed: seed)
        for file in [small, large] { try file.put(into: pair.ann.store.blobs) }
        return pair
    }

    @Test("Attack 336: what no receipt has room for is not remembered without end")
    func untold() throws {
        let pair = try pair(seed: 336)
        for _ in 0..<16 {
            try send((0..<50).map { message($0 % 2 == 0 ? small : large) }, pair)
            pair.world.run(for: 5_000)
        }
        pair.world.run(for: 30_000)
        let untold = try pair.ben.store.values(.untoldFiles)
        #expect(untold.count == NodeCore.untoldFileCountMax)
    }

    @Test("Attack 336: gaps between messages with files are closed in portions")
    func portions() throws {
        let pair = try pair(seed: 337)
        for _ in 0..<2 {
            try send((0..<50).map { message($0 % 2 == 0 ? small : large) }, pair)
            pair.world.run(for: 5_000)
        }
        let record = try #require(try pair.ann.store.space(pair.space))
        func log() throws -> LogRecord {
            let logs = try pair.ann.store.logs(in: record.number)
            return try #require(
                logs.first { $0.device == pair.ann.identity.device && $0.lane == .content })
        }
        let end = try log().end
        for _ in 0..<12 {
            try send((0..<50).map { TextMessage(text: "text \($0)") }, pair)
            pair.world.run(for: 1_000)
        }
        func told(_ place: UInt64) throws -> Bool {
            try Receipts.tell(
                pair.ben.identity.device, holdsFilesAt: end + place, of: log(), pair.ann.store)
        }
        // The last message before the texts lacks its file: the one here has another beside it.
        try send([message(small)], pair)
        try send((0..<50).map { TextMessage(text: "more \($0)") }, pair)
        try send([message(small)], pair)
        pair.world.run(for: 20_000)
        #expect(try told(600) && told(651))
        #expect(try told(625), "between two whose files are here")
        #expect(try !told(0), "not beside one whose file is not")
        for round in 0..<3 {
            for _ in 0..<8 {
                try send((0..<50).map { TextMessage(text: "again \($0)") }, pair)
                pair.world.run(for: 1_000)
            }
            try send([message(small)], pair)
            pair.world.run(for: 20_000)
            let start = 652 + 401 * UInt64(round)
            #expect(try told(start + 400))
            #expect(try told(start + 200), "a portion of the gap")
            #expect(try !told(start + 399), "and no more")
        }
        // The portions go on with each message that brings a file.
        for _ in 0..<4 {
            try send([message(small)], pair)
            pair.world.run(for: 20_000)
        }
        #expect(try told(652 + 399) && told(652 + 401 + 399) && told(652 + 802 + 399))
    }
}

extension LetterDesk {
    /// Everything that follows from an input.
    mutating func effects(of input: Input) throws -> [Effect] {
        try store.begin(.full)
        let effects = try core.step(input, at: now, in: store, using: &random)
        try store.commit()
        return effects
    }
}
