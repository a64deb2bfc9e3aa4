internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Watches how long one connection takes, and how much it sends before its request is complete.
///
/// ```
/// opened ─10 s─▶ head ─30 s─▶ end of body ──▶ answer ──▶ (60 s) head …
///                                             └─ event stream: a comment every 15 s
/// ```
/// A client that consumes nothing of its waiting output for 20 s is disconnected.
final class ConnectionWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Notes that a body is expected, however long it takes, as long as it progresses.
    struct LongBody: Sendable {}

    private enum Phase { case awaitingHead, readingBody, answering, streaming }

    private let times: Times
    private var phase = Phase.awaitingHead
    /// Requests whose head has come and whose answer has not ended.
    private var openCount = 0
    /// Whether a request's head has come and its end has not.
    private(set) var isReading = false
    /// Parts of requests that have come.
    private(set) var partCount = 0
    private var bodyByteCount = 0
    private var deadline: Scheduled<Void>?
    private var stall: Scheduled<Void>?
    private var keepAlive: Scheduled<Void>?
    private var wroteAt = NIODeadline.distantPast

    init(_ times: Times) { self.times = times }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(.awaitingHead, times.head, context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(.awaitingHead, times.head, context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        partCount += 1
        switch unwrapInboundIn(data) {
        case .head:
            openCount += 1
            isReading = true
            if openCount == 1 { settle(context) }
        case .body(let bytes): bodyByteCount += bytes.readableBytes
        case .end:
            isReading = false
            if phase == .readingBody { settle(context) }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        wroteAt = .now()
        let part = unwrapOutboundIn(data)
        context.write(data, promise: promise)
        switch part {
        case .head(let head) where head.headerFields[.contentType] == EventText.mediaType:
            phase = .streaming
            deadline?.cancel()
            beat(context)
        case .end:
            openCount -= 1
            settle(context)
        case .head, .body: break
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            stall?.cancel()
            stall = nil
        } else if stall == nil {
            watchStall(context, waiting: waitingByteCount(context))
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A follower of events sends nothing more; a half-closed connection is a client that has
        // gone.
        if phase == .streaming, event as? ChannelEvent == .inputClosed {
            context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard event is LongBody else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        if phase == .readingBody { watchBody(context) }
        promise?.succeed()
    }

    /// Hangs up once next to nothing of a long body came for a while.
    private func watchBody(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        let known = bodyByteCount
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: TimeAmount(times.longBody)) {
            let (watch, context) = bound.value
            guard watch.phase == .readingBody else { return }
            guard watch.bodyByteCount - known >= Times.bodyByteCountMin else {
                return context.close(promise: nil)
            }
            watch.watchBody(context)
        }
    }

    /// What is due now. An answer may end before its request: then the rest of that is.
    private func settle(_ context: ChannelHandlerContext) {
        if isReading {
            if phase != .readingBody { begin(.readingBody, times.body, context) }
        } else if openCount > 0 {
            phase = .answering
            deadline?.cancel()
        } else {
            begin(.awaitingHead, times.idle, context)
        }
    }

    private func begin(_ phase: Phase, _ time: Duration, _ context: ChannelHandlerContext) {
        self.phase = phase
        deadline?.cancel()
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: TimeAmount(time)) {
            bound.value.close(promise: nil)
        }
    }

    /// Says that the stream is still there, where nothing else said so.
    private func beat(_ context: ChannelHandlerContext) {
        let next = wroteAt + TimeAmount(times.keepAlive)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        keepAlive = context.eventLoop.scheduleTask(deadline: next) {
            let (watch, context) = bound.value
            guard watch.phase == .streaming else { return }
            // Behind what waits already it would say nothing.
            if context.channel.isWritable,
                NIODeadline.now() >= watch.wroteAt + TimeAmount(watch.times.keepAlive)
            {
                watch.wroteAt = .now()
                let comment = ByteBuffer(string: EventText.keepAlive)
                context.writeAndFlush(watch.wrapOutboundOut(.body(comment)), promise: nil)
            } else if !context.channel.isWritable {
                watch.wroteAt = .now()
            }
            watch.beat(context)
        }
    }

    /// Hangs up once nothing of what waits was taken for a while.
    private func watchStall(_ context: ChannelHandlerContext, waiting: Int) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        stall = context.eventLoop.scheduleTask(in: TimeAmount(times.stall)) {
            let (watch, context) = bound.value
            let left = watch.waitingByteCount(context)
            guard left < waiting else { return context.close(promise: nil) }
            watch.watchStall(context, waiting: left)
        }
    }

    private func waitingByteCount(_ context: ChannelHandlerContext) -> Int {
        do {
            return try context.channel.syncOptions?.getOption(.bufferedWritableBytes) ?? 0
        } catch {
            // A channel that has closed has nothing that waits.
            return 0
        }
    }

    private func cancel() {
        for task in [deadline, stall, keepAlive] { task?.cancel() }
        (deadline, stall, keepAlive) = (nil, nil, nil)
    }
}

@available(*, unavailable)
extension ConnectionWatch: Sendable {}

/// Counts the bytes of a head before it is one: its parser keeps the first line whole, however long, and
/// also while an answer to an earlier request is still under way.
final class HeadLimit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var byteCount = 0
    private var watch: ConnectionWatch?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if watch == nil {
            // If there is none, the connection has closed.
            watch = try? context.pipeline.syncOperations.handler(type: ConnectionWatch.self)
        }
        let known = watch?.partCount
        let count = unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
        guard let watch, !watch.isReading, watch.partCount == known else {
            byteCount = 0
            return
        }
        byteCount += count
        if byteCount > HTTPAPI.headByteCountMax { context.close(promise: nil) }
    }
}

@available(*, unavailable)
extension HeadLimit: Sendable {}
