import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Pictures and recordings between processes: what arrives, and what does not.
@Suite("Pictures and voices", .serialized, .timeLimit(.minutes(4)))
struct PictureProcessTests {
    private let place = FileManager.default.temporaryDirectory
        .appending(path: "parley-pictures-\(UUID().uuidString)")

    private static func isInstalled(_ program: String) -> Bool {
        ["/usr/local/bin", "/usr/bin", "/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    private func write(_ bytes: [UInt8], _ name: String) throws -> String {
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let path = place.appending(path: name).path
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    private func cleanUp() { try? FileManager.default.removeItem(at: place) }

    private func run(
        _ words: [String], at node: NodeProcess, fails: Bool = false
    ) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == (fails ? 1 : 0), "\(words): \(program.output)")
        return program.output
    }

    /// A picture of 64 by 48 points, without a program that could show it: form alone.
    private static let jpeg: [UInt8] = {
        func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
            [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)]
                + content
        }
        return [0xFF, 0xD8] + segment(0xE1, Array("Exif\0\0SECRET place".utf8))
            + segment(0xFE, Array("SECRET".utf8) + [UInt8](repeating: 1, count: 40_000))
            + segment(0xC0, [8, 0, 48, 0, 64, 1, 1, 0x11, 0]) + segment(0xDA, [1, 1, 0, 0, 63, 0])
            + [1, 2, 3, 0xFF, 0xD9] + Array("SECRET tail".utf8)
    }()

    /// A second of sound.
    private static let wav: [UInt8] = {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let samples = (0..<8_000).flatMap { little($0 % 40 * 700, 2) }
        return Array("RIFF".utf8) + little(samples.count + 36, 4) + Array("WAVEfmt ".utf8)
            + little(16, 4) + little(1, 2) + little(1, 2) + little(8_000, 4) + little(16_000, 4)
            + little(2, 2) + little(16, 2) + Array("data".utf8) + little(samples.count, 4) + samples
    }()

    @Test func `Attack 240: a picture arrives without what it told, unless its sender wants it so`()
        async throws
    {
        defer { cleanUp() }
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let picture = try write(Self.jpeg, "hut.jpg")
        let shown = try await run(
            ["send", "ben", "--file", picture, "--file", picture], at: all.ann)
        #expect(shown.contains("[picture hut.jpg, 64×48, "), "\(shown)")
        _ = try await run(["send", "ben", "--keep-metadata", "--file", picture], at: all.ann)
        let ben = try await all.client(all.ben)
        try await eventually("both are here", on: [all.ben]) {
            let entries = try await ben.perform(ListFiles()).entries
            return entries.count == 2
                && entries.allSatisfy { $0.message.files.allSatisfy { $0.state == "here" } }
        }
        let entries = try await ben.perform(ListFiles()).entries
        let kept = place.appending(path: "kept.jpg").path
        _ = try await run(["files", "save", entries[0].message.id, kept], at: all.ben)
        #expect(try [UInt8](Data(contentsOf: URL(filePath: kept))) == Self.jpeg)
        let cleaned = place.appending(path: "cleaned.jpg").path
        let id = entries[1].message.id
        _ = try await run(["files", "save", id, cleaned, "--number", "1"], at: all.ben)
        let bytes = try Data(contentsOf: URL(filePath: cleaned))
        #expect(bytes.count < 100 && bytes.range(of: Data("SECRET".utf8)) == nil)
        // Whether a program here finds something to show in it or not: there is one, or it is said.
        let hasPreview = entries[1].message.files[0].hasPreview
        let told = try await run(
            ["files", "save", id, place.path, "--number", "1", "--preview"], at: all.ben,
            fails: !hasPreview)
        #expect(told.contains(hasPreview ? "hut.preview." : "That has no preview"), "\(told)")
        let film = try write(Array("RIFF\0\0\0\0AVI LIST".utf8), "film.avi")
        let refused = try await run(["send", "ben", "--file", film], at: all.ann, fails: true)
        #expect(refused.contains("film.avi") && refused.contains("--keep-metadata"), "\(refused)")
        try await all.end()
    }

    @Test(.enabled(if: isInstalled("ffmpeg")))
    func `a voice note arrives with its length and its loudness, and a video with a picture`()
        async throws
    {
        defer { cleanUp() }
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let shown = try await run(
            ["send", "ben", "--voice", write(Self.wav, "a.wav")], at: all.ann)
        #expect(shown.contains("[voice 0:01 ") && shown.contains("█"), "\(shown)")
        let ben = try await all.client(all.ben)
        try await eventually("it is here", on: [all.ben]) {
            try await ben.perform(ListFiles()).entries.first?.message.files.first?.state == "here"
        }
        let note = try #require(
            try await ben.perform(ListFiles()).entries.first?.message.files.first)
        #expect(note.isVoice && note.name == "a.opus" && note.waveform.count == 64)
        let none = try await run(
            ["send", "ben", "--voice", write([1, 2], "b")], at: all.ann, fails: true)
        #expect(none.contains("kind of recording"), "\(none)")
        try await all.end()
    }

    @Test func `previews of links are off until the person says otherwise, and stop no message`()
        async throws
    {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        #expect(try await run(["link-previews"], at: all.ann).contains("are off"))
        let text = "see http://127.0.0.1/ and http://127.0.0.1/b"
        let silent = try await run(["send", "ben", text], at: all.ann)
        #expect(!silent.contains("No preview"), "\(silent)")
        let asked = try await run(["send", "ben", text, "--link-preview"], at: all.ann)
        #expect(asked.contains("No preview of http://127.0.0.1/"), "\(asked)")
        #expect(asked.contains("see http://127.0.0.1/ and"), "\(asked)")
        #expect(try await run(["link-previews", "on"], at: all.ann).contains("are on"))
        #expect(try await run(["send", "ben", text], at: all.ann).contains("No preview of"))
        let not = try await run(["send", "ben", text, "--no-link-preview"], at: all.ann)
        #expect(!not.contains("No preview"), "\(not)")
        try await all.end()
    }
}
