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
        NodeError("busy", "There is no place for another connection.", hint: "try again later"))
    static let tooManyStreams = Refusal(
        .serviceUnavailable,
        NodeError(
            "too-many-streams", "There is no place for another stream of events.",
            hint: "close one: a token has \(HTTPAPI.streamOfTokenCountMax)"))
    static let foreignHost = Refusal(
        .forbidden,
        NodeError("foreign-host", "The Host field must name this server, with its port."))
    static let foreignOrigin = Refusal(
        .forbidden,
        NodeError("foreign-origin", "A page that was made elsewhere may ask nothing here."))
    static let unauthorized = Refusal(
        .unauthorized,
        NodeError(
            "unauthorized", "This needs a token, as Authorization: Bearer parley_….",
            hint: "parley token new NAME --scope read"))
    static let noSession = Refusal(
        .unauthorized,
        NodeError(
            "no-session", "This browser is not let in, or not any more.", hint: "parley open"))
    static let linkOver = Refusal(
        .forbidden,
        NodeError(
            "link-over", "The link was used already, or is older than a minute.",
            hint: "parley open makes another one"))
    static let notOfPage = Refusal(
        .forbidden, NodeError("foreign-origin", "Here the page itself asks, and nobody else."))
    static let otherVersion = Refusal(
        .preconditionFailed,
        NodeError(
            "other-version", "The node has another version of the page.", hint: "load it again"))
    static let unknownPath = Refusal(
        .notFound,
        NodeError(
            "unknown-path", "There is nothing at this path.",
            hint: "POST /rpc, /upload, GET /events, /changes, /file, /metrics, /healthz"))
    static let tooLarge = Refusal(
        .contentTooLarge, NodeError("too-large", "The body is more than the node takes at once."))
    static let tooManyUploads = Refusal(
        .serviceUnavailable,
        NodeError(
            "too-many-uploads", "There is no place for another file that comes in.",
            hint: "send those that are there, or drop them: DELETE /upload?id=…"))
    static let noUpload = Refusal(
        .notFound,
        NodeError(
            "no-upload", "There is no file of that name that comes in.",
            hint: "it was dropped, or the node was started again: begin anew"))
    static let uploadTaken = Refusal(
        .conflict,
        NodeError("upload-taken", "Another request goes on with that file.", hint: "wait for it"))
    static let noLength = Refusal(
        .badRequest, NodeError("bad-request", "The request cannot be read."))

    static func wrongMethod(_ allowed: [HTTPRequest.Method]) -> Refusal {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        return Refusal(
            .methodNotAllowed, NodeError("wrong-method", "This path takes \(names) alone."))
    }

    /// A part of a file was asked for that begins behind its end.
    static func beyondEnd(_ size: UInt64) -> Refusal {
        var refusal = Refusal(
            .rangeNotSatisfiable,
            NodeError("bad-range", "The file has \(size) bytes, and none from there on."))
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
            NodeError("other-offset", "The file goes on at \(offset).", hint: "send it from there"))
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
