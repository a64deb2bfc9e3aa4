import ParleyTransport

/// What carries the bytes of a link: a connection of its own, or a pipe through a relay.
protocol LinkCarrier: AnyObject, Sendable {
    /// Where the other end is, for people.
    var remoteAddress: String { get }
    /// Whether it runs through a relay.
    var isPiped: Bool { get }
    /// Queues bytes behind all that was sent before. Returns whether it could.
    @discardableResult func send(_ bytes: [UInt8]) -> Bool
    /// Bytes that wait to be taken by the other end.
    var pendingByteCount: Int { get }
    /// Whether more should be sent now; if not, the handler's `becameWritable` tells when.
    var isWritable: Bool { get }
    /// Whether next to nothing waits to be taken; if not, the handler's `becameWritable` tells when.
    func awaitRoom() -> Bool
    /// The other end is known now.
    func markAuthenticated()
    /// The other end is a person whom this node serves.
    func markKnown()
    /// Reads nothing more until ``resumeReading()``.
    func pauseReading()
    /// Resumes reading.
    func resumeReading()
    /// Ends it after the pending output was sent.
    func close()
    /// Does something where bytes come, in turn with them.
    func perform(_ work: @escaping @Sendable () -> Void)
}

extension Connection: LinkCarrier {
    var isPiped: Bool { false }
}
