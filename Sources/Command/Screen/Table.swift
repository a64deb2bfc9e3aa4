/// Rows whose columns stand below each other. Columns in which nothing stands are left out, and
/// the last one is not cut.
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
        let safe = rows.map { $0.map(harmless) }
        let count = safe.map(\.count).max() ?? 0
        let widths = (0..<count).map { index in
            safe.map { index < $0.count ? columnCount($0[index]) : 0 }.max() ?? 0
        }
        return safe.map { cells in
            let shown = cells.enumerated().compactMap { index, cell -> String? in
                if widths[index] == 0 { return nil }
                if index == cells.count - 1 { return cell }
                return column(cell, min(widths[index], columnCountMax))
            }
            let line = shown.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    var text: String { lines.joined(separator: "\n") }
}
