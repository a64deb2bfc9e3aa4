import ParleyConversation
import ParleyWire
import Testing

@testable import Parley

@Suite("Names and kinds of files")
struct FileNameTests {
    @Test(
        "Attack 212: a name leads nowhere, hides nothing and turns nothing round",
        arguments: [
            ("photo.jpg", "photo.jpg"), ("../../etc/passwd", "passwd"), ("/etc/shadow", "shadow"),
            ("..\\..\\boot.ini", "boot.ini"), (".bashrc", "bashrc"), ("--rf", "rf"),
            ("..", "file"), (".", "file"), ("", "file"), ("   ", "file"), ("a/", "a"),
            ("a\u{0}b", "a_b"), ("a\nb.txt", "a_b.txt"), ("\u{202E}gpj.exe", "_gpj.exe"),
            ("zero\u{200B}width", "zero_width"), ("CON:stream", "CON_stream"),
            ("e\u{301}t\u{E9}.txt", "\u{E9}t\u{E9}.txt"), ("👩‍👩‍👧.png", "👩‍👩‍👧.png"),
            ("trailing. . ", "trailing"), ("what?*<>|.txt", "what_____.txt"),
        ])
    func harmless(name: String, expected: String) {
        #expect(FileName.harmless(name) == expected)
        #expect(FileName.harmless(expected) == expected)
    }

    @Test("a name is no longer than file systems take, and keeps its ending")
    func long() {
        for letter in ["a", "é", "😀"] {
            let name = FileName.harmless(String(repeating: letter, count: 400) + ".tar.gz")
            #expect(name.utf8.count <= Limits.fileNameByteCountMax)
            #expect(name.hasSuffix(".gz"))
            #expect(FileName.numbered(name, 999).utf8.count <= Limits.fileNameByteCountMax)
        }
    }

    @Test("a number stands before the ending")
    func numbered() {
        #expect(FileName.numbered("a.jpg", 1) == "a.jpg")
        #expect(FileName.numbered("a.jpg", 2) == "a (2).jpg")
        #expect(FileName.numbered("a", 3) == "a (3)")
    }

    @Test("what a file is shows in how it begins, whatever it is called")
    func kinds() {
        #expect(FileKind.type(of: [0xFF, 0xD8, 0xFF, 0xE0]) == "image/jpeg")
        #expect(FileKind.type(of: Array("RIFF1234WEBPVP8 ".utf8)) == "image/webp")
        #expect(FileKind.type(of: Array("RIFF1234WAVEfmt ".utf8)) == "audio/wav")
        #expect(FileKind.type(of: Array("grüße".utf8)) == "text/plain")
        #expect(FileKind.type(of: Array(Array("grüße".utf8).prefix(3))) == "text/plain")
        #expect(FileKind.type(of: [0, 1, 2]) == "")
        #expect(FileKind.type(of: []) == "")
    }

    @Test("a type that breaks its form is not shown")
    func types() {
        #expect(FileKind.shown("image/jpeg") == "image/jpeg")
        for type in ["", "image", "a/b/c", "image/ jpeg", "text/\u{1B}[31m", "ü/b"] {
            #expect(FileKind.shown(type) == "")
        }
    }
}
