import NIOCore

/// One open socket to one peer: bytes out, and orders to the loop that reads it.
///
/// Every method may be called from any thread, at any time; after the end they do nothing.
///
/// **The outbound queue and its overflow rule.** Bytes wait in memory until the system takes them.
/// Above ``TransportLimits/writableByteCountMax`` ``isWritable`` is false, and a polite sender
/// waits for ``ConnectionHandler/becameWritable()``. While more than
/// ``TransportLimits/queueByteCountMax`` waits, the peer must take something every
/// ``TransportLimits/stallTimeMax``, else it is closed as ``CloseReason/slowReader``. Bytes that
/// would make the queue longer than ``TransportLimits/overflowByteCountMax`` close it at once.
public final class Connection: Sendable {
    /// The peer as text: `192.0.2.1:4711`, `[2001:db8::1]:4711`, or `unix` for a local socket.
    public let remoteAddress: String

    /// What tells one remote party from another: an IPv4 address, or the /64 of an IPv6 address;
    /// empty for a local socket.
    public let origin: [UInt8]

    private let loop: any EventLoop
    private let outbox: Outbox
    private let driver: NIOLoopBound<ConnectionDriver>

    /// Only on the channel's event loop, by the driver itself.
    init(driver: ConnectionDriver, channel: any Channel, outbox: Outbox) {
        loop = channel.eventLoop
        remoteAddress = Self.text(channel.remoteAddress)
        origin = Origin(channel.remoteAddress)?.prefix ?? []
        self.outbox = outbox
        self.driver = NIOLoopBound(driver, eventLoop: channel.eventLoop)
    }

    /// Queues bytes behind all that was queued before. All that is queued within one turn of the
    /// loop leaves in one write.
    ///
    /// - Returns: false when they go nowhere, because the connection closes or the queue is full.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty else { return true }
        switch outbox.add(bytes) {
        case .queued(isFirst: true):
            // Also on the loop itself: the turn has to end before it is known what goes together.
            loop.execute { self.driver.value.drain() }
            return true
        case .queued(isFirst: false):
            return true
        case .closed:
            return false
        case .overflow:
            onLoop { $0.end(.slowReader) }
            return false
        }
    }

    /// Bytes that wait for the system to take them.
    public var pendingByteCount: Int { outbox.byteCount }

    /// Whether more should be sent now. See the overflow rule above.
    public var isWritable: Bool { outbox.isWritable }

    /// Whether next to nothing waits, so that what is not urgent may be sent; if not,
    /// ``ConnectionHandler/becameWritable()`` tells once that is so. Urgent output never waits
    /// behind more than that.
    public func awaitRoom() -> Bool { outbox.awaitRoom() }

    /// The handshake has succeeded: its deadline ends, and its place among the unauthenticated
    /// is free again. It still is a guest. Call it once; further calls do nothing.
    public func markAuthenticated() { onLoop { $0.markAuthenticated() } }

    /// The peer is known to the user of the transport, or need not be: the connection is no longer
    /// a guest. Call it once; further calls do nothing.
    public func markKnown() { onLoop { $0.markKnown() } }

    /// Reads no more until ``resumeReading()``, so that the peer feels it when we cannot keep up.
    ///
    /// Bytes already read, and those in the system's buffer when the peer closes, may still be
    /// delivered.
    public func pauseReading() { onLoop { $0.setReading(false) } }

    /// Reads on. The silence until now was ours and does not count as the peer's.
    public func resumeReading() { onLoop { $0.setReading(true) } }

    /// Closes gracefully: nothing more is delivered or accepted; queued bytes are written, and the
    /// socket closed as soon as the peer has read them, at latest after
    /// ``TransportLimits/farewellTimeMax``.
    public func close() { close(.closedHere) }

    /// Closes at once. Queued bytes are lost.
    public func abort() { onLoop { $0.end(.closedHere) } }

    /// Runs a piece of work on the connection's event loop, in turn with the handler's calls. This
    /// is how state that belongs to the handler is reached from elsewhere without a lock.
    public func perform(_ work: @escaping @Sendable () -> Void) { loop.execute(work) }

    /// Runs a piece of work on the connection's event loop once so much time has passed, whether or
    /// not the connection is still open then.
    public func perform(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        loop.scheduleTask(in: TimeAmount(delay), work)
    }

    /// Stops the program when not called on the connection's event loop.
    public func preconditionOnLoop() { loop.preconditionInEventLoop() }

    func close(_ reason: CloseReason, within time: Duration? = nil) {
        outbox.close()
        onLoop { $0.sayGoodbye(reason, within: time) }
    }

    private func onLoop(_ order: @escaping @Sendable (ConnectionDriver) -> Void) {
        if loop.inEventLoop {
            order(driver.value)
        } else {
            loop.execute { order(self.driver.value) }
        }
    }

    private static func text(_ address: SocketAddress?) -> String {
        guard let host = address?.ipAddress, let port = address?.port else { return "unix" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
