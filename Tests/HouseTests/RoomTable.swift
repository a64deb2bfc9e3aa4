/// Who may know whom, as `Sources/README.md`, "Rooms" says it.
///
/// The table is read, not repeated: what newcomers are told is what is enforced. A row's third
/// column names, each in backticks, the rooms and the modules of others it may import. A room
/// brings along all that it may import itself; a module of others, C modules included, does not
/// travel: it stands in the row of every room that sees it.
struct RoomTable {
    /// A row of the table.
    struct Row: Equatable {
        let room: String
        let target: String
        let mayImport: [String]
        /// Above the line: no Foundation, no `async`, no clock, no randomness, no files.
        let isPure: Bool
        /// Marked *later*: no such folder yet.
        let isLater: Bool
    }

    let rows: [Row]

    /// The rows of the table under the heading "Rooms".
    init(markdown: String) {
        var rows: [Row] = []
        var isPure = true
        for line in Self.section("Rooms", of: markdown) where line.hasPrefix("|") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .dropFirst().dropLast().map(String.init)
            guard cells.count == 4 else { continue }
            if cells[0].contains("—") { isPure = false }
            let names = Self.inBackticks(cells[0])
            guard let room = names.first else { continue }
            let target = Self.inBackticks(cells[1]).first ?? "Parley" + room
            rows.append(
                Row(
                    room: room, target: target, mayImport: Self.inBackticks(cells[3]),
                    isPure: isPure, isLater: cells[0].contains("later")))
        }
        self.rows = rows
    }

    func row(_ room: String) -> Row? { rows.first { $0.room == room } }

    /// Every module that files of this room may import, Swift's own aside.
    func modules(for room: String) -> Set<String> {
        var modules: Set<String> = []
        var seen: Set<String> = [room]
        var waiting = row(room)?.mayImport ?? []
        let own = waiting
        while let name = waiting.popLast() {
            guard let other = row(name), !other.target.hasPrefix("C") else {
                if own.contains(name) { modules.insert(row(name)?.target ?? name) }
                continue
            }
            guard seen.insert(name).inserted else { continue }
            modules.insert(other.target)
            waiting += other.mayImport
        }
        return modules
    }

    private static func section(_ heading: String, of markdown: String) -> [Substring] {
        let lines = markdown.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(of: "## " + heading[...]) else { return [] }
        return Array(lines[(start + 1)...].prefix { !$0.hasPrefix("## ") })
    }

    private static func inBackticks(_ cell: String) -> [String] {
        let parts = cell.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }
}

/// The modules that a file imports, with the line of each.
func imports(of file: SourceFile) -> [(module: String, line: Int)] {
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "let", "var"]
    return file.codeLines.enumerated().compactMap { index, line in
        let words = line.split(whereSeparator: \.isWhitespace)
        guard let keyword = words.firstIndex(of: "import"),
            words[..<keyword].allSatisfy({ isModifier($0) })
        else { return nil }
        let rest = words[(keyword + 1)...].drop { kinds.contains($0) }
        guard let path = rest.first else { return nil }
        return (String(path.prefix { $0 != "." && $0 != ";" }), index + 1)
    }
}

private func isModifier(_ word: Substring) -> Bool {
    word.hasPrefix("@")
        || ["public", "package", "internal", "fileprivate", "private"].contains(word)
}

/// What a file imports that its room may not know.
func strangers(in file: SourceFile, table: RoomTable) -> [Finding] {
    guard let room = file.room else { return [] }
    // The language itself, which no room can do without.
    let known = table.modules(for: room).union(["Swift", "Synchronization"])
    return imports(of: file).filter { !known.contains($0.module) }.map {
        Finding(path: file.path, line: $0.line, what: "\(room) may not import \($0.module)")
    }
}
