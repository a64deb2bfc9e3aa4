import Foundation
import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("Commands about files")
struct FileCommandTests {
    private static func file(
        _ state: String, held: UInt64, size: UInt64 = 2_000_000
    ) -> FileView {
        FileView(
            number: 1, name: "hut.jpg", size: size, type: "image/jpeg", state: state,
            heldByteCount: held, width: 0, height: 0, duration: 0, isVoice: false,
            hasPreview: false, blob: String(repeating: "ab", count: 32))
    }

    /// A node on which a file comes, a state each time that somebody asks.
    private static func node(_ states: [FileView]) -> FakeNode {
        let node = FakeNode()
        let place = Place(states)
        node.answer(FetchFiles.self) { _, _ in
            var message = FakeNode.message(1, "look")
            message.files = [place.next()]
            return message
        }
        node.answer(ListMessageFiles.self) { _, _ in [place.next()] }
        return node
    }

    /// Where a list is that is read by many.
    private final class Place: @unchecked Sendable {
        // One command asks, one question after the other.
        private var states: [FileView]
        init(_ states: [FileView]) { self.states = states }
        func next() -> FileView { states.count > 1 ? states.removeFirst() : states[0] }
    }

    @Test func `programs are told how far a file is, an object a line, and nothing twice`() async {
        let node = Self.node([
            Self.file("absent", held: 0), Self.file("waiting", held: 0),
            Self.file("fetching", held: 500_000), Self.file("fetching", held: 500_000),
            Self.file("here", held: 2_000_000),
        ])
        let result = await Terminal(node: node).run("files", "get", "1", "--json")
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines.dropLast() == [
                #"{"bytes":0,"event":"fetching","name":"hut.jpg","of":2000000}"#,
                #"{"bytes":500000,"event":"fetching","name":"hut.jpg","of":2000000}"#,
                #"{"bytes":2000000,"event":"fetching","name":"hut.jpg","of":2000000}"#,
            ])
        #expect(lines.last?.contains(#""state":"here""#) == true)
    }

    @Test func `what does not fit is told, and not waited for`() async {
        let result = await Terminal(node: Self.node([Self.file("full", held: 0)]))
            .run("files", "get", "1")
        #expect(result.status == 1)
        #expect(result.talk.contains("does not fit") && result.talk.contains("files room --limit"))
    }

    @Test func `a bar is drawn for those who look at it, and where there is room`() {
        func text(_ columns: Int?, isTerminal: Bool = true) -> String {
            var screen = Screen(put: { _ in })
            (screen.isTerminal, screen.columnCount) = (isTerminal, columns)
            return FileProgress.text("fetching a", 500, of: 1_000, on: screen)
        }
        #expect(text(80) == "fetching a [###############---------------] 50 % of 1.0 kB")
        #expect(text(40) == "fetching a [#####------] 50 % of 1.0 kB")
        #expect(text(30) == "fetching a 50 % of 1.0 kB")
        #expect(text(nil, isTerminal: false) == "fetching a 50 % of 1.0 kB")
        let screen = Screen(put: { _ in })
        #expect(FileProgress.text("a", 0, of: 0, on: screen) == "a 100 % of 0 bytes")
        #expect(FileProgress.text("a", .max / 200, of: 1, on: screen) == "a 100 % of 1 byte")
    }

    /// What is said of a file that comes in a thousand steps, each of them told three times.
    private func lines(json: Bool) throws -> [Substring] {
        let said = Mutex("")
        var world = World()
        let screen = Screen(put: { text in said.withLock { $0 += text } })
        (world.output, world.talk) = (screen, screen)
        try World.$current.withValue(world) {
            let progress = FileProgress(json: json, pause: .zero)
            for _ in 0..<50 { progress.say("waiting for somebody who has a") }
            for step in 0...3_000 {
                try progress.show("fetching", "a", UInt64(step / 3), of: 1_000, at: 1)
            }
            progress.end()
        }
        return said.withLock { $0 }.split(separator: "\n")
    }

    @Test func `off a terminal no percent is told twice, and none to programs`() throws {
        let lines = try lines(json: false)
        #expect(lines.count == 102 && lines[0].hasPrefix("waiting") && lines[1].contains(" 0 % "))
        #expect(Set(lines).count == lines.count)
        let events = try self.lines(json: true)
        #expect(events.count == 101 && events.last?.contains("\"bytes\":1000") == true)
    }

    @Test func `numbers of bytes are read as people write them`() {
        let known: [(String, UInt64)] = [
            ("0", 0), ("512", 512), ("5k", 5_000), ("5M", 5_000_000), ("50G", 50_000_000_000),
            ("1T", 1_000_000_000_000), ("16MiB", 16 << 20), ("10gib", 10 << 30), ("3KB", 3_000),
            ("18446744073709551615", .max),
        ]
        for (text, count) in known {
            #expect(ByteCountArgument(argument: text)?.value == count, "\(text)")
        }
        for text in ["", "M", "-1", "1.5G", "1X", "1 G", "18446744073709551616", "99999999T", "1i"]
        {
            #expect(ByteCountArgument(argument: text) == nil, "\(text)")
        }
    }

    @Test func `what could run is not handed to another program`() throws {
        let place = FileManager.default.temporaryDirectory.appending(
            path: "parley-open-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        func why(_ name: String, _ text: String) throws -> String? {
            let path = place.appending(path: name)
            try Data(text.utf8).write(to: path)
            return OpenedFiles.whyRefused(path.path)
        }
        for (name, text) in [
            ("a.desktop", "x"), ("photo.jpg", "#!/bin/sh\nid"), ("photo.png", "\u{7F}ELF\u{2}"),
            ("a.txt", "\n\n[Desktop Entry]\nExec=id"), ("a", "MZ\u{0}"), ("b.SH", "id"),
            ("c.pdf", " <!DOCTYPE html><p>"), ("d.txt", "<svg onload=alert(1)>"), ("e.HTML", "x"),
            // Pages, office files that carry programs, and what leads to other machines.
            ("f.mhtml", "x"), ("g.mht", "x"), ("h.docm", "x"), ("i.XLSM", "x"), ("j.pptm", "x"),
            ("k.webloc", "x"), ("l.rdp", "x"), ("m.vnc", "x"), ("n.torrent", "x"), ("o.ps", "x"),
            ("p.eps", "x"), ("q.m3u", "x"), ("r.pls", "x"), ("s.xspf", "x"), ("t.iso", "x"),
        ] {
            #expect(try why(name, text) != nil, "\(name)")
        }
        for (name, text) in [
            ("a.txt", "hello"), ("b.jpg", "\u{FF}\u{D8}"), ("c.pdf", "%PDF-1.7"), ("d", "<x>"),
        ] {
            #expect(try why(name, text) == nil, "\(name)")
        }
        #expect(OpenedFiles.whyRefused(place.path + "/none") != nil)
    }

    @Test func `either a message or a conversation is forgotten`() async {
        let terminal = Terminal()
        for words in [["files", "forget"], ["files", "forget", "1", "--conversation", "trip"]] {
            #expect(await terminal.run(list: words).status != 0)
        }
        terminal.node.answer(ForgetFiles.self) { _, request in
            #expect(request.conversation == "trip" && request.anyway == nil)
            return FreedFiles(count: 2, byteCount: 3_000_000, onlyHereCount: 1)
        }
        let result = await terminal.run("files", "forget", "--conversation", "trip")
        let stayed = "1 file stayed: nobody who is reached says that they have it"
        #expect(result.output == "freed 2 files, 3.0 MB; \(stayed)\n")
    }
}
