internal import Foundation
internal import Parley

/// A parameter of a tool: one of the request behind it, with what a client may put there.
struct MCPParameter: Sendable {
    /// What is let through, beside what the request's own form says.
    enum Bound: Equatable, Sendable {
        case plain
        /// A number from here to there.
        case number(ClosedRange<Int64>)
        /// A text of at most so many bytes.
        case text(Int)
        /// So many texts, each of at most so many bytes.
        case texts(ClosedRange<Int>, byteCount: Int)
        /// A day or a moment, as ISO 8601 has it; the request takes Unix milliseconds.
        case moment
    }

    let name: String
    let note: String
    let bound: Bound
    /// What is taken where nothing is given.
    let value: JSONTree?
    /// What the request reads.
    fileprivate(set) var form = ValueForm.text
    fileprivate(set) var isRequired = false

    init(_ name: String, _ note: String, _ bound: Bound = .plain, default value: JSONTree? = nil) {
        (self.name, self.note, self.bound, self.value) = (name, note, bound, value)
    }

    /// The same, with its form from the request's declaration.
    func of(_ method: Method) -> MCPParameter {
        guard let member = method.parameters.first(where: { $0.name == name }) else {
            preconditionFailure("\(method.request.name) has no parameter \(name)")
        }
        var parameter = self
        parameter.form = member.form
        parameter.isRequired = member.isRequired && value == nil
        return parameter
    }

    /// Its JSON schema.
    var schema: JSONTree {
        var members = form.inlined.members
        members["description"] = .text(note)
        members["default"] = value
        switch bound {
        case .plain: break
        case .number(let range):
            members["minimum"] = .integer(range.lowerBound)
            members["maximum"] = .integer(range.upperBound)
        case .text(let byteCount):
            members["minLength"] = .integer(1)
            members["maxLength"] = .integer(Int64(byteCount))
        case .texts(let range, let byteCount):
            members["minItems"] = .integer(Int64(range.lowerBound))
            members["maxItems"] = .integer(Int64(range.upperBound))
            members["items"] = [
                "type": "string", "minLength": .integer(1), "maxLength": .integer(Int64(byteCount)),
            ]
        case .moment:
            (members["type"], members["minimum"]) = ("string", nil)
        }
        return .object(members)
    }

    /// The value as the request takes it.
    ///
    /// - Throws: a sentence on what is wrong with it.
    func checked(_ value: JSONTree) throws(MCPMisuse) -> JSONTree {
        switch (bound, value) {
        case (.plain, _):
            guard form.takes(value) else { throw MCPMisuse("“\(name)” must be \(form.words).") }
        case (.number(let range), .integer(let number)):
            guard range.contains(number) else {
                throw MCPMisuse(
                    "“\(name)” must be from \(range.lowerBound) to \(range.upperBound).")
            }
        case (.text(let byteCount), .text(let text)):
            try check(text, byteCount, "“\(name)”")
        case (.texts(let range, let byteCount), .list(let texts)):
            guard range.contains(texts.count) else {
                throw MCPMisuse(
                    "“\(name)” must have from \(range.lowerBound) to \(range.upperBound) texts.")
            }
            for text in texts {
                guard case .text(let text) = text else {
                    throw MCPMisuse("“\(name)” must be a list of texts.")
                }
                try check(text, byteCount, "A text of “\(name)”")
            }
        case (.moment, .text(let text)):
            guard let moment = MCPTime.milliseconds(text) else {
                throw MCPMisuse(
                    "“\(name)” must be a day as 2026-12-01 or a moment as 2026-12-01T09:30:00Z.")
            }
            return .integer(moment)
        case (.number, _): throw MCPMisuse("“\(name)” must be an integer.")
        case (.text, _), (.moment, _): throw MCPMisuse("“\(name)” must be a text.")
        case (.texts, _): throw MCPMisuse("“\(name)” must be a list of texts.")
        }
        return value
    }

    private func check(_ text: String, _ byteCount: Int, _ what: String) throws(MCPMisuse) {
        guard (1...byteCount).contains(text.utf8.count) else {
            throw MCPMisuse("\(what) must have from 1 to \(byteCount) bytes.")
        }
    }
}

/// A wrong argument, as a sentence from which a model can do better.
struct MCPMisuse: Error, Equatable, Sendable {
    let sentence: String
    init(_ sentence: String) { self.sentence = sentence }
}

/// Times as clients read and write them.
enum MCPTime {
    /// The end of the year 9999: no number of another form comes near.
    private static let last = 253_402_300_799.0

    /// Unix milliseconds of a day, which begins in universal time, or of a moment; nil for anything else.
    static func milliseconds(_ text: String) -> Int64? {
        guard text.utf8.count <= 40 else { return nil }
        let styles: [Date.ISO8601FormatStyle] = [
            .iso8601, .iso8601.time(includingFractionalSeconds: true),
            .iso8601.year().month().day(),
        ]
        for (index, style) in styles.enumerated() {
            guard text.contains("T") == (index < 2) else { continue }
            // Not of this style is what the next one is tried for.
            guard let date = try? Date(text, strategy: style) else { continue }
            let seconds = date.timeIntervalSince1970
            guard (0...last).contains(seconds) else { return nil }
            return Int64(seconds * 1_000)
        }
        return nil
    }

    /// A moment in universal time.
    static func text(_ milliseconds: UInt64) -> String {
        let seconds = min(Double(milliseconds) / 1_000, last)
        return Date(timeIntervalSince1970: seconds).formatted(.iso8601)
    }
}

extension ValueForm {
    /// Its JSON schema, with everything in its place.
    var inlined: JSONTree {
        switch self {
        case .text: return ["type": "string"]
        case .truth: return ["type": "boolean"]
        case .number: return ["type": "number"]
        case .integer(isSigned: true): return ["type": "integer"]
        case .integer(isSigned: false): return ["type": "integer", "minimum": .integer(0)]
        case .choice(let words): return ["type": "string", "enum": .list(words.map { .text($0) })]
        case .list(let element): return ["type": "array", "items": element.inlined]
        case .map(let value): return ["type": "object", "additionalProperties": value.inlined]
        case .either(let forms): return ["anyOf": .list(forms.map(\.inlined))]
        case .object(_, let members): return Self.schema(of: members)
        }
    }

    /// An object with these members.
    static func schema(of members: [Member]) -> JSONTree {
        [
            "type": "object",
            "properties": .object(
                Dictionary(members.map { ($0.name, $0.form.inlined) }, uniquingKeysWith: { $1 })),
            "required": .list(members.filter(\.isRequired).map { .text($0.name) }),
        ]
    }

    /// Whether a value is of this form, at a glance: the request itself reads it.
    func takes(_ value: JSONTree) -> Bool {
        switch (self, value) {
        case (.text, .text), (.truth, .truth), (.integer, .integer), (.number, .integer),
            (.number, .number), (.list, .list), (.map, .object), (.object, .object):
            true
        case (.choice(let words), .text(let word)): words.contains(word)
        case (.either(let forms), _): forms.contains { $0.takes(value) }
        default: false
        }
    }

    /// What a value of this form is, in words.
    var words: String {
        switch self {
        case .text: "a text"
        case .truth: "true or false"
        case .number, .integer: "a number"
        case .choice(let words): "one of " + words.joined(separator: ", ")
        case .list: "a list"
        case .map, .object: "an object"
        case .either(let forms): forms.map(\.words).joined(separator: " or ")
        }
    }
}
