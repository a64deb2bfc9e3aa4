internal import Foundation
internal import Parley

/// Why a line was not answered with a result. The numbers are those of JSON-RPC 2.0.
struct Failure: Error, Codable, Equatable, Sendable {
    /// What programs decide by, beside the number.
    struct Details: Codable, Equatable, Sendable {
        var code: String
        var hint: String?
    }

    var code: Int
    var message: String
    var data: Details

    static let parse = Failure(
        code: -32700, message: "The line is not a JSON object.", data: Details(code: "no-json"))
    static func invalidRequest(_ message: String) -> Failure {
        Failure(code: -32600, message: message, data: Details(code: "invalid-request"))
    }
    static func unknownMethod(_ method: String) -> Failure {
        Failure(
            code: -32601, message: "There is no method “\(method.prefix(64))”.",
            data: Details(code: "unknown-method"))
    }
    static func invalidParameters(_ message: String) -> Failure {
        Failure(code: -32602, message: message, data: Details(code: "invalid-parameters"))
    }
    static let answerTooLarge = Failure(
        code: -32603, message: "The answer is longer than a line can be.",
        data: Details(code: "answer-too-large", hint: "Ask for fewer messages."))

    static let tooManyRequests = Failure.invalidRequest(
        "A batch must have 1 to \(LocalAPI.batchRequestCountMax) requests.")

    /// What the node threw. An error that it did not mean for people is reported by its kind only:
    /// its description might contain what must not leave the node.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as NodeError:
            self.init(
                code: error.code == NodeError.forbiddenCode ? -32001 : -32000,
                message: error.message,
                data: Details(code: error.code, hint: error.hint))
        case is CancellationError:
            self.init(
                code: -32000, message: "The node is stopping.", data: Details(code: "stopping"))
        default:
            self.init(
                code: -32603, message: "The node failed (\(type(of: error))).",
                data: Details(code: "internal", hint: "`parley doctor` checks the store."))
        }
    }

    init(code: Int, message: String, data: Details) {
        (self.code, self.message, self.data) = (code, message, data)
    }

    /// The same for a caller.
    var nodeError: NodeError { NodeError(data.code, message, hint: data.hint) }
}

/// A result whose type only the method knows.
struct AnyResult: Encodable {
    let value: any Encodable
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

/// What `follow` takes.
struct FollowParameters: Codable, Equatable, Sendable {
    /// The cursor after which changes are sent; nil for from now on.
    var after: String?
    /// The random name under which the follower handles the media of calls: 32 hex digits; nil for
    /// one that does not.
    var seat: String?
}

/// Where the reported changes begin.
struct FollowAnswer: Codable, Equatable, Sendable {
    /// What `after` takes to be told the same again.
    var cursor: String
}

/// The reply to a request.
struct Answer: Encodable {
    let jsonrpc = "2.0"
    let id: RequestID
    var result: AnyResult?
    var error: Failure?
}

/// A notification, sent without a request.
struct Notification<Parameters: Codable>: Codable {
    var jsonrpc = "2.0"
    var method: String
    var params: Parameters
}

/// One line of JSON, its end included.
func line(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try Array(encoder.encode(value)) + [0x0A]
}
