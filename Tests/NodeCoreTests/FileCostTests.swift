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
