import Glibc
import NIOCore

/// The side of a connection that lives on its event loop: phase, deadlines, the handler's calls.
///
/// ```
/// made ──opens──▶ open ──close()──▶ closing ──peer has read all, or too late──▶ closed
///                   └────────────── a deadline, abort(), a fault ─────────────────┘
/// ```
final class ConnectionDriver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private enum Phase { case made, open, closing, closed }

    /// The most that leaves in one buffer. A peer has to take as much to show that it reads.
    static let writeByteCountMax = 128 << 10

    private let shared: Shared
    private let gate: Gate?
    private let limits: TransportLimits
    private let outbox: Outbox
    private let handler: any ConnectionHandler

    private var channel: (any Channel)?
    private var connection: Connection?
    private var phase = Phase.made
    private var reason: CloseReason?
    private let ticket: Admission.Ticket
    private var isAuthenticated = false
    private var isKnown = false
    private var isReading = true
    private var heardAt = NIODeadline.distantPast
    private var takenAt = NIODeadline.distantPast
    private var handshakeDeadline: Scheduled<Void>?
    private var idleDeadline: Scheduled<Void>?
    private var stallDeadline: Scheduled<Void>?
    private var farewellDeadline: Scheduled<Void>?

    /// What all connections of a transport have in common.
    struct Shared: Sendable {
        let tally: Tally
        let registry: Registry
        let unread = Outbox.Total()
    }

    /// With a gate, the ticket is one that it gave; the driver tells it the end.
    init(
        handler: any ConnectionHandler, limits: TransportLimits, shared: Shared,
        admitted: (gate: Gate, ticket: Admission.Ticket)? = nil
    ) {
        self.handler = handler
        self.limits = limits
        self.shared = shared
        gate = admitted?.gate
        ticket = admitted?.ticket ?? 0
        outbox = Outbox(limits: limits, total: shared.unread)
    }

    /// Joins a channel that is connected but has not been read from, and reads.
    func join(_ channel: any Channel, attempt: String) throws -> Connection {
        guard shared.registry.isOpen, channel.isActive else {
            channel.close(promise: nil)
            let code = channel.isActive ? TransportFailure.Code.shutDown : .closedAtOnce
            throw TransportFailure(code, attempt: attempt)
        }
        try channel.pipeline.syncOperations.addHandler(self)
        guard let connection else { throw TransportFailure(.closedAtOnce, attempt: attempt) }
        if isReading { setAutoRead(true) }
        return connection
    }

    // MARK: What the channel tells

    func handlerAdded(context: ChannelHandlerContext) {
        channel = context.channel
        if context.channel.isActive { open(context.channel) }
    }

    func channelActive(context: ChannelHandlerContext) { open(context.channel) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase == .open else { return }
        let buffer = unwrapInboundIn(data)
        heardAt = .now()
        shared.tally.update { $0.bytesReceived += UInt64(buffer.readableBytes) }
        handler.received(Array(buffer.readableBytesView))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.broken(errno: (error as? IOError)?.errnoCode ?? EIO))
    }

    func channelInactive(context: ChannelHandlerContext) { finish() }

    func handlerRemoved(context: ChannelHandlerContext) { finish() }

    // MARK: What the connection orders

    /// Ends a turn: all that waits goes to the system in as few buffers as possible.
    func drain() {
        guard phase == .open || phase == .closing, let channel else { return }
        let batch = outbox.takeWaiting()
        guard !batch.isEmpty else { return }
        for buffer in Coalescing.buffers(of: batch, by: channel.allocator) {
            let byteCount = buffer.readableBytes
            channel.write(buffer).assumeIsolated().whenSuccess { self.written(byteCount) }
        }
        channel.flush()
        watchForStall()
    }

    func markAuthenticated() {
        guard phase == .open || phase == .closing, !isAuthenticated else { return }
        isAuthenticated = true
        handshakeDeadline?.cancel()
        gate?.authenticated(ticket)
    }

    func markKnown() {
        markAuthenticated()
        guard phase == .open || phase == .closing, !isKnown else { return }
        isKnown = true
        gate?.known(ticket)
    }

    func setReading(_ isReading: Bool) {
        guard phase == .open, self.isReading != isReading else { return }
        self.isReading = isReading
        heardAt = .now()
        setAutoRead(isReading)
    }

    func sayGoodbye(_ reason: CloseReason, within time: Duration?) {
        if let time {
            // A peer that has not completed the handshake is not waited for: there is nothing to
            // tell it.
            guard isAuthenticated else { return end(reason) }
            if phase == .closing {
                // It was told to close before, and had more time then.
                farewellDeadline?.cancel()
                farewellDeadline = after(time) { $0.end(reason) }
            }
        }
        guard phase == .open else { return }
        drain()
        // A write may have failed meanwhile, and so have ended the connection.
        guard phase == .open else { return }
        phase = .closing
        self.reason = reason
        cancelDeadlines()
        farewellDeadline = after(time ?? limits.farewellTimeMax) { $0.end(reason) }
        // Unread bytes at the close would make the system throw away what the peer has not read.
        setAutoRead(true)
        closeOutputWhenWritten()
    }

    /// Closes now, for this reason, unless there is one already.
    func end(_ reason: CloseReason) {
        guard phase != .closed else { return }
        self.reason = self.reason ?? reason
        outbox.discard()
        channel?.close(promise: nil)
    }

    // MARK: Phases

    private func open(_ channel: any Channel) {
        guard phase == .made else { return }
        let connection = Connection(driver: self, channel: channel, outbox: outbox)
        guard shared.registry.add(connection, channel) else {
            return end(.shutDown)
        }
        self.connection = connection
        phase = .open
        heardAt = .now()
        if let time = limits.handshakeTimeMax {
            handshakeDeadline = after(time) { $0.end(.handshakeTimeout) }
        } else {
            isAuthenticated = true
        }
        if let time = limits.idleTimeMax { idleDeadline = after(time) { $0.checkIdle(time) } }
        handler.opened(connection)
    }

    /// Comes from two sides, and counts once.
    private func finish() {
        guard phase != .closed else { return }
        let wasOpen = phase != .made
        phase = .closed
        cancelDeadlines()
        farewellDeadline?.cancel()
        outbox.discard()
        gate?.ended(ticket)
        let reason = self.reason ?? .closedByPeer
        shared.tally.update { $0.count(reason) }
        if let connection { shared.registry.remove(connection) }
        connection = nil
        channel = nil
        if wasOpen { handler.closed(reason) }
    }

    private func written(_ byteCount: Int) {
        takenAt = .now()
        shared.tally.update { $0.bytesSent += UInt64(byteCount) }
        let becameWritable = outbox.written(byteCount)
        switch phase {
        case .open:
            if becameWritable { handler.becameWritable() }
        case .closing:
            closeOutputWhenWritten()
        case .made, .closed:
            break
        }
    }

    /// The peer reads to our end, closes its side, and so we learn that it has everything.
    private func closeOutputWhenWritten() {
        guard outbox.byteCount == 0 else { return }
        channel?.close(mode: .output, promise: nil)
    }

    // MARK: Deadlines

    private func checkIdle(_ time: Duration) {
        guard phase == .open else { return }
        let now = NIODeadline.now()
        if !isReading { heardAt = now }
        let left = heardAt + TimeAmount(time) - now
        guard left > .zero else { return end(.idle) }
        idleDeadline = after(.nanoseconds(left.nanoseconds)) { $0.checkIdle(time) }
    }

    private func watchForStall() {
        guard stallDeadline == nil, phase == .open else { return }
        guard outbox.byteCount > limits.queueByteCountMax else { return }
        takenAt = .now()
        stallDeadline = after(limits.stallTimeMax) { $0.checkStall() }
    }

    private func checkStall() {
        stallDeadline = nil
        guard phase == .open, outbox.byteCount > limits.queueByteCountMax else { return }
        let left = takenAt + TimeAmount(limits.stallTimeMax) - .now()
        guard left > .zero else { return end(.slowReader) }
        stallDeadline = after(.nanoseconds(left.nanoseconds)) { $0.checkStall() }
    }

    private func cancelDeadlines() {
        handshakeDeadline?.cancel()
        idleDeadline?.cancel()
        stallDeadline?.cancel()
    }

    private func after(
        _ time: Duration, _ order: @escaping (ConnectionDriver) -> Void
    ) -> Scheduled<Void>? {
        channel?.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) { order(self) }
    }

    private func setAutoRead(_ isOn: Bool) {
        guard let options = channel?.syncOptions else { return }
        do {
            try options.setOption(.autoRead, value: isOn)
        } catch {
            // Only a closed channel refuses, and then there is nothing to read.
        }
    }
}
