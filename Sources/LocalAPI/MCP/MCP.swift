/// The requests of a node as tools of the Model Context Protocol: for programs in which a language model
/// works, over the standard input and output of `parley mcp`.
///
/// **Contract.** One JSON-RPC 2.0 message per line. Both ways to begin are understood: requests that carry
/// their version, as revision 2026-07-28 has it, and the handshake of the revisions before. Every tool is
/// made of one request that `NodeRequests` lists. Those that read are always there; others only with an
/// ``MCPScope`` that the owner named at the start, and a client without it neither sees nor calls them.
///
/// **What it never does.** It asks the node for nothing but what a client calls by name. What stands in
/// messages is returned as data, and nothing here looks into it. No tool takes a file, a key or a setting.
///
/// Source: `Protocol/16-mcp.md`; modelcontextprotocol.io/specification/2026-07-28.
public enum MCP {
    /// The longest line that is taken, in bytes.
    public static let lineByteCountMax = 1 << 20
    /// Calls of a client that are answered at once; more are refused until one is done.
    static let callCountMax = 16
    /// Messages that are sent in a minute, at most.
    static let sentCountMax = 20
    /// Entries of a result take about so many bytes, at most, unless there is one alone.
    static let pageByteCountMax = 48 << 10
    /// Bytes of a message's text in a list; more of it is cut off, which is told.
    static let textByteCountMax = 4_000

    /// The revisions that carry their version with each request.
    static let modernVersions = ["2026-07-28"]
    /// Those that begin with a handshake, the newest first. Not 2025-03-26, whose batches are not taken.
    static let handshakeVersions = ["2025-11-25", "2025-06-18", "2024-11-05"]
}

/// What a client may do beyond reading.
public enum MCPScope: String, Sendable, CaseIterable {
    /// Keeps drafts, which nobody else sees.
    case draft
    /// Sends messages as the person.
    case send
}

/// How a client speaks.
enum MCPEra: Equatable, Sendable {
    /// Each request carries its version.
    case modern
    /// After a handshake, with the version that was agreed on.
    case handshake(String)
}

/// Why a line got no result. The numbers are those of JSON-RPC 2.0 and of the protocol.
struct MCPFailure: Error, Equatable, Sendable {
    var code: Int64
    var message: String
    var data: JSONTree?

    static let parse = MCPFailure(code: -32700, message: "The line is not JSON.")
    static let tooLong = MCPFailure(
        code: -32600, message: "A line can have at most \(MCP.lineByteCountMax) bytes.")
    static let batch = MCPFailure(
        code: -32600, message: "A line holds one message: batches are not taken.")
    static let tooMany = MCPFailure(
        code: -32603,
        message: "At most \(MCP.callCountMax) requests are answered at once. Wait for one of them.")

    static func invalid(_ message: String) -> MCPFailure {
        MCPFailure(code: -32600, message: message)
    }

    static func unknownMethod(_ name: String) -> MCPFailure {
        MCPFailure(code: -32601, message: "There is no method “\(name.prefix(64))”.")
    }

    static func parameters(_ message: String) -> MCPFailure {
        MCPFailure(code: -32602, message: message)
    }

    static func unsupported(_ version: String) -> MCPFailure {
        MCPFailure(
            code: -32022, message: "Unsupported protocol version",
            data: [
                "supported": .list(
                    (MCP.modernVersions + MCP.handshakeVersions).map { .text($0) }),
                "requested": .text(String(version.prefix(64))),
            ])
    }

    /// A resource that is not there: each era has its own number for that.
    static func noResource(_ address: String, _ era: MCPEra) -> MCPFailure {
        MCPFailure(
            code: era == .modern ? -32602 : -32002, message: "There is no such resource.",
            data: ["uri": .text(String(address.prefix(256)))])
    }

    /// The failure as it is sent.
    var tree: JSONTree {
        var members: [String: JSONTree] = ["code": .integer(code), "message": .text(message)]
        members["data"] = data
        return .object(members)
    }
}
