internal import Foundation

/// Any JSON, assembled from parts.
enum JSONTree: Equatable, Sendable {
    case null
    case truth(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([JSONTree])
    case object([String: JSONTree])

    /// The JSON form of a value.
    init(_ value: some Encodable) throws {
        self = try JSONDecoder().decode(JSONTree.self, from: JSONEncoder().encode(value))
    }

    /// A member of an object; nil if there is none.
    subscript(name: String) -> JSONTree? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// Members by name; none of anything else.
    var members: [String: JSONTree] {
        if case .object(let members) = self { members } else { [:] }
    }

    /// Elements in their order; none of anything else.
    var elements: [JSONTree] {
        if case .list(let elements) = self { elements } else { [] }
    }

    /// The text; nil of anything else.
    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }
}

extension JSONTree: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        func read<T: Decodable>(_ type: T.Type) -> T? {
            // A failure means another type: a decoder reveals the type in no other way.
            try? container.decode(type)
        }
        // What is frequent comes first: each type that it is not costs an error.
        if container.decodeNil() {
            self = .null
        } else if let value = read(String.self) {
            self = .text(value)
        } else if let value = read([String: JSONTree].self) {
            self = .object(value)
        } else if let value = read([JSONTree].self) {
            self = .list(value)
        } else if let value = read(Bool.self) {
            self = .truth(value)
        } else if let value = read(Int64.self) {
            self = .integer(value)
        } else {
            self = .number(try container.decode(Double.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .truth(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByArrayLiteral, ExpressibleByBooleanLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(booleanLiteral value: Bool) { self = .truth(value) }
    init(arrayLiteral elements: JSONTree...) { self = .list(elements) }
    init(dictionaryLiteral members: (String, JSONTree)...) {
        self = .object(Dictionary(members, uniquingKeysWith: { $1 }))
    }
}
