extension QRCode {
    /// Light modules on each side, without which cameras find nothing. The standard asks for four;
    /// two are enough on a screen, where they are white on purpose.
    private static let margin = 2

    /// Lines for a terminal, two rows of modules each, dark on light whatever its own colours are.
    var lines: [String] {
        stride(from: -Self.margin, to: size + Self.margin, by: 2).map { row in
            let cells = (-Self.margin..<size + Self.margin).map { column in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            // Black on white, then what was before.
            return "\u{1B}[38;5;16m\u{1B}[48;5;231m" + cells.joined() + "\u{1B}[0m"
        }
    }
}
