import ParleyConversation
import Testing

@testable import Parley
@testable import parley

@Suite("Files and links as lines")
struct MediaLineTests {
    private func file(_ change: (inout FileView) -> Void) -> FileView {
        var file = FileView(
            number: 1, name: "a.b", size: 3_100_000, type: "", state: "here",
            heldByteCount: 3_100_000, width: 0, height: 0, duration: 0, isVoice: false,
            waveform: [], transcript: nil, hasPreview: false, blob: nil)
        change(&file)
        return file
    }

    @Test("say what a file is, how large and how long")
    func files() {
        #expect(FileLines.text(file { _ in }) == "[a.b, 3.1 MB]")
        let picture = file { ($0.type, $0.width, $0.height) = ("image/jpeg", 4_032, 3_024) }
        #expect(FileLines.text(picture) == "[picture a.b, 4032×3024, 3.1 MB]")
        let video = file { ($0.type, $0.duration) = ("video/mp4", 31_000) }
        #expect(FileLines.text(video) == "[video a.b, 0:31, 3.1 MB]")
        let absent = file {
            ($0.type, $0.state, $0.heldByteCount) = ("audio/flac", "waiting", 0)
        }
        #expect(FileLines.text(absent) == "[sound a.b, 3.1 MB, waiting]")
    }

    @Test("show a voice note by its length and its loudness")
    func voices() {
        let voice = file {
            ($0.isVoice, $0.duration, $0.waveform) = (true, 12_000, [0, 31, 32, 128, 255])
            $0.transcript = "hi\u{1B}[31m"
        }
        #expect(FileLines.text(voice) == "[voice 0:12 ▁▁▂▅█]")
        #expect(FileLines.transcript(voice)?.contains("\u{1B}") == false)
        #expect(FileLines.text(file { $0.isVoice = true }) == "[voice 0:00]")
        let long = FileLines.bars((0..<64).map { UInt8($0 * 4) })
        #expect(long.count == 24 && long.first == "▁" && long.last == "█")
    }

    @Test("name a link's machine by its address, whatever the page calls itself")
    func links() throws {
        func text(_ address: String) -> String {
            LinkLines.text(
                LinkPreviewView(
                    .init(
                        address: address, title: "My bank\u{202E}", description: "",
                        site: "bank.example")))
        }
        #expect(text("https://evil.example/bank.example").hasPrefix("[link to evil.example: “"))
        #expect(
            text("https://bank.example@evil.example:80/x").hasPrefix("[link to evil.example:80: “"))
        #expect(!text("https://a.example").contains("\u{202E}"))
    }
}
