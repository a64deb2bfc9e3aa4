import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Files between processes: what a person sees, and what is on the disks.
@Suite("Files", .serialized, .timeLimit(.minutes(4)))
struct FileProcessTests {
    private let place = FileManager.default.temporaryDirectory
        .appending(path: "parley-files-\(UUID().uuidString)")

    private func make(_ name: String, _ byteCount: Int, seed: UInt64 = 1) throws -> String {
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        var state = seed
        var bytes = Data(capacity: byteCount)
        while bytes.count < byteCount {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            withUnsafeBytes(of: state) { bytes.append(contentsOf: $0) }
        }
        let path = place.appending(path: name).path
        try bytes.prefix(byteCount).write(to: URL(filePath: path))
        return path
    }

    private func run(
        _ words: [String], at node: NodeProcess, fails: Bool = false
    ) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == (fails ? 1 : 0), "\(words): \(program.output)")
        return program.output
    }

    private func files(_ client: NodeClient) async throws -> [[FileView]] {
        try await client.perform(ListFiles()).entries.map(\.message.files)
    }

    private func cleanUp() { try? FileManager.default.removeItem(at: place) }

    @Test func `files arrive whole, are saved beside what is there, and go with their message`()
        async throws
    {
        defer { cleanUp() }
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let (small, large) = (try make("grüße 😀.txt", 20_000), try make("b.bin", 3_000_000))
        let shown = try await run(
            ["send", "ben", "look", "--file", small, "--file", large], at: all.ann)
        #expect(shown.contains("[grüße 😀.txt, 20 kB]") && shown.contains("[b.bin, 3.0 MB, "))
        let ben = try await all.client(all.ben)
        try await eventually("both are here", on: [all.ben]) {
            try await files(ben).first?.map(\.state) == ["here", "here"]
        }
        let entry = try #require(try await ben.perform(ListFiles()).entries.first)
        let id = entry.message.id
        let target = place.appending(path: "out").path
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        for (number, source) in [(1, small), (2, large)] {
            for round in 1...2 {
                let saved = try await run(
                    ["files", "save", id, target, "--number", "\(number)", "--json"], at: all.ben)
                let file = try JSONDecoder().decode(SavedFile.self, from: Data(saved.utf8))
                #expect(
                    try Data(contentsOf: URL(filePath: file.path))
                        == Data(contentsOf: URL(filePath: source)))
                #expect(file.path.contains(" (2)") == (round == 2))
            }
        }
        let taken = try await run(
            ["files", "save", id, "\(target)/b.bin", "--number", "2"], at: all.ben, fails: true)
        #expect(taken.contains("already exists"), "\(taken)")
        let which = try await run(["files", "save", id, target], at: all.ben, fails: true)
        #expect(which.contains("Choose one with --number, from 1 to 2."), "\(which)")
        // What is read by programs is the same.
        let bytes = try await ben.perform(
            ReadFile(message: MessageReference(id), number: 2, offset: 65_500, count: 100))
        let whole = try Data(contentsOf: URL(filePath: large))
        #expect(Data(base64Encoded: bytes.base64) == whole[65_500..<65_600])
        let many = try await ben.perform(
            ReadFile(message: MessageReference(id), number: 2, offset: 7, count: 500_000))
        #expect(Data(base64Encoded: many.base64) == whole[7..<500_007])
        let blob = try #require(entry.message.files[1].blob)
        _ = try await run(["delete", id], at: all.ann)
        func isThere(_ node: NodeProcess) -> Bool {
            FileManager.default.fileExists(atPath: "\(node.home)/files/\(blob)")
        }
        // It goes a moment after the deletion is on the disk, which no change tells of.
        for round in 0..<2_000 where isThere(all.ann) || isThere(all.ben) {
            _ = try await all.client(round % 2 == 0 ? all.ann : all.ben).perform(GetStatus())
        }
        #expect(!isThere(all.ann) && !isThere(all.ben))
        try await all.end()
    }

    /// Once it was said not to be there.
    @Test func `files are sent whose names are no UTF-8, each under a name of its own`()
        async throws
    {
        defer { cleanUp() }
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        func inFolder(_ line: String, fails: Bool = false) async throws -> String {
            let shell = try Program(
                [],
                by: [
                    "sh", "-c", "cd \"$2\" && exec \(line) --home \"$1\"", Program.path,
                    all.ann.home, place.path,
                ])
            #expect(try await shell.ended() == (fails ? 1 : 0), "\(line): \(shell.output)")
            return shell.output
        }
        let (first, second) = ("\"$(printf 'b\\377.txt')\"", "\"$(printf 'b\\376.txt')\"")
        _ = try await inFolder(
            "sh -c 'printf one > \"$1\"; printf two > \"$2\"' - \(first) \(second)")
        let sent = try await inFolder(
            "\"$0\" send ben both --file \(second) --file=\(first)")
        #expect(sent.contains("[b\u{FFFD}.txt, 3 bytes]"), "\(sent)")
        let ben = try await all.client(all.ben)
        try await eventually("both are here", on: [all.ben]) {
            try await files(ben).first?.map(\.state) == ["here", "here"]
        }
        let message = try #require(try await ben.perform(ListFiles()).entries.first).message
        #expect(message.files.map(\.name) == ["b\u{FFFD}.txt", "b\u{FFFD}.txt"])
        for (number, text) in [(1, "two"), (2, "one")] {
            let bytes = try await ben.perform(
                ReadFile(
                    message: MessageReference(message.id), number: number, offset: 0, count: 9))
            #expect(Data(base64Encoded: bytes.base64) == Data(text.utf8))
        }
        let none = try await inFolder(
            "\"$0\" send ben --file \"$(printf 'c\\377.txt')\"", fails: true)
        #expect(none.contains("c\u{FFFD}.txt cannot be read: No such file"), "\(none)")
        // A file whose name holds the sign that stands for such bytes is another one.
        let sign = try make("b\u{FFFD}.txt", 5)
        let plain = try await run(["send", "ben", "--file", sign], at: all.ann)
        #expect(plain.contains("[b\u{FFFD}.txt, 5 bytes]"), "\(plain)")
        try await all.end()
    }

    @Test func `a file goes on where it stopped, whoever is killed`() async throws {
        defer { cleanUp() }
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let source = try make("big.bin", 80_000_000)
        _ = try await run(["send", "ben", "--file", source], at: all.ann)
        var ben = try await all.client(all.ben)
        try await eventually("the message comes", on: [all.ben]) {
            try await files(ben).first?.first?.state == "absent"
        }
        let id = try #require(try await ben.perform(ListFiles()).entries.first).message.id
        _ = try await run(["files", "get", id, "--later"], at: all.ben)
        var (held, cutCount): (UInt64, Int) = (0, 0)
        for round in 0..<4 {
            // The first time at once: a quick machine has it all before it tells of some.
            if round > 0 {
                try await eventually("more of it comes", on: [all.ann, all.ben]) {
                    let file = try await files(ben).first?.first
                    return file?.state == "here" || (file?.heldByteCount ?? 0) > held
                }
            }
            let file = try #require(try await files(ben).first?.first)
            // A quick machine has all of it before it is killed often.
            guard file.state != "here" else { break }
            (held, cutCount) = (file.heldByteCount, cutCount + 1)
            let victim = round % 2 == 0 ? all.ben : all.ann
            try await victim.kill()
            _ = try await victim.start()
            ben = try await all.client(all.ben)
            let taken = try await ben.perform(GetStatus()).files.takenByteCount
            let now = try await files(ben).first?.first?.heldByteCount ?? 0
            #expect(taken < now + 100_000, "what is still to come takes nothing")
            #expect(now >= held, "what came is still here")
        }
        #expect(cutCount > 0, "it was all here before anybody was killed")
        _ = try await run(["files", "get", id], at: all.ben)
        let saved = place.appending(path: "saved.bin").path
        _ = try await run(["files", "save", id, saved], at: all.ben)
        #expect(
            try Data(contentsOf: URL(filePath: saved)) == Data(contentsOf: URL(filePath: source)))
        try await all.end()
    }

    /// Once it waited on for what was gone, and a check said that all was sound.
    @Test func `damage, and files that are nowhere any more, are told`() async throws {
        defer { cleanUp() }
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let source = try make("b.bin", 3_000_000)
        _ = try await run(["send", "ben", "--file", source], at: all.ann)
        let ben = try await all.client(all.ben)
        try await eventually("it is here", on: [all.ben]) {
            try await files(ben).first?.map(\.state) == ["here"]
        }
        let message = try #require(try await ben.perform(ListFiles()).entries.first).message
        let blob = try #require(message.files.first?.blob)
        #expect(try await all.ben.stop() == 0)
        let stored = URL(filePath: "\(all.ben.home)/files/\(blob)")
        var bytes = try Data(contentsOf: stored)
        bytes[100_000] ^= 1
        try bytes.write(to: stored)
        let found = try await run(["doctor"], at: all.ben, fails: true)
        #expect(found.contains("1 file, 3 MB, 1 part of 1 file is damaged"), "\(found)")
        #expect(found.contains("; the database itself is not damaged"), "\(found)")
        let told = try await run(["doctor", "--json"], at: all.ben, fails: true)
        #expect(told.contains("\"isDatabaseDamaged\":false"), "\(told)")
        #expect(told.contains("unsound") && !told.contains("\"damaged\""), "\(told)")
        let mended = try await run(["doctor", "--repair"], at: all.ben)
        #expect(mended.contains("Damaged parts of files were removed"), "\(mended)")
        // Whoever was asked a moment ago has not said that they have nothing.
        let why = try await run(["files", "why", message.id], at: all.ben)
        #expect(!why.contains("without having any of it"), "\(why)")
        // Now it lies nowhere: what these commands fetched from Ann is damaged again.
        #expect(try await all.ann.stop() == 0)
        for name in [blob, "\(blob).map"] {
            try FileManager.default.removeItem(atPath: "\(all.ann.home)/files/\(name)")
        }
        try bytes.write(to: stored)
        _ = try await run(["doctor", "--repair"], at: all.ben)
        _ = try await all.ann.start()
        _ = try await all.ben.start()
        let again = try await all.client(all.ben)
        try await eventually("ann was asked", on: [all.ann, all.ben]) {
            try await again.perform(ExplainFile(message: MessageReference(message.id)))
                .contains("Asked, without having any of it: ann.")
        }
        let get = try Program(["files", "get", message.id, "--home", all.ben.home])
        try await get.says("waiting for somebody who has b.bin")
        _ = try await run(["delete", message.id], at: all.ann)
        #expect(try await get.ended() == 1)
        #expect(get.output.contains("deleted"), "\(get.output)")
        try await all.end()
    }

    /// Once a repair removed them, and said that they would be fetched again.
    @Test func `a repair removes nothing of a file that nobody else is known to have`()
        async throws
    {
        defer { cleanUp() }
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        #expect(try await all.ben.stop() == 0)
        let source = try make("mine.bin", 300_000)
        _ = try await run(["send", "ben", "--file", source], at: all.ann)
        let ann = try await all.client(all.ann)
        let message = try #require(try await ann.perform(ListFiles()).entries.first).message
        let blob = try #require(message.files.first?.blob)
        #expect(try await all.ann.stop() == 0)
        let stored = URL(filePath: "\(all.ann.home)/files/\(blob)")
        let map = stored.appendingPathExtension("map")
        let whole = try Data(contentsOf: stored)
        // Its bytes are all there.
        try FileManager.default.removeItem(at: map)
        let found = try await run(["doctor"], at: all.ann, fails: true)
        let name = "“mine.bin” of message \(message.number) in “ben”"
        #expect(found.contains("Damaged: \(name); nobody else is known to"), "\(found)")
        let mended = try await run(["doctor", "--repair"], at: all.ann)
        #expect(mended.contains("Whole again: \(name)."), "\(mended)")
        let saved = place.appending(path: "saved.bin").path
        _ = try await run(["files", "save", message.id, saved], at: all.ann)
        #expect(
            try Data(contentsOf: URL(filePath: saved)) == Data(contentsOf: URL(filePath: source)))
        // A byte of it is not what it was.
        var bytes = whole
        bytes[100_000] ^= 1
        try bytes.write(to: stored)
        for isMapThere in [true, false] {
            if !isMapThere { try FileManager.default.removeItem(at: map) }
            let kept = try await run(["doctor", "--repair"], at: all.ann, fails: true)
            #expect(kept.contains("Nothing was removed of files that nobody"), "\(kept)")
            #expect(kept.contains("\(name); nobody else is known to have it: send it again."))
            #expect(!kept.contains("will be fetched again"), "\(kept)")
            #expect(try Data(contentsOf: stored) == bytes)
        }
        // Somebody has had it.
        try whole.write(to: stored)
        _ = try await run(["doctor", "--repair"], at: all.ann)
        for node in [all.ann, all.ben] { _ = try await node.start() }
        let ben = try await all.client(all.ben)
        let again = try await all.client(all.ann)
        try await eventually("ben has it", on: [all.ann, all.ben]) {
            let mine = try await again.perform(ListFiles()).entries.first?.message.files.first
            return try await files(ben).first?.map(\.state) == ["here"]
                && (mine?.holders == ["ben"] || mine?.receivers == ["ben"])
        }
        #expect(try await all.ann.stop() == 0)
        try bytes.write(to: stored)
        let dropped = try await run(["doctor", "--repair"], at: all.ann)
        #expect(dropped.contains("will be fetched again: \(name)."), "\(dropped)")
        _ = try await all.ann.start()
        _ = try await run(["files", "get", message.id], at: all.ann)
        #expect(try Data(contentsOf: stored) == whole)
        try await all.end()
    }

    /// Once a check passed over such a file, and sending it again left the message without it.
    @Test func `a sent file of which nothing is left is told, and whole once it is sent again`()
        async throws
    {
        defer { cleanUp() }
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        #expect(try await all.ben.stop() == 0)
        let source = try make("mine.bin", 140_000)
        _ = try await run(["send", "ben", "--file", source], at: all.ann)
        let ann = try await all.client(all.ann)
        let message = try #require(try await ann.perform(ListFiles()).entries.first).message
        let blob = try #require(message.files.first?.blob)
        #expect(try await all.ann.stop() == 0)
        for name in [blob, "\(blob).map"] {
            try FileManager.default.removeItem(atPath: "\(all.ann.home)/files/\(name)")
        }
        let missing = "Missing: “mine.bin” of message \(message.number) in “ben”; nobody else is"
        for words in [["doctor"], ["doctor", "--repair"]] {
            let found = try await run(words, at: all.ann, fails: true)
            #expect(found.contains("0 files, 0 MB, 1 missing"), "\(found)")
            #expect(found.contains("\(missing) known to have it: send it again."), "\(found)")
            #expect(!found.contains("Nothing was removed"), "\(found)")
        }
        _ = try await all.ann.start()
        _ = try await run(["send", "ben", "--file", source], at: all.ann)
        let again = try await all.client(all.ann)
        #expect(try await files(again).map { $0.map(\.state) } == [["here"], ["here"]])
        #expect(try await files(again).map { $0.map(\.blob) } == [[blob], [blob]])
        #expect(try await run(["doctor"], at: all.ann).contains("1 file, 0 MB"))
        // Nobody else has it: it is not given up by itself.
        let room = try await run(
            ["files", "room", "--limit", "1M", "--keep-days", "0"], at: all.ann)
        #expect(room.contains("of 1.0 MB"), "\(room)")
        let kept = try await run(["files", "forget", message.id], at: all.ann, fails: true)
        #expect(!kept.contains("freed 1"), "\(kept)")
        #expect(try await files(again).map { $0.map(\.state) } == [["here"], ["here"]])
        // Once somebody has had it, a repair has it brought again.
        _ = try await all.ben.start()
        let ben = try await all.client(all.ben)
        try await eventually("ben has it", on: [all.ann, all.ben]) {
            let mine = try await again.perform(ListFiles()).entries.map(\.message.files.first)
            return try await files(ben).map { $0.map(\.state) } == [["here"], ["here"]]
                && mine.contains { $0?.receivers == ["ben"] || $0?.holders == ["ben"] }
        }
        for node in [all.ann, all.ben] { #expect(try await node.stop() == 0) }
        for name in [blob, "\(blob).map"] {
            try FileManager.default.removeItem(atPath: "\(all.ann.home)/files/\(name)")
        }
        let brought = try await run(["doctor", "--repair"], at: all.ann)
        #expect(brought.contains("Missing files will be fetched again: “mine"), "\(brought)")
        #expect(brought.contains("1 to be fetched again"), "\(brought)")
        for node in [all.ann, all.ben] { _ = try await node.start() }
        _ = try await run(["files", "get", message.id], at: all.ann)
        #expect(try await run(["doctor"], at: all.ann).contains("1 file, 0 MB"))
        try await all.end()
    }

    @Test func `what cannot be sent is told before anything is sent`() async throws {
        defer { cleanUp() }
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        for path in ["/no/such/file", "/tmp", "/dev/zero"] {
            let told = try await run(["send", "ben", "--file", path], at: all.ann, fails: true)
            #expect(told.contains(path), "\(told)")
        }
        let small = try make("a", 1)
        let many = Array(repeating: ["--file", small], count: 17).flatMap { $0 }
        let told = try await run(["send", "ben"] + many, at: all.ann, fails: true)
        #expect(told.contains("at most 16 files"), "\(told)")
        #expect(try await files(all.client(all.ann)).isEmpty)
        try await all.end()
    }

    /// Once it was refused, without a word of the one that was gone, nor of which one stayed.
    @Test func `of two files the one that somebody else has is freed, and the other is named`()
        async throws
    {
        defer { cleanUp() }
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        _ = try await run(["files", "room", "--by-itself", "1M"], at: all.ben)
        let (small, large) = (try make("f1.bin", 700_000), try make("f2.bin", 3_000_000, seed: 2))
        _ = try await run(["send", "ben", "--file", small, "--file", large], at: all.ann)
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await eventually("ben has the first, and ann knows", on: [all.ann, all.ben]) {
            guard try await files(ben).first?.map(\.state) == ["here", "absent"] else {
                return false
            }
            return try await files(ann).first?.first?.holders == ["ben"]
        }
        let id = try #require(try await ann.perform(ListFiles()).entries.first).message.id
        let freed = try await run(["files", "forget", id], at: all.ann)
        let stayed = "“f2.bin” stayed: nobody who is reached says that they have it"
        #expect(freed.hasPrefix("freed 1 file, 70") && freed.hasSuffix("; \(stayed)\n"), "\(freed)")
        #expect(try await files(ann).first?.map(\.state) == ["absent", "here"])
        let refused = try await run(["files", "forget", id], at: all.ann, fails: true)
        #expect(refused.contains("says that they have “f2.bin”."), "\(refused)")
        try await all.end()
    }

    @Test func `files are freed, come again, and are opened as copies that cannot be changed`()
        async throws
    {
        defer { cleanUp() }
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let (large, script) = (try make("b.bin", 3_000_000), try make("hut.jpg", 40))
        try Data("#!/bin/sh\nid\n".utf8).write(to: URL(filePath: script))
        _ = try await run(["send", "ben", "--file", large, "--file", script], at: all.ann)
        let ben = try await all.client(all.ben)
        try await eventually("both are here", on: [all.ben]) {
            try await files(ben).first?.map(\.state) == ["here", "here"]
        }
        let id = try #require(try await ben.perform(ListFiles()).entries.first).message.id
        let freed = try await run(["files", "forget", id], at: all.ben)
        #expect(freed == "freed 1 file, 3.0 MB\n")
        #expect(try await files(ben).first?.map(\.state) == ["absent", "here"])
        let why = try await run(["files", "why", id, "--number", "1"], at: all.ben)
        #expect(why.contains("was removed"), "\(why)")
        let cache = place.appending(path: "cache").path
        let opened = try Program(
            ["files", "open", id, "--number", "1", "--copy", "--home", all.ben.home],
            environment: ["XDG_CACHE_HOME": cache, "XDG_RUNTIME_DIR": ""])
        #expect(try await opened.ended() == 0, "\(opened.output)")
        let path = opened.output.split(separator: "\n").last.map(String.init) ?? ""
        #expect(path.hasPrefix(cache + "/parley/opened/"), "\(path)")
        #expect(
            try Data(contentsOf: URL(filePath: path)) == Data(contentsOf: URL(filePath: large)))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o400)
        let refused = try Program(
            ["files", "open", id, "--number", "2", "--home", all.ben.home],
            environment: ["XDG_CACHE_HOME": cache, "XDG_RUNTIME_DIR": ""])
        #expect(try await refused.ended() == 1)
        #expect(refused.output.contains("it is a program"), "\(refused.output)")
        // Only ann is not known to have it any more.
        let room = try await run(
            ["files", "room", "--limit", "1M", "--keep-days", "0"], at: all.ben)
        #expect(room.contains("of 1.0 MB"), "\(room)")
        #expect(try await files(ben).first?.first?.state == "absent")
        let told = try await run(["files", "get", id], at: all.ben, fails: true)
        #expect(told.contains("does not fit"), "\(told)")
        #expect(try await run(["status"], at: all.ben).contains("no room"))
        _ = try await run(["files", "room", "--limit", "1G"], at: all.ben)
        try await eventually("it comes again", on: [all.ann, all.ben]) {
            try await files(ben).first?.first?.state == "here"
        }
        try await all.end()
    }

    /// Once reading was refused with the advice to read, and the doctor called it damage.
    @Test(
        "files of a home of which nothing can be written are read all the same",
        .enabled(if: FileProcessTests.canFreeze, "only root may make files that nobody can change"))
    func frozen() async throws {
        defer { cleanUp() }
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        _ = try await run(
            ["send", "ben", "look at this", "--file", try make("f.bin", 300_000)], at: all.ann)
        #expect(try await all.ann.stop() == 0)
        let home = all.ann.home
        #expect(Namespaces.run(["chattr", "-R", "+i", home]).status == 0)
        defer { _ = Namespaces.run(["chattr", "-R", "-i", home]) }
        let read = try await run(["read", "ben", "--newest"], at: all.ann)
        #expect(read.contains("look at this") && read.contains("[f.bin, 300 kB"), "\(read)")
        let doctor = try await run(["doctor"], at: all.ann)
        #expect(doctor.contains("1 file, ") && !doctor.contains("✗"), "\(doctor)")
        #expect(Namespaces.run(["chattr", "-R", "-i", home]).status == 0)
        try await all.end()
    }

    /// Whether files can be made here that not even their owner can write.
    private static let canFreeze: Bool = {
        let path = FileManager.default.temporaryDirectory.appending(
            path: "parley-frozen-\(UUID().uuidString)"
        ).path
        guard FileManager.default.createFile(atPath: path, contents: nil) else { return false }
        let canFreeze = Namespaces.run(["chattr", "+i", path]).status == 0
        _ = Namespaces.run(["chattr", "-i", path])
        // What stays of it is in the folder of temporary files.
        try? FileManager.default.removeItem(atPath: path)
        return canFreeze
    }()
}
