/// Rows whose columns stand below each other. The last column is not cut.
struct Table {
    private static let columnCountMax = 32
    private var rows: [[String]] = []

    init(_ rows: [[String]] = []) { self.rows = rows }

    mutating func add(_ cells: String...) { rows.append(cells) }

    /// The lines, without spaces at their ends.
    var lines: [String] {
        let safe = rows.map { $0.map(harmless) }
        let count = safe.map(\.count).max() ?? 0
        let widths = (0..<count).map { index in
            min(
                Self.columnCountMax,
                safe.map { index < $0.count ? columnCount($0[index]) : 0 }.max() ?? 0)
        }
        return safe.map { cells in
            let shown = cells.enumerated().map { index, cell in
                index == cells.count - 1 ? cell : column(cell, widths[index])
            }
            let line = shown.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    var text: String { lines.joined(separator: "\n") }
}
