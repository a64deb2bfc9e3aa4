/// A request of the scope `admin` that the page in a browser may make all the same, for the person before it.
///
/// Unlisted requests are refused: tokens, webhooks and links that let a browser in, which would admit more than the
/// page; the confirmation of a new device, which is for good; and files of the machine by their paths, or programs
/// that are run, by which an attacker in the page would get out of it. Whoever is in the page may end the sessions of
/// other browsers: that admits nobody.
public protocol PageRequest: NodeRequest {}

extension StartPairing: PageRequest {}
extension GetPairing: PageRequest {}
extension StopPairing: PageRequest {}
extension RevokeDevice: PageRequest {}
extension SetFileRoom: PageRequest {}
extension ForgetFiles: PageRequest {}
extension RebuildSearch: PageRequest {}
extension SetWordIndex: PageRequest {}
extension SetLinkSettings: PageRequest {}
extension NoteRecoveryCode: PageRequest {}
extension AddRelay: PageRequest {}
extension RemoveRelay: PageRequest {}
extension MoveRelay: PageRequest {}
extension SetOffline: PageRequest {}
extension AddTurnServer: PageRequest {}
extension RemoveTurnServer: PageRequest {}
extension ListPageSessions: PageRequest {}
extension EndPageSession: PageRequest {}

/// A link that lets a browser in.
public struct PageLinkView: Codable, Equatable, Sendable {
    /// The whole address: good once.
    public var link: String
    /// For so many seconds.
    public var seconds: Int
}

/// A browser that has the page open, or had it open and may come back.
public struct PageSessionView: Codable, Equatable, Sendable {
    /// Its name.
    public var name: String
    /// Since when, in Unix milliseconds.
    public var created: UInt64
    /// When it was used last, in Unix milliseconds.
    public var used: UInt64
}

/// Makes a link that opens the page in a browser: good once, and for a minute.
public struct OpenPage: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "openPage", RequestScope.admin,
        "Creates a link that opens the page in a browser: it works once, and for a minute."
    )
    /// An example of the request.
    public static let example = OpenPage()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> PageLinkView {
        PageLinkView(
            link: try node.pageSessions.makeLink(),
            seconds: Int(PageSessions.linkTimeMax.components.seconds))
    }
}

/// The browsers that are let in, the first one first.
public struct ListPageSessions: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "pageSessions", RequestScope.admin,
        "The browsers that are signed in, the first one first."
    )
    /// An example of the request.
    public static let example = ListPageSessions()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [PageSessionView] {
        try node.pageSessions.list().map {
            PageSessionView(name: $0.name, created: $0.created, used: $0.used)
        }
    }
}

/// Ends the session of a browser at once, and everything that uses it.
public struct EndPageSession: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "endPageSession", RequestScope.admin,
        "Ends the session of a browser at once, with everything that uses it."
    )
    /// An example of the request.
    public static let example = EndPageSession(called: "browser-1")

    /// Its name.
    public var called: String

    /// A request with these parameters.
    public init(called: String) { self.called = called }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        try node.pageSessions.end(called)
        return NoReply()
    }
}
