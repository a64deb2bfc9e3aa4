import Testing

@Suite("Rooms")
struct RoomTests {
    static let table = RoomTable(markdown: SourceTree.read("Sources/README.md") ?? "")
    static let sample = RoomTable(
        markdown: """
            ## Rooms
            | folder | target | sentence | may import |
            |---|---|---|---|
            | `CStone` | `CStone` | a C library | – |
            | `Wire` | `ParleyWire` | bytes | – |
            | `Seal` | `ParleySeal` | keys | `Wire`, `CStone` |
            | `Ledger` *later* | `ParleyLedger` | logs | `Seal` |
            | — | | above this line: pure | |
            | `Disk` | `ParleyDisk` | files | `Ledger`, `Foundation` |

            ## Other
            | `Not` | `ARoom` | x | y |
            """)

    @Test("the table is read")
    func reads() {
        #expect(Self.sample.rows.map(\.room) == ["CStone", "Wire", "Seal", "Ledger", "Disk"])
        #expect(Self.sample.rows.map(\.isPure) == [true, true, true, true, false])
        #expect(Self.sample.row("Ledger")?.isLater == true)
        #expect(Self.sample.modules(for: "Wire").isEmpty)
        #expect(Self.sample.modules(for: "Seal") == ["ParleyWire", "CStone"])
    }

    @Test("what a room brings along is its rooms, not others' modules")
    func closure() {
        #expect(Self.sample.modules(for: "Ledger") == ["ParleySeal", "ParleyWire"])
        #expect(
            Self.sample.modules(for: "Disk")
                == ["ParleyLedger", "ParleySeal", "ParleyWire", "Foundation"])
    }

    @Test(
        "every way to write an import is seen",
        arguments: [
            "import CStone", "public import CStone", "@testable import CStone",
            "import struct CStone.Key", "@preconcurrency internal import CStone",
        ])
    func importForms(text: String) {
        let file = SourceFile(
            path: "Sources/Ledger/Log.swift", text: "// import Foundation\n" + text)
        #expect(imports(of: file).map(\.module) == ["CStone"])
        #expect(strangers(in: file, table: Self.sample).map(\.line) == [2])
    }

    @Test("an allowed import passes, and so does a room above it")
    func allowed() {
        let text = "import Foundation\nimport ParleyWire\n"
        let below = SourceFile(path: "Sources/Disk/File.swift", text: text)
        let above = SourceFile(path: "Sources/Seal/Key.swift", text: text)
        #expect(strangers(in: below, table: Self.sample).isEmpty)
        #expect(strangers(in: above, table: Self.sample).count == 1)
    }

    @Test("each room knows only the rooms above it")
    func importsGoUp() {
        #expect(Self.table.rows.count > 5, "the table of Sources/README.md could not be read")
        let found = SourceTree.products.flatMap { strangers(in: $0, table: Self.table) }
        #expect(found.isEmpty, "\(list(found))")
    }

    @Test("every folder is in the table, and no folder is there that it calls later")
    func complete() {
        let rooms = Set(
            SourceTree.paths.filter { $0.hasPrefix("Sources/") }
                .map { $0.split(separator: "/") }.filter { $0.count > 2 }.map { String($0[1]) })
        let listed = Set(Self.table.rows.map(\.room))
        let later = Set(Self.table.rows.filter(\.isLater).map(\.room))
        #expect(rooms.subtracting(listed).isEmpty)
        #expect(rooms.intersection(later).isEmpty)
    }

    @Test("arrows only go up")
    func order() {
        for (index, row) in Self.table.rows.enumerated() {
            let above = Set(Self.table.rows[..<index].map(\.room))
            let rooms = Set(Self.table.rows.map(\.room)).intersection(row.mayImport)
            #expect(rooms.isSubset(of: above), "\(row.room) looks down the table")
        }
    }
}
