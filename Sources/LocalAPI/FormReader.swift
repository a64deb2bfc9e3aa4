internal import Parley

/// Finds out the form of a type's JSON by letting it decode itself from a value that is always there.
///
/// The members of an object are those its `init(from:)` decodes, in that order; those it decodes
/// with `decodeIfPresent` may be left out. So the parameters of a method need no list beside their
/// type.
enum FormReader {
    /// The schema of what this type decodes.
    ///
    /// - Throws: where a type refuses the texts and numbers that it is shown: it needs a
    ///   ``FormedValue``.
    static func form(of type: any Decodable.Type) throws -> ValueForm {
        try read(type).form
    }

    /// A value of a type, as it looks in JSON: every member is present and empty.
    static func example(of type: (some Codable).Type) throws -> JSONTree {
        try JSONTree(read(type).value)
    }

    /// The schema of what a type decodes, and the value decoded on the way.
    fileprivate static func read<T: Decodable>(_ type: T.Type) throws -> (value: T, form: ValueForm)
    {
        if let known = try known(type) { return known }
        let decoder = RecordingDecoder()
        let value = try T(from: decoder)
        return (value, decoder.record.form(named: name(of: type)))
    }

    /// What needs no decoder: primitive values, enumerations, and types that say their form.
    private static func known<T: Decodable>(_ type: T.Type) throws -> (value: T, form: ValueForm)? {
        func found(_ value: Any, _ form: ValueForm) -> (T, ValueForm)? {
            (value as? T).map { ($0, form) }
        }
        switch type {
        case is String.Type: return found("text", .text)
        case is Bool.Type: return found(true, .truth)
        case let type as any FixedWidthInteger.Type:
            return found(type.init(1), .integer(isSigned: type.isSigned))
        case is Double.Type: return found(1.0, .number)
        case let type as any FormedValue.Type: return found(type.formExample, type.form)
        case let type as any TextKeyed.Type:
            let (value, form) = try type.readForm()
            return found(value, form)
        case let type as any (CaseIterable & RawRepresentable).Type: return choice(type)
        default: return nil
        }
        func choice<C: CaseIterable & RawRepresentable>(_ type: C.Type) -> (T, ValueForm)? {
            let words = C.allCases.compactMap { $0.rawValue as? String }
            guard let first = C.allCases.first, !words.isEmpty else { return nil }
            return found(first, .choice(words))
        }
    }

    /// `NodeStatus.Link`, whatever module it is of.
    private static func name(of type: Any.Type) -> String {
        String(reflecting: type).split(separator: ".").dropFirst().joined(separator: ".")
    }
}

/// A type whose `init(from:)` does not tell the form of its JSON.
protocol FormedValue: Decodable {
    static var form: ValueForm { get }
    /// Any value of it.
    static var formExample: Self { get }
}

extension MessageReference: FormedValue {
    static var form: ValueForm { .either([.integer(isSigned: true), .text]) }
    static var formExample: MessageReference { 1 }
}

/// A dictionary by texts: an object whose members are not known beforehand.
private protocol TextKeyed {
    static func readForm() throws -> (value: Any, form: ValueForm)
}

extension Dictionary: TextKeyed where Key == String, Value: Decodable {
    fileprivate static func readForm() throws -> (value: Any, form: ValueForm) {
        let (value, form) = try FormReader.read(Value.self)
        return (["key": value], .map(of: form))
    }
}

/// What one decoder was asked for.
private final class FormRecord {
    /// Members in the order in which they were asked for; nil where it was asked for no object.
    var members: [ValueForm.Member]?
    var element: ValueForm?
    var single: ValueForm?

    func form(named name: String) -> ValueForm {
        if let single { return single }
        if let element { return .list(of: element) }
        return .object(name, members ?? [])
    }
}

private struct RecordingDecoder: Decoder {
    let record = FormRecord()
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        record.members = record.members ?? []
        return KeyedDecodingContainer(RecordingObject<Key>(record: record))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { RecordingList(record: record) }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        RecordingValue(record: record)
    }
}

/// Every member is present.
private struct RecordingObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let record: FormRecord
    /// The member that was asked for null: `decodeIfPresent` does so first.
    private let optional = FormRecord()
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    init(record: FormRecord) { self.record = record }

    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) -> Bool {
        note(key, .truth, isRequired: false, in: optional)
        return false
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let (value, form) = try FormReader.read(type)
        let isOptional = optional.members?.contains { $0.name == key.stringValue } ?? false
        note(key, form, isRequired: !isOptional, in: record)
        return value
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw FormReader.Unreadable() }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw FormReader.Unreadable()
    }

    func superDecoder() throws -> any Decoder { throw FormReader.Unreadable() }

    func superDecoder(forKey key: Key) throws -> any Decoder { throw FormReader.Unreadable() }

    private func note(_ key: Key, _ form: ValueForm, isRequired: Bool, in record: FormRecord) {
        record.members =
            (record.members ?? []) + [
                .init(name: key.stringValue, form: form, isRequired: isRequired)
            ]
    }
}

/// A list of one.
private struct RecordingList: UnkeyedDecodingContainer {
    let record: FormRecord
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 1 }
    var isAtEnd: Bool { currentIndex > 0 }

    init(record: FormRecord) { self.record = record }

    func decodeNil() -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let (value, form) = try FormReader.read(type)
        record.element = form
        currentIndex += 1
        return value
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { throw FormReader.Unreadable() }

    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw FormReader.Unreadable()
    }

    func superDecoder() throws -> any Decoder { throw FormReader.Unreadable() }
}

private struct RecordingValue: SingleValueDecodingContainer {
    let record: FormRecord
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let (value, form) = try FormReader.read(type)
        record.single = form
        return value
    }
}

extension FormReader {
    /// A type decodes in a way that is not followed here.
    struct Unreadable: Error {}
}
