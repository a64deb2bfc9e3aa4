internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import ParleySealing
internal import ParleyWire

/// Seconds since 1970.
func wallClock() -> UInt64 { UInt64(max(0, Date().timeIntervalSince1970)) }

/// The address of a webhook.
struct WebhookTarget: Equatable {
    let host: String
    let port: Int
    /// Path and query.
    let path: String
    /// As `Host` names it.
    private let authority: String

    /// Where an address leads that is one of this machine.
    init?(_ address: String) {
        guard let url = URLComponents(string: address), let named = url.host else { return nil }
        let bare = named.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        host = bare == "localhost" ? "127.0.0.1" : bare
        port = url.port ?? 80
        let path = url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath
        self.path = path + (url.percentEncodedQuery.map { "?" + $0 } ?? "")
        authority = (bare.contains(":") ? "[\(bare)]" : bare) + ":\(port)"
    }

    /// The request that tells this body, signed with the time: an old one cannot be sent again.
    func request(
        _ body: [UInt8], cursor: String, attempt: Int, time: UInt64, secret: [UInt8]
    ) -> [UInt8] {
        let code = hmacSHA256(Array("\(time).".utf8) + body, key: secret)
        let head = [
            "POST \(path) HTTP/1.1", "Host: \(authority)", "Connection: close",
            "Content-Type: application/json", "Content-Length: \(body.count)",
            "Parley-Event: \(cursor)", "Parley-Attempt: \(attempt)",
            "Parley-Signature: t=\(time),v1=\(hex(code))", "", "",
        ]
        return Array(head.joined(separator: "\r\n").utf8) + body
    }
}

/// One request to a webhook, of whose answer only the status is read.
final class WebhookCall: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    enum Outcome: Equatable, Sendable {
        case answered(Int)
        case silent

        var reason: String {
            switch self {
            case .answered(let status): "http-\(status)"
            case .silent: "no-answer"
            }
        }
    }

    /// `HTTP/1.1 200 ` is all that matters; a line is no longer than this.
    private static let lineByteCountMax = 1_024

    private let promise: EventLoopPromise<Outcome>
    private var line: [UInt8] = []

    private init(_ promise: EventLoopPromise<Outcome>) { self.promise = promise }

    /// Sends the request and waits for its status, at most this long.
    static func post(
        _ request: [UInt8], to target: WebhookTarget, within time: Duration,
        on group: MultiThreadedEventLoopGroup
    ) async -> Outcome {
        let loop = group.next()
        let promise = loop.makePromise(of: Outcome.self)
        do {
            let channel = try await ClientBootstrap(group: loop)
                .connectTimeout(TimeAmount(time))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(WebhookCall(promise))
                    }
                }
                .connect(host: target.host, port: target.port).get()
            let alarm = loop.scheduleTask(in: TimeAmount(time)) { promise.succeed(.silent) }
            // Where it does not arrive there is no answer either.
            channel.writeAndFlush(ByteBuffer(bytes: request), promise: nil)
            let outcome = try await promise.futureResult.get()
            alarm.cancel()
            channel.close(promise: nil)
            return outcome
        } catch {
            promise.succeed(.silent)
            return .silent
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        line += unwrapInboundIn(data).readableBytesView.prefix(Self.lineByteCountMax)
        if let end = line.firstIndex(of: 0x0A) {
            promise.succeed(Self.outcome(of: line[..<end]))
        } else if line.count >= Self.lineByteCountMax {
            promise.succeed(.silent)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { promise.succeed(.silent) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.succeed(.silent)
        context.close(promise: nil)
    }

    /// Source: RFC 9112, section 4.
    private static func outcome(of line: ArraySlice<UInt8>) -> Outcome {
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3,
            let status = Int(words[1])
        else { return .silent }
        return .answered(status)
    }
}
