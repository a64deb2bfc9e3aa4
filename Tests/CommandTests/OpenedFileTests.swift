import Foundation
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("Copies of opened files")
struct OpenedFileTests {
    private static let file = FileView(
        number: 1, name: "a.txt", size: 7, type: "text/plain", state: "here", heldByteCount: 7,
        width: 0, height: 0, duration: 0, isVoice: false, hasPreview: false,
        blob: String(repeating: "ab", count: 32))

    private let place = FileManager.default.temporaryDirectory.appending(
        path: "parley-opened-\(UUID().uuidString)"
    ).path

    private var environment: [String: String] {
        ["HOME": place, "XDG_RUNTIME_DIR": place + "/run"]
    }

    /// A copy of a file of a message.
    private func copy(
        _ message: MessageReference, _ device: String = FakeNode.status.device,
        byteCount: UInt64 = 1
    ) throws -> String {
        let folder = try OpenedFiles(environment).folder(
            for: message, of: device, byteCount: byteCount)
        try Data("PRIVATE".utf8).write(to: URL(filePath: folder + "/a.txt"))
        return folder
    }

    private func isThere(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: folder + "/a.txt")
    }

    @Test("Attack 340: a copy goes with its message, and after a day, while a node runs")
    func gone340() async throws {
        try FileManager.default.createDirectory(
            atPath: place + "/run", withIntermediateDirectories: true)
        // What is left in a temporary folder is no test's failure.
        defer { try? FileManager.default.removeItem(atPath: place) }
        let node = FakeNode()
        node.answer(ListMessageFiles.self) { _, request in
            switch request.message.text {
            case "12": [Self.file]
            case "13": []
            case "14": throw NodeError("unknown-message", "There is no such message.")
            default: throw NodeError("disk-full", "The disk is full.")
            }
        }
        let (kept, deleted) = (try copy(12), try copy(13))
        let (unknown, unsure) = (try copy(14), try copy(MessageReference("0123456789abcdef-7")))
        let foreign = try copy(13, "ffffffffffffffff")
        for folder in [kept, deleted, unknown, unsure, foreign] {
            #expect(folder.hasPrefix(place + "/run/parley/opened/"))
            let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions]
            #expect(mode as? Int == 0o700)
        }
        // What does not fit into the memory of the session lies on the disk.
        let large = try copy(12, byteCount: .max)
        #expect(large.hasPrefix(place + "/.cache/parley/opened/"))
        let opened = OpenedFiles(environment)
        await opened.removeGone(from: node)
        #expect(!isThere(deleted) && !isThere(unknown))
        for folder in [kept, unsure, foreign, large] { #expect(isThere(folder), "\(folder)") }
        let old = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -90_000)]
        for folder in [kept, large] {
            try FileManager.default.setAttributes(old, ofItemAtPath: folder)
        }
        opened.removeOld()
        #expect(!isThere(kept) && !isThere(large) && isThere(unsure))
    }
}
