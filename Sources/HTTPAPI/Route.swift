internal import HTTPTypes

/// What can be asked for, by path. The one table of them.
enum Route: String, CaseIterable {
    case health = "/healthz"
    case rpc = "/rpc"
    case events = "/events"
    case changes = "/changes"
    case metrics = "/metrics"
    case file = "/file"
    case upload = "/upload"

    /// The page is let in by a link; of its host alone.
    case enter = "/enter"
    /// The page ends its own session; of its host alone.
    case leave = "/leave"

    /// How it may be asked for.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .rpc, .enter, .leave: [.post]
        case .upload: [.get, .post, .delete]
        case .health, .events, .changes, .metrics, .file: [.get]
        }
    }

    /// Whether programs can ask for it.
    var isOfPrograms: Bool { self != .enter && self != .leave }

    /// Whether a browser requests it by itself when a page shows its content.
    var isShown: Bool { self == .file }

    /// Whether it is an action of a person, which keeps a session from ending.
    var isUse: Bool { [.rpc, .file, .upload].contains(self) }

    /// Whether the page in a browser can ask for it.
    var isOfPage: Bool { self != .health && self != .metrics }

    /// Whether everybody who may send requests to this server may get it.
    var isOpen: Bool { self == .health }

    /// Members that its query may have.
    var queryNames: Set<String> {
        switch self {
        case .health, .rpc, .metrics, .enter, .leave: []
        case .events: ["since", "seat"]
        case .changes: ["since", "wait", "limit"]
        case .file: ["message", "number", "preview", "save"]
        case .upload: ["name", "size", "voice", "keepsMetadata", "room", "id", "offset"]
        }
    }

    /// The route of a head.
    static func of(_ head: RequestHead) throws(Refusal) -> Route {
        guard let route = Route(rawValue: head.path) else { throw .unknownPath }
        guard route.methods.contains(head.method) else { throw .wrongMethod(route.methods) }
        guard let query = head.query else { throw .badQuery("?", "texts, each name once") }
        if let stranger = query.keys.filter({ !route.queryNames.contains($0) }).min() {
            throw .badQuery(
                String(stranger.prefix(64)),
                "left out: \(head.path) does not accept it")
        }
        return route
    }
}
