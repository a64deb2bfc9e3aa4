import Foundation
import ParleyConversation
import ParleyFiles
import ParleyWire
import Testing

@testable import Parley

@Suite("A file on its way out")
struct OutgoingFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func source(_ bytes: [UInt8], _ name: String = "a") throws -> FileSource {
        let path = folder.home(name)
        try Data(bytes).write(to: URL(filePath: path))
        return try FileSource(path)
    }

    private func content(_ file: OutgoingFile) throws -> [UInt8] {
        var content = file.content
        return try content.next(Int(content.byteCount))
    }

    private static let hasVips = CagedProgram("vipsthumbnail") != nil
    private static let hasFFmpeg = CagedProgram("ffmpeg") != nil

    @Test("without a program a picture goes cleaned, with its measures and without a preview")
    func bare() throws {
        let picture = RealPicture.jpeg()
        let file = try OutgoingFile(source(picture), called: "a.jpg", FileWish(), folders: [])
        #expect(file.type == "image/jpeg" && file.look.preview.isEmpty)
        #expect([file.look.width, file.look.height] == [300, 400], "it stands")
        #expect(file.note?.contains("vipsthumbnail") == true)
        let sent = try content(file)
        #expect(sent.count < 2_000 && !sent.contains(Array("SECRET".utf8)))
        var wish = FileWish()
        wish.keepsMetadata = true
        let kept = try OutgoingFile(source(picture), called: "a.jpg", wish, folders: [])
        #expect(try content(kept) == picture)
    }

    @Test(
        "a preview is small, stands as the picture does, and tells nothing",
        .enabled(if: hasVips || hasFFmpeg))
    func preview() throws {
        let file = try OutgoingFile(source(RealPicture.jpeg()), called: "a.jpg", FileWish())
        #expect(file.note == nil)
        let preview = try PreviewMaker.checked(file.look.preview)
        #expect((1...8_192).contains(preview.bytes.count))
        #expect(preview.bytes == file.look.preview, "it was cleaned")
        #expect([preview.width, preview.height] == [240, 320])
        var wish = FileWish()
        wish.room = 1_024
        let none = try OutgoingFile(source(RealPicture.jpeg()), called: "a.jpg", wish)
        #expect(none.look.preview.isEmpty && none.note == nil)
        // What looks like a picture and is none has no preview, and says so.
        let fake = [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 0, count: 20_000)
        wish = FileWish()
        wish.keepsMetadata = true
        let bad = try OutgoingFile(source(fake), called: "bad.jpg", wish)
        #expect(bad.look.preview.isEmpty && bad.note?.contains("bad.jpg") == true)
    }

    @Test("Attack 244: what a program gives back is no preview unless it is such a picture")
    func checked() {
        let webp: (Int) -> [UInt8] = { side in
            let bits = UInt32(side - 1) | UInt32(side - 1) << 14
            let chunk: [UInt8] =
                Array("VP8L".utf8) + [6, 0, 0, 0, 0x2F]
                + (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) } + [0]
            return Array("RIFF".utf8) + [UInt8(chunk.count + 4), 0, 0, 0] + Array("WEBP".utf8)
                + chunk
        }
        #expect((try? PreviewMaker.checked(webp(320)))?.width == 320)
        #expect(throws: (any Error).self) { try PreviewMaker.checked(webp(321)) }
        for bytes in [
            [], Array("#!/bin/sh\n".utf8), Array("<svg>".utf8), Array(webp(3).dropLast(4)),
        ] {
            #expect(throws: (any Error).self) { try PreviewMaker.checked(bytes) }
        }
    }

    @Test("Attack 240: what cannot be cleaned is refused, unless the person wants it so")
    func refusals() throws {
        let tiff = Array("II*\0".utf8) + [UInt8](repeating: 0, count: 100)
        let broken = Array(RealPicture.jpeg().prefix(30))
        let film = Array("RIFF\0\0\0\0AVI LIST".utf8)
        let packets = (0..<3).flatMap { _ in [0x47] + [UInt8](repeating: 1, count: 187) }
        for bytes in [tiff, broken, film, packets] {
            let error = #expect(throws: NodeError.self) {
                _ = try OutgoingFile(source(bytes), called: "x", FileWish(), folders: [])
            }
            #expect(error?.code == "not-cleaned")
            #expect(error?.hint?.contains("--keep-metadata") == true)
            var wish = FileWish()
            wish.keepsMetadata = true
            let kept = try OutgoingFile(source(bytes), called: "x", wish, folders: [])
            #expect(try content(kept) == bytes)
        }
    }

    @Test("Attack 307: no kind of picture goes uncleaned because nobody here knows it")
    func unknownKinds() throws {
        func code(_ start: [UInt8], _ name: String = "x") throws -> String? {
            do {
                let bytes = start + [0, 1] + Array("SECRET".utf8)
                let file = try OutgoingFile(source(bytes), called: name, FileWish(), folders: [])
                return file.note.map { $0.contains("removes nothing") ? "told" : $0 }
            } catch let error as NodeError { return error.code }
        }
        for start in [
            [0, 0, 0, 12] + Array("jP  ".utf8) + [13, 10, 0x87, 10], Array("gimp xcf v011".utf8),
            [0xFF, 0x4F, 0xFF, 0x51], Array("II+\0".utf8), Array("MM\0+".utf8),
            [0x76, 0x2F, 0x31, 1], Array("II\u{1A}\0\0\0HEAPCCDR".utf8), Array("\0MRM".utf8),
            Array("8BPS\0\u{2}".utf8), [0x49, 0x49, 0xBC, 1], Array("#?RADIANCE\n".utf8),
            [UInt8](repeating: 0, count: 128) + Array("DICM".utf8), [6, 0x0E, 0x2B, 0x34],
        ] { #expect(try code(start) == "not-cleaned", "\(start.prefix(8))") }
        // What is called a picture, and begins like none, is none that can be cleaned.
        for name in ["a.JPG", "b.mrw", "c.d.insp", ".braw"] {
            #expect(try code([7, 7], name) == "not-cleaned", "\(name)")
        }
        // Of what else is not known the person is told that nothing is removed of it.
        #expect(try code([7, 7], "a.bin") == "told" && code([7, 7], "jpg") == "told")
        #expect(try code(Array("%PDF-1.7".utf8), "a.pdf") == nil)
        var wish = FileWish()
        wish.keepsMetadata = true
        let kept = try OutgoingFile(source([7, 7, 0]), called: "a.jpg", wish, folders: [])
        #expect(kept.note == nil)
    }

    @Test("what it takes of its message is what it may")
    func room() throws {
        let small = try source([UInt8](repeating: 1, count: 20_000))
        var wish = FileWish()
        for (room, isInline) in [
            (44_000, true), (21_024, true), (21_023, false), (0, false), (-5, false),
        ] {
            wish.room = room
            let file = try OutgoingFile(small, called: "a", wish, folders: [])
            #expect(file.isInline == isInline, "\(room)")
        }
        let empty = try OutgoingFile(source([], "b"), called: "b", wish, folders: [])
        #expect(empty.isInline)
        let large = try source([UInt8](repeating: 1, count: Limits.inlineFileByteCountMax + 1), "c")
        #expect(try OutgoingFile(large, called: "c", FileWish(), folders: []).isInline == false)
    }

    @Test("a text is no picture because of a word in it, and goes as it is")
    func texts() throws {
        for text in ["The wide sea", "2010 ftyp", "In 2010 WEBP came", "GIF8 me", "MM", "", "x"] {
            let bytes = Array(text.utf8)
            let file = try OutgoingFile(source(bytes), called: "x", FileWish(), folders: [])
            #expect(try content(file) == bytes, "\(text)")
            #expect(file.note == nil && !FileKind.mayTellPlaces(file.type), "\(text)")
        }
    }

    @Test("a file that changes while it is looked at is not sent")
    func changes() throws {
        let file = try source(RealPicture.jpeg())
        try file.requireUnchanged()
        let handle = try FileHandle(forWritingTo: URL(filePath: folder.home("a")))
        try handle.seek(toOffset: 100)
        try handle.write(contentsOf: Data([1, 2, 3]))
        try handle.close()
        #expect(throws: NodeError.self) { try file.requireUnchanged() }
        try FileManager.default.removeItem(atPath: folder.home("a"))
        #expect(throws: NodeError.self) { try FileSource(folder.home("a")) }
    }

    /// A second of silence and a second of sound.
    private static let recording: [UInt8] = {
        let samples = (0..<16_000).flatMap { index -> [UInt8] in
            let value = index < 8_000 ? 0 : Int16(20_000 * sin(Double(index) / 3))
            return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
        }
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        return Array("RIFF".utf8) + little(samples.count + 36, 4) + Array("WAVEfmt ".utf8)
            + little(16, 4) + little(1, 2) + little(1, 2) + little(8_000, 4) + little(16_000, 4)
            + little(2, 2) + little(16, 2) + Array("data".utf8) + little(samples.count, 4) + samples
    }()

    @Test(
        "a recording becomes a voice note with its length and its loudness", .enabled(if: hasFFmpeg)
    )
    func voice() throws {
        var wish = FileWish()
        wish.isVoice = true
        let note = try OutgoingFile(source(Self.recording), called: "note.wav", wish)
        #expect(note.type == "audio/ogg" && note.look.isVoice)
        #expect(abs(Int(note.look.duration) - 2_000) < 60)
        let bars = note.look.waveform
        #expect(bars.count == 64 && bars[..<30].allSatisfy { $0 < 20 })
        #expect(bars[35..<62].allSatisfy { $0 > 150 })
        // What is Opus already stays so.
        let again = try OutgoingFile(source(content(note), "b"), called: "b", wish)
        #expect(again.look.duration == note.look.duration)
        for bytes in [Array("no sound".utf8), RealPicture.jpeg(), Array(Self.recording.prefix(20))]
        {
            #expect(throws: NodeError.self) {
                _ = try OutgoingFile(source(bytes, "c"), called: "c", wish)
            }
        }
    }

    @Test("without a program that makes one, a recording is no voice note unless it is one already")
    func noProgram() throws {
        var wish = FileWish()
        wish.isVoice = true
        let error = #expect(throws: NodeError.self) {
            _ = try OutgoingFile(source(Self.recording), called: "a", wish, folders: [])
        }
        #expect(error?.code == "no-ffmpeg")
    }

    @Test("loudness is told apart, however the bytes come")
    func loudness() {
        var loudness = Loudness(stepSampleCount: 2)
        // Samples of 0, 0, 16,384, −16,384, 32,767, 32,767.
        let bytes: [UInt8] = [0, 0, 0, 0, 0, 0x40, 0, 0xC0, 0xFF, 0x7F, 0xFF, 0x7F]
        for byte in bytes { loudness.add([byte]) }
        #expect(loudness.bars(64) == [0, 127, 255])
        #expect(loudness.bars(1) == [255])
        #expect(Loudness(stepSampleCount: 2).bars(64) == [])
    }

    @Test("what a program says of a file is numbers, or nothing")
    func measures() {
        let said = MediaMeasures(
            "width=640\nheight=x\nduration=12.345\nduration=nan\nrm -rf=1\n=\n")
        #expect(said.width == 640 && said.height == 0 && said.duration == 12_345)
        let wild = MediaMeasures("width=-1\nduration=1e300\nduration=-5\nheight=99999999999")
        #expect(wild == MediaMeasures(""))
    }
}
