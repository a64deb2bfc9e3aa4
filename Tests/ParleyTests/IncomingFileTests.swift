import Foundation
import Testing

@testable import Parley

@Suite("Files that come in")
struct IncomingFileTests {
    @Test("one is read by its path while it is there, and has no name", arguments: [true, false])
    func content(isInMemory: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            // What is left of it is in nobody's way.
            try? FileManager.default.removeItem(at: folder)
        }
        let file = try IncomingFile(of: 10, in: isInMemory ? nil : folder.path)
        try await file.write(Array("world".utf8), at: 5)
        try await file.write(Array("hello".utf8), at: 0)
        let source = try FileSource(file.path)
        #expect(source.byteCount == 10)
        #expect(try source.bytes(at: 0, count: 10) == Array("helloworld".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("one for which the disk has no room twice is refused before anything is written")
    func room() throws {
        let folder = FileManager.default.temporaryDirectory.path
        let error = #expect(throws: NodeError.self) {
            try IncomingFile(of: 1 << 60, in: folder)
        }
        #expect(error?.code == "disk-full")
        #expect(throws: NodeError.self) { try IncomingFile(of: 1, in: "/nonexistent") }
    }
}
