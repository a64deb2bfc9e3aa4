import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("Logs that are brought in again", .timeLimit(.minutes(2)))
struct ImportAgainTests {
    @Test("grow, repeat on another day, and begin with a byte order mark")
    func again() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        #expect(try await Program.run("init", "--name", "ann", "--home", home).status == 0)
        func bring(_ name: String, _ text: String) async throws -> String {
            let file = folder.path + "/" + name
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            return try await Program.run(
                "import", "irc", file, "--into", "old", "--json", "--home", home
            ).output
        }
        func lines(_ count: Int) -> String {
            (0..<count).map { "[10:00] <a> line \($0)\n" }.joined()
        }
        #expect(try await bring("2021-03-01.log", lines(300)).contains(#""stored":300"#))
        let grown = try await bring("2021-03-01.log", lines(400))
        #expect(grown.contains(#""stored":100"#) && grown.contains(#""known":300"#), "\(grown)")
        let next = try await bring("2021-03-02.log", lines(400))
        #expect(next.contains(#""stored":400"#), "\(next)")
        let marked = try await bring("2021-03-03.log", "\u{FEFF}[09:00] <bot> good morning\n")
        #expect(marked.contains(#""stored":1"#), "\(marked)")
    }

    @Test(
        "stand as they stand in the file, where its clock counts twelve hours and where it is set back",
        arguments: [
            ("[11:59] <a> q1\n[00:00] <b> a1\n[00:13] <a> q2\n", "has a twelve-hour clock"),
            ("[10:00] <a> q1\n[09:59] <b> a1\n[10:01] <a> q2\n", "2006-01-02.log:2"),
        ])
    func order(text: String, word: String) async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        #expect(try await Program.run("init", "--name", "ann", "--home", home).status == 0)
        let file = folder.path + "/2006-01-02.log"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let report = try await Program.run("import", "irc", file, "--into", "old", "--home", home)
        #expect(report.output.contains(word), "\(report.output)")
        let read = try await Program.run("read", "old", "--home", home).output
        let places = ["q1", "a1", "q2"].map { read.range(of: $0)?.lowerBound }
        #expect(!places.contains(nil))
        #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted(), "\(read)")
    }
}

/// A log of one day, in which many say the same in the same minute.
private struct ChattyLog {
    let lines: [String]

    init(lineCount: Int, using random: inout SeededRandom) {
        var minute = 0
        lines = (0..<lineCount).map { _ in
            minute += Int.random(in: 0...9, using: &random) / 9
            let (name, text) = (
                Int.random(in: 0...2, using: &random), Int.random(in: 0...3, using: &random)
            )
            let clock = "[1\(minute / 60):\(minute % 60 / 10)\(minute % 10)]"
            return Bool.random(using: &random)
                ? "\(clock) <n\(name)> t\(text)" : "\(clock)  * n\(name) t\(text)"
        }
    }

    func part(using random: inout SeededRandom) -> ArraySlice<String> {
        let ends = (0..<2).map { _ in Int.random(in: 0...lines.count, using: &random) }.sorted()
        return lines[ends[0]..<ends[1]]
    }

    static func counts(_ lines: some Sequence<String>) -> [String: Int] {
        lines.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}

@Suite("Parts of a log", .timeLimit(.minutes(4)))
struct ImportPartsTests {
    private let folder: TemporaryFolder
    private let home: String

    init() async throws {
        folder = try TemporaryFolder()
        home = folder.home("a")
        #expect(try await Program.run("init", "--name", "ann", "--home", home).status == 0)
    }

    /// Brings a file in, and tells what was stored.
    private func stored(
        _ text: String, from name: String = "2004-12-25.log", into group: String = "old"
    ) async throws -> Int? {
        try await stored(Array(text.utf8), from: name, into: group)
    }

    private func stored(
        _ bytes: [UInt8], from name: String = "2004-12-25.log", into group: String = "old"
    ) async throws -> Int? {
        struct Report: Decodable { var stored: Int }
        let file = folder.path + "/" + name
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let output = try await Program.run(
            "import", "irc", file, "--into", group, "--json", "--home", home
        ).output
        let report = output.split(separator: "\n").first { $0.hasPrefix("{") }
        return try report.map { try JSONDecoder().decode(Report.self, from: Data($0.utf8)).stored }
    }

    @Test("that were cut at the end, at the beginning or through a line bring in what is missing")
    func cut() async throws {
        let lines = (0..<600).map { index in
            let clock = "[1\(index / 60):\(index % 60 / 10)\(index % 10)]"
            return "\(clock) <a> line \(index) ü\n"
        }
        let whole = lines.joined()
        #expect(try await stored(whole) == 600)
        #expect(try await stored(lines.prefix(310).joined()) == 0)
        #expect(try await stored(lines.suffix(200).joined(), from: "2004-12-25.1.log") == 0)
        // Through a word, and through a letter.
        #expect(try await stored(lines.prefix(9).joined() + "[10:09] <a> lin") == 0)
        #expect(try await stored(Array(lines.prefix(10).joined().utf8.dropLast(2))) == 0)
        // The end of a log first, and then all of it; at times that are still to come, too.
        let tomorrow = Date(timeIntervalSinceNow: 86_400).formatted(.iso8601.year().month().day())
        for name in ["2004-12-26.log", tomorrow + ".log"] {
            #expect(try await stored(lines.suffix(500).joined(), from: name, into: name) == 500)
            #expect(try await stored(whole, from: name, into: name) == 100)
            #expect(try await stored(whole + "[20:00] <a> bye\n", from: name, into: name) == 1)
        }
    }

    @Test("Attack 173: do not bring back what was deleted, and of that its length alone is kept")
    func deleted() async throws {
        let lines = ["noon", "past", "ok", "ok", "tea time"].map { "[12:00] <a> \($0)" }
        func log(_ range: Range<Int>) -> String { lines[range].map { $0 + "\n" }.joined() }
        #expect(try await stored(log(0..<4)) == 4)
        for text in ["past", "ok"] {
            let page = try await Program.run("read", "old", "--newest", "--json", "--home", home)
            let shown = try JSONDecoder().decode(MessagePage.self, from: Data(page.output.utf8))
            let number = try #require(shown.messages.first { $0.text == text }).number
            #expect(
                try await Program.run("delete", "\(number)", "--home", home).status == 0)
        }
        // Cut otherwise: nothing but the words tells what is in.
        #expect(try await stored(log(1..<5), from: "2004-12-25.1.log") == 1)
        #expect(try await stored(log(1..<3), from: "2004-12-25.2.log") == 0)
        // Through the deleted line.
        #expect(try await stored(log(0..<1) + "[12:00] <a> pa", from: "2004-12-25.3.log") == 0)
        // Of another author, of another time, and of another length nothing was deleted.
        let others = ["[12:00] <b> past", "[12:01] <a> past", "[12:00] <a> passed"]
        #expect(
            try await stored(
                others.joined(separator: "\n") + "\n", from: "2004-12-25.4.log") == 3)
        // As a person reads it.
        let file = folder.path + "/2004-12-25.5.log"
        try Data("[11:59] <b> hm\n\(lines[1])\n\(lines[4])\n".utf8)
            .write(to: URL(fileURLWithPath: file))
        let told = try await Program.run("import", "irc", file, "--into", "old", "--home", home)
        #expect(told.output.contains("1 of them was deleted since, and stays so"), "\(told.output)")
        let page = try await Program.run("read", "old", "--newest", "--json", "--home", home).output
        let shown = try JSONDecoder().decode(MessagePage.self, from: Data(page.utf8))
        let texts = shown.messages.compactMap(\.text).sorted()
        #expect(texts == ["hm", "noon", "ok", "passed", "past", "past", "tea time"], "\(texts)")
    }

    @Test("bring in exactly the lines that are not in, whatever part came before")
    func parts() async throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("seed of the parts: \(seed)")
        var random = SeededRandom(seed: seed)
        let log = ChattyLog(lineCount: 120, using: &random)
        var held: [String: Int] = [:]
        for round in 0..<10 {
            let part = round == 9 ? log.lines[...] : log.part(using: &random)
            // No line, no log: that is refused.
            guard !part.isEmpty else { continue }
            let counts = ChattyLog.counts(part)
            let new = counts.reduce(0) { $0 + max(0, $1.value - held[$1.key, default: 0]) }
            let text = part.joined(separator: "\n") + "\n"
            #expect(try await stored(text) == new, "seed \(seed), round \(round)")
            held.merge(counts) { max($0, $1) }
        }
        #expect(held == ChattyLog.counts(log.lines))
    }
}

/// Somebody brings in words under other names: who it was is seen beside them.
@Suite("Imported words", .timeLimit(.minutes(3)))
struct ImportProcessTests {
    @Test("are shown with who brought them in, on the screen and to programs, on both sides")
    func bringer() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let log = all.folder.path + "/2004-12-25.log"
        // As if ben had said so.
        try Data("[09:14] <ben> I owe ann a hundred\n[09:15] <zoe> me too\n".utf8)
            .write(to: URL(fileURLWithPath: log))
        #expect(try await all.ann.run("import", "irc", log, "--into", "club").status == 0)
        try await eventually("ben has it", on: [all.ben]) {
            try await all.texts("club", of: all.ben).count == 3
        }
        for (node, bringer) in [(all.ann, "ann"), (all.ben, "ann")] {
            let shown = try await node.run("read", "club").output
            for words in ["ben  I owe ann a hundred", "zoe  me too"] {
                #expect(shown.contains("\(words)  (imported by \(bringer))"), "\(shown)")
            }
            let page = try JSONDecoder().decode(
                MessagePage.self,
                from: Data(try await node.run("read", "club", "--newest", "--json").output.utf8))
            let own = try #require(page.messages.first { $0.text == "welcome" })
            #expect(!own.isImported && own.importedBy == nil)
            let imported = page.messages.filter(\.isImported)
            #expect(imported.map(\.author).sorted() == ["ben", "zoe"])
            #expect(imported.allSatisfy { $0.importedBy == bringer && $0.person == own.person })
        }
        let page = try await all.client(all.ann).perform(
            ReadMessages(conversation: "club", limit: 50))
        let owed = try #require(page.messages.first { $0.text?.hasPrefix("I owe") == true })
        let edited = try await all.ann.run("edit", "\(owed.number)", "I owe nobody")
        #expect(edited.status == 1 && edited.output.contains("it stays as it was said"))
        #expect(edited.output.contains("\(owed.number)` deletes it for everyone"))
        try await refuseTwice(log, all)
        try await all.end()
    }

    /// Once everybody had all of it twice, as soon as a second member brought the same log in.
    private func refuseTwice(_ log: String, _ all: Neighbours) async throws {
        let texts = try await all.texts("club", of: all.ben)
        let part = all.folder.path + "/2004-12-25.part.log"
        try Data("[09:15] <zoe> me too\n[09:16] <zoe> and more\n".utf8)
            .write(to: URL(fileURLWithPath: part))
        for (file, count) in [(log, "2 of 2"), (part, "1 of 2")] {
            let refused = try await all.ben.run("import", "irc", file, "--into", "club")
            #expect(refused.status == 1, "\(refused.output)")
            #expect(refused.output.contains("ann imported 2004-12-25"), "\(refused.output)")
            #expect(refused.output.contains("\(count) lines"), "\(refused.output)")
            #expect(refused.output.contains("with --anyway"), "\(refused.output)")
        }
        #expect(try await all.texts("club", of: all.ben) == texts)
        // Her own lines are no reason to ask her.
        let again = try await all.ann.run("import", "irc", log, "--into", "club")
        #expect(again.status == 0 && again.output.contains("0 messages"), "\(again.output)")
        let other = all.folder.path + "/2004-12-26.log"
        try Data("[09:14] <ben> another day\n".utf8).write(to: URL(fileURLWithPath: other))
        #expect(try await all.ben.run("import", "irc", other, "--into", "club").status == 0)
        let twice = try await all.ben.run("import", "irc", log, "--into", "club", "--anyway")
        #expect(twice.status == 0 && twice.output.contains("2 messages"), "\(twice.output)")
        #expect(try await all.texts("club", of: all.ben).count == texts.count + 3)
        try await eventually("ann has that", on: [all.ann]) {
            try await all.texts("club", of: all.ann).count == texts.count + 3
        }
    }
}
