@testable import ParleyLocalAPI

/// As much of JSON Schema as the description of the local API uses.
struct SchemaChecker {
    let document: JSONTree

    /// What a reference names: `#/components/schemas/NodeStatus`.
    func target(of reference: String) -> JSONTree? {
        guard reference.hasPrefix("#/") else { return nil }
        return reference.dropFirst(2).split(separator: "/")
            .reduce(Optional(document)) { $0?[String($1)] }
    }

    /// All references that stand anywhere in a value.
    static func references(in tree: JSONTree) -> [String] {
        switch tree {
        case .object(let members):
            (members["$ref"]?.text.map { [$0] } ?? [])
                + members.values.flatMap { references(in: $0) }
        case .list(let elements): elements.flatMap { references(in: $0) }
        case .null, .truth, .integer, .number, .text: []
        }
    }

    /// What is wrong with a value; empty where it fits.
    func faults(of value: JSONTree, by schema: JSONTree, at place: String = "") -> [String] {
        if let reference = schema["$ref"]?.text {
            guard let target = target(of: reference) else { return ["\(place): no \(reference)"] }
            return faults(of: value, by: target, at: place)
        }
        if let choices = schema["anyOf"]?.elements {
            let fits = choices.contains { faults(of: value, by: $0).isEmpty }
            return fits ? [] : ["\(place): fits none of \(choices.count)"]
        }
        if let words = schema["enum"]?.elements, !words.contains(value) {
            return ["\(place): \(value) is none of its words"]
        }
        switch (schema["type"]?.text, value) {
        case ("string", .text), ("boolean", .truth), ("number", .number), ("number", .integer):
            return []
        case ("integer", .integer(let number)):
            let isBelow = schema["minimum"] != nil && number < 0
            return isBelow ? ["\(place): \(number) is below 0"] : []
        case ("array", .list(let elements)):
            guard let items = schema["items"] else { return ["\(place): no items"] }
            return elements.flatMap { faults(of: $0, by: items, at: place + "[]") }
        case ("object", .object(let members)):
            return faults(of: members, by: schema, at: place)
        default:
            return ["\(place): \(value) is no \(schema["type"]?.text ?? "schema")"]
        }
    }

    private func faults(
        of members: [String: JSONTree], by schema: JSONTree, at place: String
    ) -> [String] {
        let required = schema["required"]?.elements.compactMap(\.text) ?? []
        let missing = required.filter { members[$0] == nil }.map { "\(place): no \($0)" }
        return missing
            + members.sorted { $0.key < $1.key }.flatMap { name, value -> [String] in
                let member = schema["properties"]?[name] ?? schema["additionalProperties"]
                guard let member else { return ["\(place): \(name) is not described"] }
                return faults(of: value, by: member, at: "\(place).\(name)")
            }
    }
}
