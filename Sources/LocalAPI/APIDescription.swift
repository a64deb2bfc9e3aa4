internal import Foundation
internal import Parley

/// The local API as an OpenRPC document, made from the declarations of the requests.
///
/// Nothing in it is written twice: names, sentences, scopes and examples are those of the requests,
/// and the schemas come from their decoders. Only `follow`, which the connection itself answers, is
/// described here. Source: OpenRPC 1.3.2, spec.open-rpc.org; JSON Schema draft 7.
public struct APIDescription: Encodable, Sendable {
    /// The document.
    let document: JSONTree

    /// The document of this program's requests.
    public init() throws {
        var schemas = SchemaTable()
        var methods: [JSONTree] = []
        for method in Method.all.sorted(by: { $0.request.name < $1.request.name }) {
            methods.append(try Self.description(of: method.request, method.parameters, &schemas))
        }
        methods.append(try Self.follow(&schemas))
        document = [
            "openrpc": "1.3.2",
            "info": [
                "title": "Parley", "version": "1",
                "description": .text(Self.contract),
            ],
            "methods": .list(methods),
            "components": ["schemas": .object(schemas.all)],
        ]
    }

    /// Writes the document itself.
    public func encode(to encoder: any Encoder) throws { try document.encode(to: encoder) }

    /// The document as text for people: its keys sorted, a member a line.
    public func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return String(decoding: try encoder.encode(document), as: UTF8.self)
    }

    private static let contract =
        "One JSON object per line over the socket in the node's home, in JSON-RPC 2.0. Parameters "
        + "are named; null means the same as leaving one out. x-scope is the scope that a "
        + "token needs."

    private static func description<R: NodeRequest>(
        of type: R.Type, _ parameters: [ValueForm.Member], _ schemas: inout SchemaTable
    ) throws -> JSONTree {
        try method(
            type.name, summary: type.summary, scope: type.scope, parameters: parameters,
            result: FormReader.form(of: R.Reply.self), example: JSONTree(type.example),
            reply: FormReader.example(of: R.Reply.self), &schemas)
    }

    private static func method(
        _ name: String, summary: String, scope: RequestScope, parameters: [ValueForm.Member],
        result: ValueForm, example: JSONTree, reply: JSONTree, _ schemas: inout SchemaTable
    ) -> JSONTree {
        let descriptors = parameters.map { parameter -> JSONTree in
            [
                "name": .text(parameter.name), "required": .truth(parameter.isRequired),
                "schema": schemas.schema(of: parameter.form),
            ]
        }
        let values = parameters.compactMap { parameter -> JSONTree? in
            example[parameter.name].map { ["name": .text(parameter.name), "value": $0] }
        }
        return [
            "name": .text(name), "summary": .text(summary), "paramStructure": "by-name",
            "params": .list(descriptors),
            "result": ["name": "result", "schema": schemas.schema(of: result)],
            "examples": [
                [
                    "name": "example", "params": .list(values),
                    "result": ["name": "form", "value": reply],
                ]
            ],
            "x-scope": .text(scope.rawValue),
        ]
    }

    /// What ``ServerConnection`` answers itself.
    private static func follow(_ schemas: inout SchemaTable) throws -> JSONTree {
        let cursor = FollowAnswer(cursor: "1a2b3c4d5.7")
        var method = method(
            "follow",
            summary: "Sends what changes from now on, or after a cursor, as notifications.",
            scope: .read, parameters: try FormReader.form(of: FollowParameters.self).members,
            result: try FormReader.form(of: FollowAnswer.self),
            example: try JSONTree(FollowParameters(after: cursor.cursor)),
            reply: try JSONTree(cursor), &schemas
        ).members
        method["x-notifications"] = [
            [
                "name": "change",
                "schema": schemas.schema(of: try FormReader.form(of: ChangeView.self)),
            ]
        ]
        return .object(method)
    }
}

/// JSON schemas; those of named objects stand once, and others refer to them.
private struct SchemaTable {
    private(set) var all: [String: JSONTree] = [:]

    mutating func schema(of form: ValueForm) -> JSONTree {
        switch form {
        case .text: return ["type": "string"]
        case .truth: return ["type": "boolean"]
        case .number: return ["type": "number"]
        case .integer(isSigned: true): return ["type": "integer"]
        case .integer(isSigned: false): return ["type": "integer", "minimum": .integer(0)]
        case .choice(let words): return ["type": "string", "enum": .list(words.map { .text($0) })]
        case .list(let element): return ["type": "array", "items": schema(of: element)]
        case .map(let value):
            return ["type": "object", "additionalProperties": schema(of: value)]
        case .either(let forms): return ["anyOf": .list(forms.map { schema(of: $0) })]
        case .object(let name, let members):
            all[name] = object(members)
            return ["$ref": .text("#/components/schemas/" + name)]
        }
    }

    private mutating func object(_ members: [ValueForm.Member]) -> JSONTree {
        var properties: [String: JSONTree] = [:]
        for member in members { properties[member.name] = schema(of: member.form) }
        let required = members.filter(\.isRequired).map { JSONTree.text($0.name) }
        return [
            "type": "object", "properties": .object(properties), "required": .list(required),
        ]
    }
}
