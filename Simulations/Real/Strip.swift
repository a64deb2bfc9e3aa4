/// The story of a run as a strip chart: a line for each change, a column for each node.
struct Strip {
    private static let width = 8
    private static let whatWidth = 34
    let users: [String]

    /// What stands above the columns.
    var header: String {
        row(at: "real", what: "what", cells: users)
    }

    /// One line: when, what happened, and how many operations each node holds. A letter in front
    /// names the side of the parting; who is out of reach has "-", and who is down "x".
    func line(at seconds: Double, what: String, held: [Int?], cuts: Cuts) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        let cells = zip(users, held).map { user, count in
            guard let count else { return "x" }
            if cuts.isAway(user) { return "- \(count)" }
            guard let side = cuts.side(of: user), cuts.groups.count > 1 else { return "\(count)" }
            return "\(letters[min(side, letters.count - 1)]) \(count)"
        }
        return row(at: Self.tenths(seconds), what: what, cells: cells)
    }

    private func row(at: String, what: String, cells: [String]) -> String {
        let columns = cells.map { Self.right(String($0.prefix(Self.width)), Self.width + 1) }
        let padded = what.padding(to: Self.whatWidth)
        return Self.right(at, 7) + "  " + padded + columns.joined()
    }

    /// Seconds with one decimal, as "12.3".
    static func tenths(_ seconds: Double) -> String {
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(abs(tenths) % 10)"
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }
}
