import ParleyWire

/// Things that people name by the first hex digits of a number, as reminders are.
struct DigitNames {
    /// Fewer digits name nothing.
    private static let digitCountMin = 4

    /// What one is called, and several: `reminder`, `reminders`.
    let one, many: String
    /// The code of an argument that can name none.
    let code: String
    /// The commands that list those that count, and all of them as JSON.
    let list, listAll: String
    /// That there is none of that name.
    let unknown: NodeError

    /// The number that an argument means: all its digits, or a start of them.
    func number(named argument: String, among numbers: [UInt64]) throws -> UInt64 {
        guard argument.count >= Self.digitCountMin,
            argument.unicodeScalars.allSatisfy({ $0.isASCII && $0.properties.isASCIIHexDigit })
        else {
            throw NodeError(
                code, "“\(argument)” is no identifier of a \(one), nor a start of one.",
                hint: "At least \(Self.digitCountMin) of its digits are needed: `\(list)` shows "
                    + "them.")
        }
        let found = numbers.filter { LogTag($0).description.hasPrefix(argument.lowercased()) }
        guard let first = found.first else { throw unknown }
        guard found.count == 1 else {
            throw NodeError(
                "ambiguous", "\(found.count) \(many) begin with “\(argument)”.",
                hint: "Give more digits: `\(listAll)` shows them all.")
        }
        return first
    }
}
