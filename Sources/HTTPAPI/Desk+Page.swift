internal import HTTPTypes
internal import NIOCore
internal import Parley

/// Where the page is asked for: a host name of its own, where a cookie lets in and no token does.
struct PageDoor: Sendable {
    let sessions: PageSessions
    /// The host name, without a port.
    let host: String

    /// The host as a browser names it.
    func name(port: Int?) -> String { "\(host):\(port ?? 0)" }

    /// Whether the page's host is asked, and not that for programs.
    func isMeant(_ head: RequestHead, port: Int?) -> Bool {
        head.host?.lowercased() == name(port: port)
    }
}

/// The page in a browser. Its requests are those of programs, from the same table; it is
/// authenticated differently.
extension Desk {
    /// What the page asks, and of which session: a cookie counts with the word of the page alone, so that
    /// nothing that a browser sends for somebody else is taken for it.
    func admitPage(_ head: RequestHead, _ channel: any Channel) throws(Refusal) -> Matter {
        guard let page else { throw .unknownPath }
        let host = page.name(port: channel.localAddress?.port)
        if let file = PageFiles.all[head.path] {
            try head.requireOwnPage(host)
            guard head.method == .get else { throw .wrongMethod([.get]) }
            return .open(Self.answer(file, head))
        }
        try head.requireNear([host])
        let route = try Route.of(head)
        guard route.isOfPage else { throw .unknownPath }
        guard head.isOfPage || (route.isShown && head.isShownByPage), !head.showsToken else {
            throw .notOfPage
        }
        if route == .enter { return .open(try enter(page, head)) }
        let grant = head.sessionSecret.flatMap {
            page.sessions.grant(for: $0, isUse: route.isUse)
        }
        guard let grant else { throw .noSession }
        // A page that stayed open, or that its worker kept, asks nothing of a node that has another one.
        if let version = head.pageVersion, version != PageFiles.version { throw .otherVersion }
        return .asked(route, grant)
    }

    /// A file of the page. Whether the page itself changed is asked each time; what it loads never does.
    static func answer(_ file: PageFiles.File, _ head: RequestHead) -> Answer {
        var fields = PageFiles.fields()
        fields[.cacheControl] = file.isPermanent ? "max-age=31536000, immutable" : "no-cache"
        fields[.eTag] = file.tag
        guard head.knownTag != file.tag else {
            return Answer(status: .notModified, body: ByteBuffer(), fields: fields)
        }
        return Answer(mediaType: file.mediaType, body: file.body, fields: fields)
    }

    /// Lets a browser in by a link, which ends by that.
    private func enter(_ page: PageDoor, _ head: RequestHead) throws(Refusal) -> Answer {
        let session: (secret: String, grant: TokenGrant)?
        do {
            session = try head.enterSecret.flatMap { try page.sessions.enter($0) }
        } catch {
            throw Refusal(error)
        }
        guard let session else { throw .linkOver }
        return Answer(
            status: .noContent, body: ByteBuffer(), fields: cookie(session.secret, seconds: nil))
    }

    /// Ends the caller's session.
    func leave(_ grant: TokenGrant) throws -> Answer {
        try page?.sessions.end(grant)
        return Answer(status: .noContent, body: ByteBuffer(), fields: cookie("", seconds: 0))
    }

    /// Scripts cannot read it, no other site sends it, and it is of this very host. Without a time
    /// it ends with the browser. Source: RFC 6265bis, section 4.1.2.
    private func cookie(_ secret: String, seconds: Int?) -> HTTPFields {
        var fields = PageFiles.fields()
        let end = seconds.map { "; Max-Age=\($0)" } ?? ""
        fields[.setCookie] =
            "\(PageFiles.cookieName)=\(secret); Path=/; HttpOnly; SameSite=Strict" + end
        return fields
    }
}
