/// Rows whose columns stand below each other. Columns in which nothing stands are left out. On a
/// terminal long cells are cut, and the last one of a row goes on below itself; in a pipe all of
/// them are whole.
struct Table {
    private let columnCountMax: Int
    private var rows: [[String]]

    init(_ rows: [[String]] = [], columnsMax columnCountMax: Int = 32) {
        self.rows = rows
        self.columnCountMax = columnCountMax
    }

    mutating func add(_ cells: String...) { rows.append(cells) }

    /// The lines, without spaces at their ends.
    var lines: [String] {
        let screen = World.current.output
        let safe = rows.map { $0.map(harmless) }
        let count = safe.map(\.count).max() ?? 0
        let widths = (0..<count).map { index in
            let width = safe.map { index < $0.count ? columnCount($0[index]) : 0 }.max() ?? 0
            return screen.columnCount == nil ? width : min(width, columnCountMax)
        }
        return safe.flatMap { cells -> [String] in
            let filled = cells.indices.filter { widths[$0] > 0 }
            guard let last = filled.last else { return [""] }
            let start = filled.dropLast().map { column(cells[$0], widths[$0]) + "  " }.joined()
            let margin = columnCount(start)
            let isWhole = last < cells.count - 1
            let lines = Columns.wrap(
                isWhole ? Columns.cut(cells[last], to: widths[last]) : cells[last],
                to: screen.columnCount.map { $0 - margin })
            return lines.enumerated().map { place, line in
                Self.trimmed(
                    (place == 0 ? start : String(repeating: " ", count: margin)) + line)
            }
        }
    }

    var text: String { lines.joined(separator: "\n") }

    private static func trimmed(_ line: String) -> String {
        String(line[..<(line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex)])
    }
}
