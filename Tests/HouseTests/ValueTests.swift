import Testing

@Suite("Values of the core")
struct ValueTests {
    static func sample(_ text: String) -> SourceFile {
        SourceFile(path: "Sources/NodeCore/Timers.swift", text: text)
    }

    @Test("state that others may set is found, and what is computed or private is not")
    func state() {
        let file = Self.sample(
            """
            struct Timers: Sendable {
                static var a = 1
                let b: Int
                private var c = 2
                private(set) var d: Int
                var e: Int { 3 }
                var f: Int {
                    var g = 4
                    return g
                }
                var h: [Int] = []
                struct Inner { var i = 5 }
            }
            extension Timers {
                var j: Int
            }
            struct Other {
                var k = 6
            }
            """)
        #expect(Values.openState(file).map(\.line) == [11, 15])
    }

    @Test("verbs are counted over all extensions, and what is private is none")
    func verbs() {
        let file = Self.sample(
            """
            struct Timers {
                func a() -> Int { 1 }
                mutating func b(
                    _ c: Int
                ) {
                    func d() {}
                }
                private func e() {}
                @discardableResult mutating func f() -> Int { 2 }
            }
            extension Timers {
                static func g() {}
                mutating func h() {}
            }
            """)
        #expect(Values.verbs(of: "Timers", in: [file]).count == 4)
        let many = (0...Values.verbLimit).map { "    func f\($0)() {}\n" }.joined()
        let crowded = Self.sample("struct Timers {\n\(many)}\n")
        #expect(Values.crowded([crowded]) == ["Timers: 11 verbs"])
    }

    @Test("effects beside the turn are found")
    func effects() {
        let file = Self.sample("func a(_ effects: inout [Effect]) {}\n// inout [Effect]\n")
        #expect(Values.looseEffects(file).map(\.line) == [1])
    }

    @Test("no value has state that others may set, and no step effects beside its turn")
    func closed() {
        let found = SourceTree.swift.flatMap { Values.openState($0) + Values.looseEffects($0) }
        #expect(found.isEmpty, "\(list(found))")
    }

    @Test("every value that is named is there, and has few verbs")
    func few() {
        let files = SourceTree.swift
        for name in Values.names.sorted() {
            #expect(!Values.verbs(of: name, in: files).isEmpty, "\(name) has no verbs")
        }
        #expect(Values.crowded(files).isEmpty)
    }

    @Test("the core keeps no more than before")
    func core() {
        let stored = Values.storedProperties(of: "NodeCore", in: SourceTree.swift)
        #expect(stored.count <= Values.corePropertyLimit, "\(stored.count) stored properties")
        let core = SourceTree.swift.filter { $0.room == Values.room }
        let methods = core.flatMap { CallGraph.methods(of: "NodeCore", in: $0) }
        #expect(methods.count <= Values.coreMethodLimit, "\(methods.count) methods")
        // What is shown of it but not kept does not count.
        #expect(stored.count > 10)
    }
}
