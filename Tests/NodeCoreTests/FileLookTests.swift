import ParleyConversation
import ParleyLedger
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("Looks at messages that bring files")
struct FileLookTests {
    /// A fold of a conversation with 100,000 pictures stood still for all of them.
    @Test("Attack 298: a step looks at some of them, and a restart goes on where it was")
    func portions() throws {
        let village = try Village(seed: 2_980, memberCount: 2)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        let count = 2 * FileLook.portionCountMax + 10
        for first in stride(from: 0, to: count, by: 50) {
            let messages = try (first..<min(first + 50, count)).map { number in
                let file = SampleFile(byteCount: 100, seed: UInt8(number % 250))
                try file.put(into: ann.store.blobs)
                return TextMessage(text: "", files: [file.attachment])
            }
            try village.perform(.send(village.group, messages, replyingTo: nil), ann)
        }
        village.settle()
        let all = try ben.store.files(in: nil, before: nil, limit: .max).map(\.operation)
        #expect(all.count == count)

        var look = FileLook(at: try #require(try ben.store.space(village.group)).number)
        try ben.store.begin(.full)
        try look.keep(in: ben.store)
        try ben.store.commit()
        var seen: [OperationNumber] = []
        while let kept = try FileLook.next(in: ben.store) {
            look = kept
            try ben.store.begin(.full)
            let portion = try look.takePortion(in: ben.store)
            try ben.store.commit()
            #expect(portion.count <= FileLook.portionCountMax)
            seen += portion
        }
        #expect(seen == all)

        try ben.store.begin(.full)
        try NodeCore.noteFilesUnlooked(in: ben.store)
        try ben.store.commit()
        world.restart(ben)
        #expect(try FileLook.next(in: ben.store) != nil)
        world.restart(ben)
        world.run(for: 10_000)
        #expect(try FileLook.next(in: ben.store) == nil)
    }
}
