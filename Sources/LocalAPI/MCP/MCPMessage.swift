internal import Foundation

/// A line from a client: a request, or a notification.
struct MCPMessage: Sendable {
    /// Nil of a notification.
    let id: RequestID?
    let method: String
    let parameters: [String: JSONTree]

    /// Reads a line; nil of an answer, for which nobody here has asked.
    ///
    /// - Throws: the failure, and whose it is: ``RequestID/none`` where that cannot be told.
    init?(_ bytes: [UInt8]) throws(MCPRefusal) {
        let tree: JSONTree
        do {
            tree = try JSONDecoder().decode(JSONTree.self, from: Data(bytes))
        } catch {
            throw MCPRefusal(id: .none, failure: .parse)
        }
        if case .list = tree { throw MCPRefusal(id: .none, failure: .batch) }
        guard case .object(let members) = tree else {
            throw MCPRefusal(id: .none, failure: .invalid("A message is a JSON object."))
        }
        let id = try Self.identifier(members["id"])
        func refuse(_ message: String) -> MCPRefusal {
            MCPRefusal(id: id ?? .none, failure: .invalid(message))
        }
        guard members["jsonrpc"] == "2.0" else { throw refuse("“jsonrpc” must be “2.0”.") }
        guard let method = members["method"] else {
            if members["result"] != nil || members["error"] != nil { return nil }
            throw refuse("A message has a “method”.")
        }
        guard case .text(let name) = method else { throw refuse("“method” must be a text.") }
        switch members["params"] {
        case nil: parameters = [:]
        case .object(let given): parameters = given
        default: throw refuse("“params” must be an object.")
        }
        (self.id, self.method) = (id, name)
    }

    private static func identifier(_ tree: JSONTree?) throws(MCPRefusal) -> RequestID? {
        switch tree {
        case nil: return nil
        case .integer(let number): return .number(number)
        case .text(let text) where text.utf8.count <= identifierByteCountMax: return .text(text)
        default:
            throw MCPRefusal(
                id: .none,
                failure: .invalid(
                    "“id” must be an integer, or a text of at most \(identifierByteCountMax) bytes."
                ))
        }
    }

    private static let identifierByteCountMax = 256
    private static let prefix = "io.modelcontextprotocol/"

    /// A member of what the protocol keeps for itself.
    func meta(_ name: String) -> JSONTree? { parameters["_meta"]?[Self.prefix + name] }
}

/// A failure, and the request that it answers.
struct MCPRefusal: Error, Sendable {
    let id: RequestID
    let failure: MCPFailure
}

extension RequestID {
    /// The identifier as it came.
    var tree: JSONTree {
        switch self {
        case .number(let number): .integer(number)
        case .text(let text): .text(text)
        case .none: .null
        }
    }
}

/// Cuts a stream of bytes into lines. One that is too long is passed over, and told.
public struct MCPLines: Sendable {
    private var rest: [UInt8] = []
    private var isPassing = false

    /// Nothing yet.
    public init() {}

    /// Takes bytes and returns the lines that are complete; nil for one that was too long.
    public mutating func add(_ bytes: some Collection<UInt8>) -> [[UInt8]?] {
        var lines: [[UInt8]?] = []
        var part = bytes[...]
        while let end = part.firstIndex(of: 0x0A) {
            keep(part[..<end])
            lines.append(isPassing ? nil : rest)
            (rest, isPassing) = ([], false)
            part = part[part.index(after: end)...]
        }
        keep(part)
        return lines
    }

    private mutating func keep(_ bytes: some Collection<UInt8>) {
        guard !isPassing else { return }
        guard rest.count + bytes.count <= MCP.lineByteCountMax else {
            (rest, isPassing) = ([], true)
            return
        }
        rest += bytes
    }
}
