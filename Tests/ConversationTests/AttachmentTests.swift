import ParleyLedger
import ParleyPayloads
import ParleyWire
import Testing

@testable import ParleyConversation

@Suite("Files of a message")
struct AttachmentTests {
    private typealias File = ParleyConversation.Attachment
    private let blob = BlobID { $0[0] = 7 }
    private let key = [UInt8](repeating: 3, count: 32)

    private func read(_ files: [File]) -> [File] {
        let payload = TextMessage(text: "x", files: files).draft().payload
        return payload.flatMap { TextMessage(payload: $0)?.files } ?? []
    }

    @Test("come back as they were written")
    func roundTrip() {
        var look = File.Look()
        look.preview = [1, 2, 3]
        (look.width, look.height, look.duration) = (640, 480, 1_500)
        (look.waveform, look.isVoice) = ([0, 255], true)
        look.transcript = "hello"
        let files = [
            File(
                name: "hut.jpg", size: 70_000, type: "image/jpeg", content: .blob(blob, key: key),
                look: look),
            File(name: "", size: 0, type: "", content: .inline([])),
            File(name: "a", size: 2, type: "text/plain", content: .inline([1, 2])),
        ]
        #expect(read(files) == files)
        #expect(files.map(\.blob) == [blob, nil, nil])
    }

    @Test("name a shelf, but for files that are in the message; what is no key is none")
    func shelf() {
        var file = File(name: "a", size: 70_000, type: "", content: .blob(blob, key: key))
        file.shelf = DeviceID { $0[0] = 9 }
        #expect(read([file]) == [file])
        for bytes in [[], [1], [UInt8](repeating: 1, count: 33)] {
            var field = file.payload
            field.shelf = ParleyPayloads.field(bytes)
            #expect(File(field)?.blob == blob && File(field)?.shelf == nil)
        }
        var inline = File(name: "a", size: 1, type: "", content: .inline([1])).payload
        inline.shelf = ParleyPayloads.field([UInt8](repeating: 1, count: 32))
        #expect(File(inline) != nil && File(inline)?.shelf == nil)
    }

    @Test("are told of in receipts beside what was received and read")
    func held() {
        let progress = Receipts.Progress(tag: LogTag(7), places: PlaceSet(3..<9))
        let receipts = Receipts(read: [], delivered: [], held: [progress])
        let payload = receipts.draft().payload
        #expect(payload.flatMap { Receipts(payload: $0) } == receipts)
    }

    @Test("Attack 213: one that breaks a limit is left out, and too many are none")
    func limits() {
        func file(_ change: (inout PayloadAttachment) -> Void) -> File? {
            var field = File(
                name: "a", size: 70_000, type: "b/c", content: .blob(blob, key: key)
            ).payload
            change(&field)
            return File(field)
        }
        #expect(file { _ in } != nil)
        #expect(file { $0.name = String(repeating: "n", count: 255) } != nil)
        #expect(file { $0.name = String(repeating: "n", count: 256) } == nil)
        #expect(file { $0.type = String(repeating: "t", count: 128) } == nil)
        #expect(file { $0.size = 1 << 32 } != nil)
        #expect(file { $0.size = 1 << 32 + 1 } == nil)
        #expect(file { $0.size = .max } == nil)
        #expect(file { $0.size = 0 } == nil)
        #expect(file { $0.key = ParleyPayloads.field([1, 2, 3]) } == nil)
        #expect(file { $0.blob = ParleyPayloads.field([1]) } == nil)
        #expect(
            file { $0.preview = ParleyPayloads.field([UInt8](repeating: 0, count: 8_193)) } == nil)
        #expect(
            file { $0.waveform = ParleyPayloads.field([UInt8](repeating: 0, count: 129)) } == nil)
        // What is said in it is left out alone.
        let told = String(repeating: "t", count: 4_096)
        #expect(file { $0.transcript = told }?.look.transcript == told)
        let longer = file { $0.transcript = told + "t" }
        #expect(longer != nil && longer?.look.transcript == nil)
        // A content of another length than is said, or too long.
        let inline = File(name: "a", size: 3, type: "", content: .inline([1, 2]))
        #expect(read([inline]).isEmpty)
        let long = [UInt8](repeating: 0, count: Limits.inlineFileByteCountMax + 1)
        #expect(
            read([
                File(
                    name: "", size: BlobSize(clamping: UInt64(long.count)), type: "",
                    content: .inline(long))
            ])
            .isEmpty)
        let one = File(name: "a", size: 1, type: "", content: .inline([1]))
        #expect(read(Array(repeating: one, count: 16)).count == 16)
        #expect(read(Array(repeating: one, count: 17)).isEmpty)
        #expect(read([inline, one]) == [one])
    }
}

@Suite("Previews of links in messages")
struct LinkPreviewTests {
    private func read(_ text: String, _ preview: LinkPreview) -> LinkPreview? {
        TextMessage(text: text, link: preview).draft().payload.flatMap {
            TextMessage(payload: $0)?.link
        }
    }

    @Test("come back as they were written, beside their address")
    func roundTrip() {
        let preview = LinkPreview(
            address: "https://a.example/x", title: "A", description: "B", site: "C",
            picture: [1, 2])
        for text in [
            "https://a.example/x", "see (https://a.example/x), yes", "<https://a.example/x>",
            "first https://b.example/ then https://a.example/x.",
        ] {
            #expect(read(text, preview) == preview, "\(text)")
        }
    }

    @Test(
        "Attack 248: one whose address the text does not name, or that breaks a limit, is left out")
    func lies() {
        func preview(_ change: (inout LinkPreview) -> Void = { _ in }) -> LinkPreview {
            var preview = LinkPreview(address: "https://bank.example", title: "My bank")
            change(&preview)
            return preview
        }
        for text in [
            "https://evil.example", "https://bank.example.evil.example/", "https://bank.example/x",
            "https://bank.example@evil.example/", "bank.example", "HTTPS://bank.example", "",
            "xhttps://bank.example\u{200B}", "https://bank.example\u{301}",
        ] {
            #expect(read(text, preview()) == nil, "\(text)")
        }
        let text = "look: https://bank.example"
        #expect(read(text, preview()) != nil)
        #expect(read(text, preview { $0.title = String(repeating: "t", count: 300) }) != nil)
        #expect(read(text, preview { $0.title = String(repeating: "t", count: 301) }) == nil)
        #expect(
            read(text, preview { $0.description = String(repeating: "t", count: 1_001) }) == nil)
        #expect(read(text, preview { $0.site = String(repeating: "t", count: 101) }) == nil)
        #expect(read(text, preview { $0.picture = Array(repeating: 0, count: 8_193) }) == nil)
        let long = "https://a.example/" + String(repeating: "a", count: 2_031)
        #expect(read(long, preview { $0.address = long }) == nil)
    }
}
