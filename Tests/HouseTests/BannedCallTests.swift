import Testing

@Suite("Banned calls")
struct BannedCallTests {
    static func file(_ text: String) -> SourceFile {
        SourceFile(path: "Sources/Wire/Sample.swift", text: text)
    }

    @Test(
        "a pure room is caught doing something of its own accord",
        arguments: [
            "func f() async {}", "await g()", "Task { g() }", "let now = Date()", "print(x)",
            "let c = ContinuousClock()", "Int.random(in: 0..<9)", "list.shuffled()", "UUID()",
            "let h = x.hashValue", "let now = Date.init(", "DispatchQueue.main",
        ])
    func pure(text: String) {
        let isCaught = !BannedCalls.inPureRoom(Self.file(text)).isEmpty
        #expect(isCaught == (text != "let now = Date.init("))
    }

    @Test(
        "a pure room may speak of it, take it as an argument, and use longer words",
        arguments: [
            "// await Task", "let text = \"print(\"", "Int.random(in: 0..<9, using: &random)",
            "let asynchronous = 1", "func fingerprint() {}", "let update = Update()",
            "let taskCount = 1",
        ])
    func pureAllows(text: String) {
        #expect(BannedCalls.inPureRoom(Self.file(text)).isEmpty)
    }

    @Test("a loop over keys needs an order")
    func loops() {
        #expect(BannedCalls.unorderedLoops(Self.file("for a in b.keys {")).count == 1)
        #expect(BannedCalls.unorderedLoops(Self.file("for a in b.keys.sorted() {")).isEmpty)
        #expect(BannedCalls.unorderedLoops(Self.file("// A sum.\nfor a in b.values {")).isEmpty)
    }

    @Test(
        "what crashes or hides an error is caught",
        arguments: [
            "let a = try! f()", "let b = c as! D", "fatalError(\"no\")", "let a = try? f()",
            "class A: @unchecked Sendable {}", "nonisolated(unsafe) var a = 1",
            "a.removeFirst()", "a = Array(a.dropFirst())", "b.a = Array(b.a.dropFirst(1))",
        ])
    func product(text: String) {
        #expect(BannedCalls.inProduct(Self.file(text)).count == 1)
    }

    @Test(
        "a reason excuses what has one",
        arguments: [
            "let a = try? f()  // absent is as good as empty",
            "// Absent is as good as empty.\nlet a = try? f()",
            "/// Guarded by the lock.\n@available(*, deprecated)\nclass A: @unchecked Sendable {}",
        ])
    func productAllows(text: String) {
        #expect(BannedCalls.inProduct(Self.file(text)).isEmpty)
    }

    @Test(
        "taking from the front of a slice is fine, and many at a time, and of another array",
        arguments: [
            "a = a.dropFirst()", "a = Array(b.dropFirst())", "let b = Array(a.dropFirst())",
            "c.a = Array(a.dropFirst())", "a = Array(a.dropFirst(count))",
        ])
    func slices(text: String) {
        #expect(BannedCalls.inProduct(Self.file(text)).isEmpty)
    }

    @Test("a reason excuses no crash")
    func noExcuse() {
        #expect(BannedCalls.inProduct(Self.file("// never fails\nlet a = try! f()")).count == 1)
    }

    @Test("a sleep in a test needs a reason")
    func sleeps() {
        #expect(BannedCalls.inTest(Self.file("try await Task.sleep(for: .seconds(1))")).count == 1)
        #expect(BannedCalls.inTest(Self.file("// polls a process\nusleep(10)")).isEmpty)
    }

    @Test("work that was left is caught")
    func left() {
        #expect(BannedCalls.leftovers(Self.file("// FIX" + "ME: later")).map(\.line) == [1])
    }

    @Test("pure rooms do nothing of their own accord")
    func pureRooms() {
        let pure = Set(
            RoomTests.table.rows.filter(\.isPure).map(\.room) + ["Simulation", "Disk", "Simulate"])
        let files = SourceTree.products.filter { pure.contains($0.room ?? "") }
        let found = files.flatMap { BannedCalls.inPureRoom($0) + BannedCalls.unorderedLoops($0) }
        #expect(files.count > 3)
        #expect(found.isEmpty, "\(list(found))")
    }

    @Test("nothing that is shipped crashes on purpose or hides an error")
    func products() {
        let found = SourceTree.products.flatMap(BannedCalls.inProduct)
        #expect(found.isEmpty, "\(list(found))")
    }

    @Test("no test sleeps without saying why")
    func tests() {
        let found = SourceTree.swift.filter(\.isTest).flatMap(BannedCalls.inTest)
        #expect(found.isEmpty, "\(list(found))")
    }

    @Test("no work was left marked in a file")
    func leftovers() {
        let found = SourceTree.files.flatMap(BannedCalls.leftovers)
        #expect(found.isEmpty, "\(list(found))")
    }
}
