import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("Reading on a full disk", .timeLimit(.minutes(3)))
struct FullDiskReadTests {
    @Test(
        "shows what is new, says that it was not marked as read, and shows it again later",
        .enabled(if: SmallDisk.canMount, "only root may mount a disk for this"))
    func read() async throws {
        let pair = try await ProcessPair()
        let ben = try #require(await pair.ben.client)
        try await ben.perform(SendMessages(conversation: "ann", texts: ["one", "two"]))
        let ann = try #require(await pair.ann.client)
        try await eventually("ann has it", on: [pair.ann]) {
            try await ann.perform(ListConversations()).first { $0.name == "ben" }?.unread == 2
        }
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
        let disk = try SmallDisk(at: pair.folder.path + "/disk", megabytes: 12)
        defer { disk.unmount() }
        let home = pair.folder.path + "/disk/ann"
        try FileManager.default.copyItem(atPath: pair.ann.home, toPath: home)
        try disk.fill()
        for _ in 0..<2 {
            let read = try await Program.run("read", "ben", "--home", home)
            #expect(read.status == 0, "\(read.output)")
            #expect(read.output.contains("one") && read.output.contains("two"), "\(read.output)")
            #expect(
                read.output.contains("not marked as read: the disk is full"), "\(read.output)")
            #expect(!read.output.contains("failed"), "\(read.output)")
        }
        try disk.free()
        let read = try await Program.run("read", "ben", "--home", home)
        #expect(read.status == 0 && !read.output.contains("not marked"), "\(read.output)")
        let list = try await Program.run("conversations", "--home", home)
        #expect(list.output.contains("ben: two") && !list.output.contains(" new"), "\(list.output)")
    }
}
