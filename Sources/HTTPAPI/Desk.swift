internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import Parley
internal import ParleyLocalAPI

/// Answers requests: whether the caller is on this machine, what they may do, then the request.
struct Desk: Sendable {
    /// The connection is of no more use, though nothing failed.
    struct Over: Error {}

    /// An answer in one piece.
    struct Answer {
        var status = HTTPResponse.Status.ok
        var mediaType = "application/json"
        var body: ByteBuffer
        var fields: HTTPFields = [:]
    }

    /// What a request is about.
    enum Matter {
        /// It is answered to everybody.
        case open(Answer)
        /// An authenticated caller sends a request.
        case asked(Route, TokenGrant)
    }

    let node: any NodeService
    let requests: RequestDesk
    let tokens: AccessTokens
    /// The browser sessions; nil if there is no page.
    let page: PageDoor?
    let gate: Gate
    let uploads: Uploads
    /// The address that is listened on, before its port was known.
    private let host: LoopbackAddress
    /// Adds to advised commands which home they are about.
    private let completeHint: @Sendable (String) -> String

    init(
        node: any NodeService, tokens: AccessTokens, page: PageDoor?, gate: Gate,
        uploads: Uploads, host: LoopbackAddress,
        completeHint: @escaping @Sendable (String) -> String
    ) {
        self.node = node
        self.completeHint = completeHint
        requests = RequestDesk(node: node, completeHint: completeHint)
        self.tokens = tokens
        self.page = page
        self.gate = gate
        self.uploads = uploads
        self.host = host
    }

    /// Who let this grant in.
    func keeper(of grant: TokenGrant) -> any GrantKeeper {
        if grant.isOfPage, let page { page.sessions } else { tokens }
    }

    /// Answers one request.
    func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let head = RequestHead(request.head)
        let matter: Matter
        do throws(Refusal) {
            matter = try admit(head, channel)
        } catch {
            return try await refuse(error, head, writer)
        }
        guard case .asked(let route, let grant) = matter else {
            if case .open(let answer) = matter { try await write(answer, writer) }
            return
        }
        gate.markKnown(channel, grant.digest)
        if head.expectsContinue {
            try await writer.writeInformationalHead(.init(status: .continue))
        }
        if route == .file {
            return try await FileStream(desk: self, grant: grant, channel: channel)
                .run(head, writer)
        }
        if route == .events {
            return try await EventStream(desk: self, grant: grant, channel: channel)
                .run(after: head.query?["since"] ?? head.lastEvent, head, writer)
        }
        let answer: Answer
        do {
            answer = try await self.answer(route, request, head, grant, channel)
        } catch let over as Over {
            throw over
        } catch {
            return try await refuse(Refusal(error), head, writer)
        }
        try await write(answer, writer)
    }

    /// The request and its caller: the page under the page's name, programs under others.
    private func admit(_ head: RequestHead, _ channel: any Channel) throws(Refusal) -> Matter {
        if page?.isMeant(head, port: channel.localAddress?.port) == true {
            return try admitPage(head, channel)
        }
        var address = host
        address.port = UInt16(clamping: channel.localAddress?.port ?? 0)
        try head.requireNear(address.hosts)
        let route = try Route.of(head)
        guard route.isOfPrograms else { throw .unknownPath }
        if route.isOpen { return .open(Answer(body: ByteBuffer(string: "{\"status\":\"ok\"}\n"))) }
        guard let grant = head.token.flatMap(tokens.grant) else { throw .unauthorized }
        return .asked(route, grant)
    }

    private func answer(
        _ route: Route, _ request: Request, _ head: RequestHead, _ grant: TokenGrant,
        _ channel: any Channel
    ) async throws -> Answer {
        switch route {
        case .rpc: return try await call(request, head, grant)
        case .changes: return try await changes(head, grant, channel)
        case .metrics: return try await metrics(grant)
        case .upload: return try await upload(request, head, grant, channel)
        case .leave: return try leave(grant)
        // They are answered before.
        case .health, .events, .file, .enter: throw Refusal.unknownPath
        }
    }

    // MARK: Requests

    private func call(
        _ request: Request, _ head: RequestHead, _ grant: TokenGrant
    ) async throws -> Answer {
        guard head.byteCount ?? 0 <= LocalAPI.lineByteCountMax else { throw Refusal.tooLarge }
        var room = 0
        // What is read and answered at once is bounded, whoever the caller is.
        defer { gate.giveRoom(room, of: grant.digest) }
        let body = try await collect(request.body, for: grant, room: &room)
        // The token may have ended while the body came.
        guard keeper(of: grant).isAlive(grant) else { throw Refusal.unauthorized }
        let reply = await requests.answer(Array(body.readableBytesView), holding: grant)
        guard let bytes = reply.bytes else {
            return Answer(status: .noContent, body: ByteBuffer())
        }
        let status: HTTPResponse.Status =
            reply.isForbidden ? .forbidden : reply.isMalformed ? .badRequest : .ok
        return Answer(status: status, body: ByteBuffer(bytes: bytes))
    }

    /// Reads a body. It takes room as it comes: who only announces one keeps nobody out.
    private func collect(
        _ body: RequestBody, for grant: TokenGrant, room: inout Int
    ) async throws -> ByteBuffer {
        var all = ByteBuffer()
        for try await part in body {
            let byteCount = part.readableBytes
            guard all.readableBytes + byteCount <= LocalAPI.lineByteCountMax else {
                throw Refusal.tooLarge
            }
            guard gate.takeRoom(byteCount, for: grant.digest) else { throw Refusal.busy }
            room += byteCount
            all.writeImmutableBuffer(part)
        }
        return all
    }

    // MARK: Writing

    func write(_ answer: Answer, _ writer: consuming ResponseWriter) async throws {
        try await Self.write(answer, writer)
    }

    static func write(_ answer: Answer, _ writer: consuming ResponseWriter) async throws {
        if answer.status == .noContent || answer.status == .notModified {
            return try await writer.writeResponse(
                HTTPResponse(status: answer.status, headerFields: answer.fields))
        }
        var head = HTTPResponse.answer(
            answer.status, answer.mediaType, byteCount: answer.body.readableBytes)
        for field in answer.fields { head.headerFields[field.name] = field.value }
        try await writer.write(response: head, body: ResponseBody(byteBuffer: answer.body))
    }

    /// Bytes of a body that nobody wants, up to which they are read over: a client that sends reads no
    /// answer. Beyond, one hangs up.
    private static let unwantedByteCountMax = 2 * LocalAPI.lineByteCountMax

    func refuse(
        _ refusal: Refusal, _ head: RequestHead, _ writer: consuming ResponseWriter
    ) async throws {
        var refusal = refusal
        refusal.reason.hint = refusal.reason.hint.map(completeHint)
        try await Self.write(refusal, head, writer)
    }

    static func write(
        _ refusal: Refusal, _ head: RequestHead, _ writer: consuming ResponseWriter
    ) async throws {
        let isOver = head.method != .get && (head.byteCount ?? Int.max) > unwantedByteCountMax
        let body = refusal.body
        try await writer.write(
            response: refusal.head(closing: isOver), body: ResponseBody(byteBuffer: body))
        if isOver { throw Over() }
    }
}
