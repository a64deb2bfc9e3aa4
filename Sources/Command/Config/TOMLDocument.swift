/// A text in TOML as far as a configuration needs it: tables, strings of all four kinds, whole numbers,
/// booleans, arrays and inline tables, each with its place. What no key takes (floats, dates, arrays of
/// tables) is refused by name.
///
/// Source: TOML 1.0.0, toml.io/en/v1.0.0. Why it is not a package: `Protocol/Decisions/0014-command-line.md`.
struct TOMLDocument: Equatable {
    /// A value, and where it stands.
    struct Item: Equatable {
        var value: Value
        var place: Place
        /// Which characters of the text it takes, as offsets in its Unicode scalars.
        var span: Range<Int>
    }

    indirect enum Value: Equatable {
        case string(String)
        case integer(Int)
        case boolean(Bool)
        case array([Item])
    }

    /// A line and a column, counted from 1; columns are Unicode scalars.
    struct Place: Equatable {
        var line: Int
        var column: Int
    }

    /// A key with its whole path, `notify.command`, and its value.
    struct Entry: Equatable {
        var path: [String]
        /// Where the key stands.
        var place: Place
        var item: Item
        /// `notify.command`.
        var name: String { path.joined(separator: ".") }
    }

    /// What makes a text no TOML, or none that is read here.
    struct Fault: Error, Equatable {
        var place: Place
        /// A sentence without its end.
        var what: String
    }

    /// In the order of the text.
    var entries: [Entry] = []
    var tables: [Table] = []

    /// A heading.
    struct Table: Equatable {
        var path: [String]
        var place: Place
        /// Where the line behind it begins, as an offset in Unicode scalars.
        var bodyStart: Int
    }

    init() {}

    /// Reads a text.
    init(_ text: String) throws(Fault) {
        var reader = TOMLReader(text)
        self = try reader.document()
    }

    /// A value as it is written.
    static func text(of value: Value) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .integer(let number): "\(number)"
        case .boolean(let isTrue): "\(isTrue)"
        case .array(let items):
            "[" + items.map { Self.text(of: $0.value) }.joined(separator: ", ") + "]"
        }
    }

    /// A basic string.
    static func quoted(_ text: String) -> String {
        let body = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "\n": "\\n"
            case "\t": "\\t"
            case "\r": "\\r"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                "\\u" + String(String(0x10000 + scalar.value, radix: 16).dropFirst())
            default: String(scalar)
            }
        }
        return "\"" + body.joined() + "\""
    }
}
