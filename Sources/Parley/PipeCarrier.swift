import ParleyTransport

/// What runs through a pipe of a relay: one end of a link.
protocol PipedEnd: AnyObject, Sendable {
    /// Whether the handshake is over.
    var isAuthenticated: Bool { get }
    func opened(over carrier: any LinkCarrier)
    func received(_ bytes: [UInt8])
    func becameWritable()
    func closed(_ reason: CloseReason)
}

extension LinkDriver: PipedEnd {}

/// One end of a pipe through a relay, as a link sees it.
final class PipeCarrier: LinkCarrier {
    private let pipe: UInt32
    private let relay: RelayDriver
    private weak let link: (any PipedEnd)?

    init(_ pipe: UInt32, of link: any PipedEnd, through relay: RelayDriver) {
        self.pipe = pipe
        self.link = link
        self.relay = relay
    }

    var remoteAddress: String { "through \(relay.remoteAddress)" }
    var isPiped: Bool { true }

    func send(_ bytes: [UInt8]) -> Bool {
        relay.perform { self.relay.send(bytes, through: self.pipe) }
    }

    func markAuthenticated() {}
    func markKnown() { relay.markKnown(link, in: pipe) }
    func pauseReading() { relay.pause(pipe, true) }
    func resumeReading() { relay.pause(pipe, false) }
    var pendingByteCount: Int { relay.pendingByteCount(of: pipe) }
    var isWritable: Bool { pendingByteCount <= LinkDriver.unreadByteCountMax }
    func awaitRoom() -> Bool { pendingByteCount == 0 }
    func close() { relay.perform { self.relay.hangUp(self.pipe) } }
    func perform(_ work: @escaping @Sendable () -> Void) { relay.perform(work) }
}
