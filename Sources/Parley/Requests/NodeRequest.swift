/// One thing that can be asked of a node: its name, its parameters, and the form of its answer.
///
/// The parameters are the stored properties. The local API, its schema, the client and the fake node of
/// the tests are made from this declaration and ``NodeRequests/all``.
///
/// Identifiers are lower-case hex; a `conversation` argument also takes a name or a start of the
/// identifier, and a `person` argument a name, alias or start of an identifier. Eight hex digits and
/// more are always an identifier, never a name; what fits two is refused.
public protocol NodeRequest: Codable, Sendable {
    /// The reply; ``NoReply`` if there is none.
    associatedtype Reply: Codable & Sendable
    /// The method of the local API.
    static var name: String { get }
    /// The scope of a token.
    static var scope: RequestScope { get }
    /// One sentence for the reference and the schema.
    static var summary: String { get }
    /// A request as somebody would make it: it stands in the schema, and a test sends it.
    static var example: Self { get }
    /// Answers it, on the node.
    ///
    /// - Throws: ``NodeError``.
    func perform(on node: Node) async throws -> Reply
    /// Why a program on the other side of a socket may not ask this so, as a sentence for its author;
    /// nil where it may. The node itself may take more.
    var remoteFault: String? { get }
}

extension NodeRequest {
    /// Most requests may be made from anywhere.
    public var remoteFault: String? { nil }
}

/// The scope that a token needs to make a request.
public enum RequestScope: String, Codable, Sendable, CaseIterable {
    /// Shows something, and changes nothing.
    case read
    /// Writes for the person, or changes what is shown.
    case write
    /// Changes devices, keys, servers, or files outside of the node.
    case admin
}

/// The reply of what answers nothing but that it was done: `{}`.
public struct NoReply: Codable, Equatable, Sendable {
    /// Done.
    public init() {}
}
