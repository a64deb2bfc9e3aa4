import Parley

/// How far files are: a bar that is written over on a terminal, a line for each percent elsewhere, at most one
/// a second, and events for programs, at most one for each percent.
final class FileProgress {
    /// What `--json` says while files are on their way, one object a line.
    private struct Event: Encodable {
        /// `sealing`, before a message is sent, or `fetching`.
        var event: String
        /// What the file is called.
        var name: String
        /// Bytes that are done.
        var bytes: UInt64
        /// Bytes of the file.
        var of: UInt64
    }

    /// Columns of a bar, at most.
    private static let barColumnCountMax = 30

    private let isJSON: Bool
    private let line: ProgressLine
    /// The last reported percentage, by file: nothing is reported twice.
    private var said: [Int: UInt64] = [:]
    /// The last shown line: nothing is shown twice if it is not overwritten.
    private var lastText = ""

    /// - Parameter pause: between two lines; nil for what suits the screen.
    init(json: Bool, pause: Duration? = nil) {
        isJSON = json
        line = ProgressLine(pause: pause)
    }

    /// Says how far a file is.
    ///
    /// - Parameters:
    ///   - event: the action, such as `sealing`.
    ///   - place: tells it from others that are on their way.
    func show(
        _ event: String, _ name: String, _ bytes: UInt64, of size: UInt64, at place: Int
    ) throws {
        guard isJSON else {
            return showLine(
                Self.text("\(event) \(harmless(name))", bytes, of: size, on: World.current.talk))
        }
        let percent = Self.percent(bytes, of: size)
        guard said.updateValue(percent, forKey: place) != percent else { return }
        World.current.write(
            try Output.json(Event(event: event, name: name, bytes: bytes, of: size)))
        try World.current.checkOutput()
    }

    /// Says something else meanwhile; nothing to programs.
    func say(_ text: String) {
        if !isJSON { showLine(text) }
    }

    private func showLine(_ text: String) {
        guard World.current.talk.isTerminal || text != lastText else { return }
        line.show { _ in
            lastText = text
            return text
        }
    }

    func end() {
        if !isJSON { line.end() }
    }

    private static func percent(_ bytes: UInt64, of size: UInt64) -> UInt64 {
        size == 0 ? 100 : min(100, bytes * 100 / size)
    }

    /// `fetching hut.jpg [#####-----] 50 % of 3.2 MB`. The bar is for those who look at it, and where
    /// there is room for it.
    static func text(
        _ what: String, _ bytes: UInt64, of size: UInt64, on screen: Screen
    ) -> String {
        let percent = percent(bytes, of: size)
        let rest = "\(percent) % of \(FileLines.size(size))"
        let room = (screen.columnCount ?? 80) - what.count - rest.count - 5
        guard screen.isTerminal, room >= 5 else { return "\(what) \(rest)" }
        let count = min(room, barColumnCountMax)
        let done = Int(percent) * count / 100
        let bar =
            screen.styled(String(repeating: "#", count: done), .strong)
            + screen.styled(String(repeating: "-", count: count - done), .faint)
        return "\(what) [\(bar)] \(rest)"
    }
}
