import ArgumentParser
import Parley

/// Whether a text is also shown as a picture for a camera.
struct QROptions: ParsableArguments {
    @Flag(name: .long, inversion: .prefixedNo, help: "also show it as a QR code")
    var qr = true

    /// Shows a text as a picture, on a terminal that is wide enough.
    func show(_ text: String) {
        let world = World.current
        guard qr, world.talk.isTerminal, let code = QRCode(text) else { return }
        guard code.columnCount <= (world.talk.columnCount ?? .max) else {
            return world.say("its QR code needs a window of \(code.columnCount) columns")
        }
        for line in code.lines { world.say(line) }
    }
}

extension QRCode {
    /// Light modules on each side, without which cameras find nothing. The standard asks for four;
    /// two are enough on a screen, where they are white on purpose.
    private static let margin = 2

    /// Columns of a terminal that it takes.
    var columnCount: Int { size + 2 * Self.margin }

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
