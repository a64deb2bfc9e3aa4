internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import Parley

/// Why a request was not taken, with the status that says so.
struct Refusal: Error, Equatable {
    var status: HTTPResponse.Status
    var reason: NodeError
    /// How many bytes a file has of which others were asked for.
    var size: UInt64?

    private init(_ status: HTTPResponse.Status, _ reason: NodeError) {
        (self.status, self.reason) = (status, reason)
    }

    static let busy = Refusal(
        .serviceUnavailable,
        NodeError("busy", "There are too many connections.", hint: "Try again later."))
    static let tooManyStreams = Refusal(
        .serviceUnavailable,
        NodeError(
            "too-many-streams", "There are too many streams of events.",
            hint: "Close one: a token can have \(HTTPAPI.streamOfTokenCountMax)."))
    static let foreignHost = Refusal(
        .forbidden,
        NodeError("foreign-host", "The Host field must name this server, with its port."))
    static let foreignOrigin = Refusal(
        .forbidden,
        NodeError("foreign-origin", "Pages from elsewhere may not use this server."))
    static let unauthorized = Refusal(
        .unauthorized,
        NodeError(
            "unauthorized", "This needs a token, as Authorization: Bearer parley_….",
            hint: "`parley token new NAME --scope read` creates one."))
    static let noSession = Refusal(
        .unauthorized,
        NodeError(
            "no-session", "This browser is not signed in, or no longer.",
            hint: "`parley open` opens the page."))
    static let linkOver = Refusal(
        .forbidden,
        NodeError(
            "link-over", "The link was used already, or is older than a minute.",
            hint: "`parley open` makes another one."))
    static let notBegun = Refusal(
        .forbidden,
        NodeError(
            "link-over", "This is not the link that `parley open` gave, or no longer.",
            hint: "`parley open` makes another one."))
    static let isBeginning = Refusal(
        .conflict,
        NodeError("busy", "The node is being made already.", hint: "Wait for it."))
    static let notAsked = Refusal(
        .badRequest, NodeError("bad-request", "The request cannot be read."))
    static let notOfPage = Refusal(
        .forbidden, NodeError("foreign-origin", "Only the page itself may use this path."))
    static let otherVersion = Refusal(
        .preconditionFailed,
        NodeError(
            "other-version", "The node has another version of the page.", hint: "Load it again."))
    static let unknownPath = Refusal(
        .notFound,
        NodeError(
            "unknown-path", "There is nothing at this path.",
            hint: "There are POST /rpc, /upload, GET /events, /changes, /file, /metrics, /healthz.")
    )
    static let tooLarge = Refusal(
        .contentTooLarge,
        NodeError(
            "too-large",
            "The body is larger than the node accepts at once."))
    static let tooManyUploads = Refusal(
        .serviceUnavailable,
        NodeError(
            "too-many-uploads", "Too many files are being uploaded.",
            hint: "Send those that are complete, or drop them: DELETE /upload?id=…"))
    static let noUpload = Refusal(
        .notFound,
        NodeError(
            "no-upload", "No file with that id is being uploaded.",
            hint: "It was dropped, or the node was started again: upload it again."))
    static let uploadTaken = Refusal(
        .conflict,
        NodeError("upload-taken", "Another request is uploading that file.", hint: "Wait for it."))
    static let noLength = Refusal(
        .badRequest, NodeError("bad-request", "The request cannot be read."))

    static func wrongMethod(_ allowed: [HTTPRequest.Method]) -> Refusal {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        return Refusal(
            .methodNotAllowed, NodeError("wrong-method", "This path accepts only \(names)."))
    }

    /// A part of a file was asked for that begins behind its end.
    static func beyondEnd(_ size: UInt64) -> Refusal {
        var refusal = Refusal(
            .rangeNotSatisfiable,
            NodeError("bad-range", "The file has only \(size) bytes."))
        refusal.size = size
        return refusal
    }

    static func badQuery(_ name: String, _ rule: String) -> Refusal {
        Refusal(.badRequest, NodeError("invalid-parameters", "“\(name)” must be \(rule)."))
    }

    /// A piece does not continue where the file ends.
    static func otherOffset(_ offset: UInt64) -> Refusal {
        Refusal(
            .conflict,
            NodeError(
                "other-offset",
                "The file continues at \(offset).", hint: "Send it from there."))
    }

    /// A file cannot be sent, for a reason that lies in itself.
    static func unusable(_ reason: NodeError) -> Refusal { Refusal(.unprocessableContent, reason) }

    /// What a token does not allow.
    static func forbidden(_ reason: NodeError) -> Refusal { Refusal(.forbidden, reason) }

    /// What the node said, with the status that fits it best.
    init(_ error: any Error) {
        switch error {
        case let refusal as Refusal: self = refusal
        case let reason as NodeError where reason.code == NodeError.forbiddenCode:
            self.init(.forbidden, reason)
        case let reason as NodeError where reason.code == "bad-cursor":
            self.init(.badRequest, reason)
        case let reason as NodeError where Self.absences.contains(reason.code):
            self.init(.notFound, reason)
        case let reason as NodeError where reason.code == "disk-full":
            self.init(HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"), reason)
        case let reason as NodeError where reason.code == "file-too-large":
            self.init(.contentTooLarge, reason)
        case let reason as NodeError: self.init(.internalServerError, reason)
        default:
            // Its description might carry what must not leave the node.
            self.init(
                .internalServerError,
                NodeError("internal", "The node failed (\(type(of: error)))."))
        }
    }

    /// Codes for what does not exist, or is not here yet.
    private static let absences: Set<String> = [
        "unknown-message", "deleted", "no-file", "which-file", "file-absent", "no-preview",
    ]

    /// The body: `{"error":{"code":…,"hint":…,"message":…}}` and a line end.
    var body: ByteBuffer {
        struct Body: Encodable { var error: NodeError }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding three texts cannot fail.
        let bytes = (try? encoder.encode(Body(error: reason))) ?? Data()
        return ByteBuffer(bytes: bytes + [0x0A])
    }

    /// The head of the response that says it.
    func head(closing: Bool = false) -> HTTPResponse {
        var head = HTTPResponse.answer(status, "application/json", byteCount: body.readableBytes)
        if status == .unauthorized, reason.code == "unauthorized" {
            head.headerFields[.wwwAuthenticate] = "Bearer"
        }
        if status == .serviceUnavailable { head.headerFields[.retryAfter] = "1" }
        if let size { head.headerFields[.contentRange] = "bytes */\(size)" }
        if closing { head.headerFields[.connection] = "close" }
        return head
    }
}

extension HTTPResponse {
    /// The head of an answer with a body of this type.
    static func answer(
        _ status: HTTPResponse.Status, _ mediaType: String, byteCount: Int? = nil
    ) -> HTTPResponse {
        var fields: HTTPFields = [
            .contentType: mediaType, .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
        ]
        if let byteCount { fields[.contentLength] = "\(byteCount)" }
        return HTTPResponse(status: status, headerFields: fields)
    }
}
