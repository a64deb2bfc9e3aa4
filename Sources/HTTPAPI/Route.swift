internal import HTTPTypes

/// What can be asked for, by path. The one table of them.
enum Route: String, CaseIterable {
    case health = "/healthz"
    case rpc = "/rpc"
    case events = "/events"
    case changes = "/changes"
    case metrics = "/metrics"

    /// The page is let in by a link; of its host alone.
    case enter = "/enter"
    /// The page ends its own session; of its host alone.
    case leave = "/leave"

    /// How it is asked for.
    var method: HTTPRequest.Method { [.rpc, .enter, .leave].contains(self) ? .post : .get }

    /// Whether programs can ask for it.
    var isOfPrograms: Bool { self != .enter && self != .leave }

    /// Whether the page in a browser can ask for it.
    var isOfPage: Bool { self != .health && self != .metrics }

    /// Whether it is told to everybody who may ask this server anything.
    var isOpen: Bool { self == .health }

    /// Members that its query may have.
    var queryNames: Set<String> {
        switch self {
        case .health, .rpc, .metrics, .enter, .leave: []
        case .events: ["since"]
        case .changes: ["since", "wait", "limit"]
        }
    }

    /// What a head asks for.
    static func of(_ head: RequestHead) throws(Refusal) -> Route {
        guard let route = Route(rawValue: head.path) else { throw .unknownPath }
        guard head.method == route.method else { throw .wrongMethod(route.method) }
        guard let query = head.query else { throw .badQuery("?", "texts, each name once") }
        if let stranger = query.keys.filter({ !route.queryNames.contains($0) }).min() {
            throw .badQuery(String(stranger.prefix(64)), "left out: \(head.path) does not take it")
        }
        return route
    }
}
