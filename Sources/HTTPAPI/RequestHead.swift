internal import Foundation
internal import HTTPTypes

/// What of a request's head decides whether it is answered, and by what.
struct RequestHead: Equatable {
    /// The path without its query.
    let path: String
    /// The query's parameters, decoded; nil if one occurs twice or is no text.
    let query: [String: String]?
    let method: HTTPRequest.Method
    /// What the client says that it asks, with its port.
    let host: String?
    private let otherHostCount: Int
    private let origins: [String]
    private let fetchSite: String?
    private let authorizations: [String]
    private let cookies: [String]
    /// Whether a browser goes to it, to show it as a whole page.
    let isVisit: Bool
    /// Whether a browser navigates to it, to show it or to save it.
    let isNavigation: Bool
    /// Whether a browser says that a page of this server shows it as a picture, sound or video, or goes to
    /// it: such requests cannot say ``isOfPage``, and those of other pages cannot say this.
    let isShownByPage: Bool
    /// Whether it says that the page asks. No form, link or picture of another page can say so, and no
    /// script of one without having asked first, which nobody answers.
    let isOfPage: Bool
    /// Which version of the page asks; nil where that is not said.
    let pageVersion: String?
    /// What a link said, with which the page asks to be let in.
    let enterSecret: String?
    /// What a link said, with which the page asks where there is no home yet.
    let beginSecret: String?
    /// What the client holds of a file already.
    let knownTag: String?
    /// What the client read last of a stream.
    let lastEvent: String?
    /// Which bytes are asked for, and of which state of them alone.
    let range: String?, rangeCondition: String?
    /// The announced length of the body; nil if there is none.
    let byteCount: Int?
    /// Whether the client waits to be told that its body is wanted.
    let expectsContinue: Bool

    init(_ request: HTTPRequest) {
        method = request.method
        let parts = (request.path ?? "").split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? ""
        query = parts.count > 1 ? Self.query(parts[1]) : [:]
        host = request.authority
        let fields = request.headerFields
        // The first one is the authority.
        otherHostCount = HTTPField.Name("Host").map { fields[values: $0].count } ?? 0
        origins = fields[values: .origin]
        fetchSite = HTTPField.Name("Sec-Fetch-Site").flatMap { fields[$0] }
        authorizations = fields[values: .authorization]
        cookies = fields[values: .cookie]
        let mode = HTTPField.Name("Sec-Fetch-Mode").flatMap { fields[$0] }
        let use = HTTPField.Name("Sec-Fetch-Dest").flatMap { fields[$0] }
        isVisit = mode == "navigate" && use == "document"
        // A download by a link navigates nowhere.
        isNavigation = isVisit || mode == "navigate" && use == "empty"
        isShownByPage =
            fetchSite == "same-origin"
            && (isNavigation || ["image", "audio", "video"].contains(use))
        isOfPage = HTTPField.Name("Parley-Page").flatMap { fields[$0] } == "1"
        pageVersion = HTTPField.Name(PageFiles.versionName).flatMap { fields[$0] }
        enterSecret = HTTPField.Name("Parley-Enter").flatMap { fields[$0] }
        beginSecret = HTTPField.Name("Parley-Begin").flatMap { fields[$0] }
        knownTag = fields[.ifNoneMatch]
        (range, rangeCondition) = (fields[.range], fields[.ifRange])
        lastEvent = HTTPField.Name("Last-Event-ID").flatMap { fields[$0] }
        byteCount = fields[.contentLength].flatMap { Int($0) }
        expectsContinue = fields[.expect]?.lowercased() == "100-continue"
    }

    /// The token that is shown; nil where none is, or several.
    var token: String? {
        guard authorizations.count == 1, let words = authorizations.first else { return nil }
        let parts = words.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    /// The secret of the page's session; nil where none is shown, or several.
    var sessionSecret: String? {
        let pairs = cookies.flatMap { $0.split(separator: ";") }
            .map { $0.drop { $0 == " " }.split(separator: "=", maxSplits: 1) }
            .filter { $0.count == 2 && $0[0] == PageFiles.cookieName }
        return pairs.count == 1 ? String(pairs[0][1]) : nil
    }

    /// Whether an authorization is shown: that is for programs.
    var showsToken: Bool { !authorizations.isEmpty }

    /// Throws where somebody else than a program of this machine may have made the request: a name that
    /// leads here for a while, as pages on the web can have, or a page of another origin.
    ///
    /// - Parameter hosts: what the client may call this server.
    func requireNear(_ hosts: [String]) throws(Refusal) {
        guard otherHostCount == 0, let host, hosts.contains(host.lowercased()) else {
            throw .foreignHost
        }
        let own = hosts.map { "http://" + $0 }
        guard origins.count <= 1, origins.allSatisfy({ own.contains($0.lowercased()) }) else {
            throw .foreignOrigin
        }
        // A browser adds it to its requests, even if it names no origin.
        guard fetchSite == nil || fetchSite == "same-origin" || fetchSite == "none" else {
            throw .foreignOrigin
        }
    }

    /// Throws where another page than this server's own asks for something that is not a whole page.
    func requireOwnPage(_ host: String) throws(Refusal) {
        guard isVisit, method == .get, origins.isEmpty else { return try requireNear([host]) }
        guard otherHostCount == 0, self.host?.lowercased() == host else { throw .foreignHost }
    }

    private static func query(_ text: Substring) -> [String: String]? {
        var members: [String: String] = [:]
        for part in text.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = sides.first.flatMap(decoded),
                let value = decoded(sides.count > 1 ? sides[1] : ""),
                members.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        return members
    }

    /// A part as forms write it: a plus is a space. Source: WHATWG URL, 5.1.
    private static func decoded(_ part: Substring) -> String? {
        part.replacing("+", with: " ").removingPercentEncoding
    }
}
