import ParleySimulation
import Testing

@testable import ParleyFiles

@Suite("What pictures tell")
struct MediaFormTests {
    private typealias Samples = MediaSamples

    private func form(_ bytes: [UInt8], _ container: MediaForm.Container) throws -> MediaForm {
        try MediaForm.read(SampleBytes(bytes), as: container)
    }

    @Test("Attack 240: nothing of where and with what they were made is left in them")
    func secrets() throws {
        for (name, container, bytes) in Samples.all where container != .wav && container != .ogg {
            #expect(bytes.contains(Samples.secret), "\(name)")
            let kept = try #require(cleaned(bytes, as: container), "\(name)")
            #expect(!kept.contains(Samples.secret), "\(name)")
            #expect(cleaned(kept, as: container) == kept, "\(name): once is enough")
        }
    }

    @Test("Attack 306: in videos nothing is left of it at any depth, nor between what is shown")
    func depths() throws {
        for (bytes, container, count) in [
            (Samples.mp4(), MediaForm.Container.isoMedia, 50), (Samples.pieces(), .isoMedia, 4),
            (Samples.webm, .matroska, 12), (Samples.heic(), .isoMedia, 10),
        ] {
            let places = bytes.indices.filter { bytes[$0...].starts(with: Samples.secret) }
            #expect(places.count > count)
            let kept = try #require(cleaned(bytes, as: container))
            #expect(kept.count == bytes.count)
            #expect(!kept.contains(Samples.secret) && !kept.contains(Samples.ascii("SECR")))
        }
        // Where it is not said what a piece of sound takes, what lies between stays.
        var sound = Samples.mp4()
        let sizes = try #require(sound.ranges(of: Samples.ascii("stsz")).dropFirst(2).first)
        sound[sizes.upperBound + 7] = 6
        let kept = try #require(cleaned(sound, as: .isoMedia))
        #expect(kept.contains(Samples.secret))
    }

    @Test("their measures are those that are shown, and stay")
    func measures() throws {
        let expected: [String: [UInt32]] = [
            "jpeg": [480, 640, 0], "png": [480, 640, 0], "gif": [640, 480, 0],
            "webp": [480, 640, 0], "heic": [640, 480, 0], "mp4": [480, 640, 2_500],
            "jxl": [0, 0, 0], "pieces": [0, 0, 0], "webm": [640, 480, 2_500], "wav": [0, 0, 2_500],
            "opus": [0, 0, 2_500],
        ]
        for (name, container, bytes) in Samples.all {
            for bytes in [bytes, cleaned(bytes, as: container) ?? []] {
                let form = try form(bytes, container)
                #expect([form.width, form.height, form.duration] == expected[name], "\(name)")
            }
        }
    }

    @Test("how a picture is turned stays, and where it is not turned nothing does")
    func orientation() throws {
        for orientation in 1...8 {
            for (container, bytes) in [
                (MediaForm.Container.jpeg, Samples.jpeg(orientation: orientation)),
                (.png, Samples.png(orientation: orientation)),
                (.webp, Samples.webp(orientation: orientation)),
            ] {
                let form = try form(bytes, container)
                #expect((form.width == 480) == (orientation > 4), "\(container) \(orientation)")
                let kept = try #require(cleaned(bytes, as: container))
                let says = kept.contains([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation)])
                #expect(says == (orientation > 1), "\(container) \(orientation)")
            }
        }
        // Nonsense is none.
        for value in [0, 9, 65_535] {
            #expect(try form(Samples.jpeg(orientation: value), .jpeg).width == 640)
        }
    }

    @Test("the picture itself, its colours and its movement stay")
    func pictures() throws {
        let jpeg = try #require(cleaned(Samples.jpeg(), as: .jpeg))
        #expect(jpeg.contains([1, 2, 0xFF, 0, 3, 0xFF, 0xD0, 4, 0xFF, 0xDA]))
        #expect(jpeg.contains(Array("ICC_PROFILE".utf8)) && jpeg.suffix(2) == [0xFF, 0xD9])
        let png = try #require(cleaned(Samples.png(), as: .png))
        #expect(png.contains(Samples.chunk("acTL", [0, 0, 0, 1, 0, 0, 0, 0])))
        // The block that says how it is turned has the sum that readers expect: zlib's, of 30 bytes.
        #expect(png.contains(Array("eXIf".utf8)) && png.contains(Samples.chunk("iCCP", [1, 2])))
        let gif = try #require(cleaned(Samples.gif, as: .gif))
        #expect(gif.contains(Array("NETSCAPE2.0".utf8)) && gif.last == 0x3B)
        let mp4 = try #require(cleaned(Samples.mp4(), as: .isoMedia))
        #expect(mp4.count == Samples.mp4().count, "nothing moves")
        #expect(mp4.contains([UInt8](repeating: 7, count: 12) + [UInt8](repeating: 0, count: 18)))
        #expect(mp4.contains([UInt8](repeating: 8, count: 12) + [UInt8](repeating: 0, count: 24)))
        #expect(mp4.contains(Samples.box("avcC", [1, 2, 3, 4])))
        #expect(mp4.contains(Samples.box("esds", [5, 6, 7, 8])))
        let webm = try #require(cleaned(Samples.webm, as: .matroska))
        #expect(webm.count == Samples.webm.count && webm.contains([0x80, 7, 7, 7]))
        #expect(webm.contains([0, 9, 9, 9]))
        let heic = try #require(cleaned(Samples.heic(), as: .isoMedia))
        #expect(heic.count == Samples.heic().count)
        #expect(heic.contains([UInt8](repeating: 7, count: 10) + [0, 0, 0, 0, 0x4D, 0x4D]))
        let file = SampleBytes(Samples.jpeg())
        let plain = try MediaForm.read(file, as: .jpeg, keepsColours: false)
        var edited = EditedFile(file, plain.edits)
        #expect(!(try edited.next(10_000).contains(Array("ICC_PROFILE".utf8))))
    }

    @Test("what is cut off is refused, or ends where the picture does")
    func cuts() throws {
        for (name, container, bytes) in Samples.all {
            for count in 0..<min(bytes.count, 600) {
                guard let kept = cleaned(Array(bytes[..<count]), as: container) else { continue }
                #expect(container == .wav || !kept.contains(Samples.secret), "\(name) \(count)")
            }
            #expect(cleaned([], as: container) == nil, "\(name)")
        }
    }

    @Test("what cannot be cleaned is said to be so")
    func uncleanable() throws {
        func failure(_ bytes: [UInt8], _ container: MediaForm.Container) -> FormFailure? {
            do { _ = try form(bytes, container) } catch { return error as? FormFailure }
            return nil
        }
        let raw = Samples.box("ftyp", Samples.ascii("crx ") + Samples.big(0, 4))
        #expect(failure(raw, .isoMedia) == .uncleanable)
        // Pieces of a track that has to go may lie anywhere.
        #expect(failure(Samples.mp4() + Samples.box("moof", []), .isoMedia) == .uncleanable)
        // An item in another file, and one that lies outside of the data.
        var heic = Samples.heic()
        let place = try #require(heic.firstRange(of: Array("iloc".utf8)))
        #expect(heic[place.upperBound + 8 + 17] == 2, "the second item")
        heic[place.upperBound + 8 + 21] = 1
        #expect(failure(heic, .isoMedia) == .uncleanable)
        let frame = [UInt8](repeating: 0, count: 16) + Samples.riff("evil", Samples.secret)
        let body =
            Samples.ascii("WEBP") + Samples.riff("VP8X", [UInt8](repeating: 0, count: 10))
            + Samples.riff("ANMF", frame)
        let webp = Samples.ascii("RIFF") + Samples.little(body.count, 4) + body
        #expect(failure(webp, .webp) == .uncleanable)
    }

    @Test("edits are made wherever pieces of the file begin and end")
    func editing() throws {
        let bytes = (0..<100).map { UInt8($0) }
        let file = SampleBytes(bytes)
        let edits = [
            FileEdit(start: 0, end: 3, with: .bytes([200])),
            FileEdit(start: 10, end: 10, with: .bytes([201, 202])),
            FileEdit(start: 10, end: 20, with: .zeros),
            FileEdit(start: 90, end: 100, with: .bytes([])),
        ]
        let expected =
            [200] + bytes[3..<10] + [201, 202] + [UInt8](repeating: 0, count: 10) + bytes[20..<90]
        for count in [1, 2, 3, 7, 64, 1_000] {
            var edited = EditedFile(file, edits)
            #expect(edited.byteCount == UInt64(expected.count))
            var all: [UInt8] = []
            while true {
                let part = try edited.next(count)
                if part.isEmpty { break }
                all += part
            }
            #expect(all == expected, "\(count) at a time")
        }
    }

    @Test("Attack 241: bytes turned over and moved trap nothing, and are cleaned once and for all")
    func mutations() throws {
        var random = SeededRandom(seed: 216, purpose: "media")
        for (name, container, bytes) in Samples.all {
            let base = Array(bytes.prefix(4_096))
            for _ in 0..<1_500 {
                var changed = base
                for _ in 0...Int.random(in: 0..<4, using: &random) {
                    let place = Int.random(in: 0..<changed.count, using: &random)
                    changed[place] =
                        [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)]
                        .randomElement(using: &random) ?? 0
                }
                guard let kept = cleaned(changed, as: container) else { continue }
                #expect(cleaned(kept, as: container) == kept, "\(name)")
            }
        }
    }
}
