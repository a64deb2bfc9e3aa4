import Testing

@Suite("Numbers from outside in the sources")
struct OutsideNumberTests {
    @Test(
        "arithmetic on a decoded integer is seen, whatever stands around it",
        arguments: [
            "guard now.wall < content.expires + bound else { return }",
            "for day in start...(line.until + 1) {",
            "let version = max(0, now) + part.newest",
            "let age = now - signal.elapsed",
            "let end = message.began..<message.end", "x = welcome.counter << 16",
            "total += answer.duration", "a = b &- header.wallClock",
            "if (entry.counter)! * 2 > 9 {",
        ])
    func seen(line: String) {
        #expect(OutsideNumbers.computes(line[...]))
        let file = SourceFile(
            path: "Sources/NodeCore/Planted.swift", text: "func a() {\n\(line)\n}")
        #expect(OutsideNumbers.computations(in: [file]) == [file.path: 1])
    }

    @Test(
        "what compares one, hands it on or only has its name is not",
        arguments: [
            "guard now.wall < content.expires else { return }",
            "init(expires: UInt64, until: UInt64)",
            "let opened = invite.expires.raised(by: 5)",
            "case .stored(let counter): return counter",
            "let sum = count + 1, until = x", "func step(_ input: Input) -> [Effect] {",
            "x = (expires: a, until: b)", "counts[key] = counters + 1", "now + time(of: 3)",
        ])
    func unseen(line: String) {
        #expect(!OutsideNumbers.computes(line[...]))
    }

    @Test("a planted read of a bare integer is counted, one of a bounded number is not")
    func reads() {
        let text = """
            // reader.uint64()
            sent = try reader.uint64()
            day = try reader.bounded32()
            let (a, b) = (try reader.number(), try number())
            public mutating func uint16() throws -> UInt16 {
            """
        let path = "Sources/NodeCore/Planted.swift"
        #expect(OutsideNumbers.reads(in: [SourceFile(path: path, text: text)]) == [path: 3])
        let test = SourceFile(path: "Tests/NodeCoreTests/Planted.swift", text: text)
        #expect(OutsideNumbers.reads(in: [test]).isEmpty)
    }

    @Test("decoders read bounded numbers, but for those that the list explains")
    func decoders() {
        compare(OutsideNumbers.reads(in: SourceTree.products), with: OutsideNumbers.raw) {
            "\($0) reads \($1) bare integers, and \($2) are explained: use a `Bounded`"
        }
    }

    @Test("nobody computes with a decoded integer that no type bounds, but as the list explains")
    func arithmetic() {
        let found = OutsideNumbers.computations(in: SourceTree.products)
        compare(found, with: OutsideNumbers.arithmetic) {
            "\($0) computes with decoded integers in \($1) lines, and \($2) are explained: "
                + "use a `Bounded`"
        }
    }

    private func compare(
        _ found: [String: Int], with listed: [String: OutsideNumbers.Exemption],
        _ words: (String, Int, Int) -> String
    ) {
        for path in Set(found.keys).union(listed.keys).sorted() {
            let (count, known) = (found[path] ?? 0, listed[path]?.count ?? 0)
            #expect(count == known, "\(words(path, count, known))")
        }
    }
}
