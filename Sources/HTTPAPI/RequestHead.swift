internal import Foundation
internal import HTTPTypes

/// What of a request's head decides whether it is answered, and by what.
struct RequestHead: Equatable {
    /// The path without its query.
    let path: String
    /// The query's members, decoded; nil where one is there twice or is no text.
    let query: [String: String]?
    let method: HTTPRequest.Method
    private let host: String?
    private let otherHostCount: Int
    private let origins: [String]
    private let fetchSite: String?
    private let authorizations: [String]
    /// What the client read last of a stream.
    let lastEvent: String?
    /// How long the body is said to be; nil where that is not said.
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

    /// Throws where somebody else than a program of this machine may have made the request: a name that
    /// leads here for a while, as pages on the web can have, or a page of another origin.
    func requireNear(_ address: LoopbackAddress) throws(Refusal) {
        guard otherHostCount == 0, let host, address.hosts.contains(host.lowercased()) else {
            throw .foreignHost
        }
        let own = address.hosts.map { "http://" + $0 }
        guard origins.count <= 1, origins.allSatisfy({ own.contains($0.lowercased()) }) else {
            throw .foreignOrigin
        }
        // A browser says so of what it sends, also where it names no origin.
        guard fetchSite == nil || fetchSite == "same-origin" || fetchSite == "none" else {
            throw .foreignOrigin
        }
    }

    private static func query(_ text: Substring) -> [String: String]? {
        var members: [String: String] = [:]
        for part in text.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = sides.first.flatMap({ String($0).removingPercentEncoding }),
                let value = (sides.count > 1 ? String(sides[1]) : "").removingPercentEncoding,
                members.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        return members
    }
}
