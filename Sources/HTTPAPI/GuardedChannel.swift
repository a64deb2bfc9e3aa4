internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTPTypes

/// A connection of HTTP/1.1 that the gate lets in and the watch looks after.
struct GuardedChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    private let inner: HTTP1Channel
    private let gate: Gate

    /// - Parameter responder: answers a request.
    init(gate: Gate, times: Times, responder: @escaping HTTPChannelHandler.Responder) {
        self.gate = gate
        inner = HTTP1Channel(
            responder: responder,
            configuration: .init(
                additionalChannelHandlers: [ConnectionWatch(times)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: HTTPAPI.headByteCountMax,
                    maxHeaderListSize: HTTPAPI.headByteCountMax,
                    maxHeaderFieldCount: HTTPAPI.fieldCountMax)))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        do {
            try channel.pipeline.syncOperations.addHandler(HeadLimit())
            return inner.setup(channel: channel, logger: logger)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    func handle(value: Value, logger: Logger) async {
        guard gate.enter(value.channel) else { return await turnAway(value) }
        await inner.handle(value: value, logger: logger)
        gate.leave(value.channel)
    }

    private func turnAway(_ value: Value) async {
        let refusal = Refusal.busy
        do {
            try await value.executeThenClose { _, outbound in
                try await outbound.write(
                    contentsOf: [
                        .head(refusal.head(closing: true)), .body(refusal.body), .end(nil),
                    ])
            }
        } catch {
            // It hung up meanwhile, which is as good.
        }
    }
}
