/// How a node does, in the text format of OpenMetrics.
///
/// Source: OpenMetrics 1.0: every family has its type, unit and help before its samples, the samples of a
/// counter end in `_total`, and the text ends in `# EOF`.
struct Metrics {
    static let mediaType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    enum Kind: String { case counter, gauge, info }

    private var lines = ""

    /// A family with one sample.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
        begin(name, kind, help)
        sample(name, kind, [], value)
    }

    /// A family with a sample for each label, in their order.
    mutating func add(
        _ name: String, _ kind: Kind, _ help: String, by label: String, _ values: [String: Int]
    ) {
        begin(name, kind, help)
        for (word, value) in values.sorted(by: { $0.key < $1.key }) {
            sample(name, kind, [(label, word)], value)
        }
    }

    /// A family that says something that is no number.
    mutating func add(info name: String, _ help: String, _ labels: [(String, String)]) {
        begin(name, .info, help)
        sample(name, .info, labels, 1)
    }

    /// The whole text.
    var text: String { lines + "# EOF\n" }

    private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        lines += "# TYPE \(name) \(kind.rawValue)\n"
        if name.hasSuffix("_bytes") { lines += "# UNIT \(name) bytes\n" }
        lines += "# HELP \(name) \(Self.escaped(help))\n"
    }

    private mutating func sample(
        _ name: String, _ kind: Kind, _ labels: [(String, String)], _ value: some BinaryInteger
    ) {
        let suffix =
            switch kind {
            case .counter: "_total"
            case .gauge: ""
            case .info: "_info"
            }
        let words = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
        lines += name + suffix + (words.isEmpty ? "" : "{\(words)}") + " \(value)\n"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
