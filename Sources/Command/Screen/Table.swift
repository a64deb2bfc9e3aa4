/// Rows with aligned columns. Empty columns are left out. On a terminal long cells are cut, the
/// last one of a row continues below itself, and cells without room go on the next line, indented;
/// in a pipe of unknown width all of them are whole.
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
            guard let limit = screen.columnCount else { return width }
            return min(width, columnCountMax, max(Self.cellColumnsMin, limit - Self.indent.count))
        }
        return safe.flatMap { row($0, widths, to: screen.columnCount) }
    }

    /// How far what has no room on a row's first line is set in.
    private static let indent = String(repeating: " ", count: 4)
    /// A cell is cut to no fewer columns than these, however narrow the screen.
    private static let cellColumnsMin = 16
    /// A cell that is broken begins beside the others only where it has at least so many columns.
    private static let lastColumnsMin = 20

    /// One row, on as many lines as it needs.
    private func row(_ cells: [String], _ widths: [Int], to limit: Int?) -> [String] {
        let filled = cells.indices.filter { widths[$0] > 0 }
        guard let last = filled.last else { return [""] }
        var (lines, line, isFresh) = ([String](), "", true)
        for index in filled {
            let isWhole = index < cells.count - 1
            let cell = isWhole ? Columns.cut(cells[index], to: widths[index]) : cells[index]
            let needed = isWhole ? widths[index] : min(columnCount(cell), Self.lastColumnsMin)
            if !isFresh, let limit, columnCount(line) + 2 + needed > limit {
                lines.append(line)
                (line, isFresh) = (Self.indent, true)
            }
            if !isFresh { line += "  " }
            isFresh = false
            if index < last {
                line += column(cells[index], widths[index])
                continue
            }
            let margin = columnCount(line)
            let parts = Columns.wrap(cell, to: limit.map { $0 - margin })
            lines.append(line + parts[0])
            lines += parts.dropFirst().map { String(repeating: " ", count: margin) + $0 }
        }
        return lines.map(Self.trimmed)
    }

    var text: String { lines.joined(separator: "\n") }

    private static func trimmed(_ line: String) -> String {
        String(line[..<(line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex)])
    }
}
