internal import Foundation
internal import Parley

/// Conversations as resources: `parley://conversation/ID`, and `…?cursor=CURSOR` for earlier pages.
extension MCPDesk {
    private static let prefix = "parley://conversation/"
    private static let cursorMark = "?cursor="
    private static let type: JSONTree = "application/json"

    static let templates: [JSONTree] = [
        [
            "uriTemplate": .text(prefix + "{conversation}{?cursor}"),
            "name": "conversation", "title": "A conversation", "mimeType": type,
            "description": .text(
                "The newest messages of a conversation, oldest first; with a cursor, the page above. "
                    + "“earlier” in the text is the address of the next page."),
        ]
    ]

    /// A page of the conversations.
    func resources(_ message: MCPMessage) async throws -> JSONTree {
        var arguments: [String: JSONTree] = [:]
        arguments["cursor"] = message.parameters["cursor"]
        let page = try await asking { try await MCPTool.conversations.call(arguments, on: node) }
        var result: [String: JSONTree] = [
            "resources": .list(
                page.entries.map { entry in
                    let name = clean(entry["name"]?.text ?? "")
                    return [
                        "uri": .text(Self.prefix + (entry["id"]?.text ?? "")),
                        "name": .text(name), "mimeType": Self.type,
                        "description": "Messages of the conversation, written by its members.",
                    ]
                })
        ]
        result["nextCursor"] = page.next.map { .text($0) }
        return .object(result)
    }

    /// A page of one conversation.
    func resource(_ message: MCPMessage, _ era: MCPEra) async throws -> JSONTree {
        guard case .text(let address) = message.parameters["uri"] else {
            throw MCPFailure.parameters("“resources/read” has a “uri”, a text.")
        }
        guard let (id, cursor) = Self.parts(of: address) else {
            throw MCPFailure.noResource(address, era)
        }
        var arguments: [String: JSONTree] = ["conversation": .text(id)]
        arguments["cursor"] = cursor.map { .text($0) }
        let page: MCPPage
        do {
            page = try await MCPTool.read.call(arguments, on: node)
        } catch let error as NodeError
            where ["unknown-conversation", "bad-cursor", "unknown-message"].contains(error.code)
        {
            throw MCPFailure.noResource(address, era)
        } catch let error as NodeError {
            throw MCPFailure(code: -32603, message: clean(error.message))
        }
        var members = try page.tree(isOfOthers: true, clean).members
        members["nextCursor"] = nil
        members["earlier"] = page.next.map { .text(Self.prefix + id + Self.cursorMark + $0) }
        let text = String(decoding: try line(JSONTree.object(members)).dropLast(), as: UTF8.self)
        return [
            "contents": [
                ["uri": .text(address), "mimeType": Self.type, "text": .text(text)]
            ]
        ]
    }

    /// The conversation and the cursor of an address; nil where it has another form.
    private static func parts(of address: String) -> (id: String, cursor: String?)? {
        guard address.utf8.count <= 512, address.hasPrefix(prefix) else { return nil }
        let rest = address.dropFirst(prefix.count)
        let (id, mark): (Substring, Range<Substring.Index>?)
        mark = rest.range(of: cursorMark)
        id = mark.map { rest[..<$0.lowerBound] } ?? rest
        let cursor = mark.map { String(rest[$0.upperBound...]) }
        // Names, which others choose, are no addresses.
        guard id.utf8.count == 64, isOfDigits(id), cursor.map({ isOfDigits($0) }) ?? true else {
            return nil
        }
        return (String(id), cursor)
    }

    /// Letters, digits and hyphens, as names of messages have them.
    private static func isOfDigits(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
            }
    }

    /// What the node refuses, as a failure.
    private func asking<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch let misuse as MCPMisuse {
            throw MCPFailure.parameters(misuse.sentence)
        } catch let error as NodeError {
            throw MCPFailure(code: -32603, message: clean(error.message))
        }
    }
}
