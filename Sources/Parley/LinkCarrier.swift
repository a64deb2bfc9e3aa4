import ParleyTransport

/// What carries the bytes of a link: a connection of its own, or a pipe through a relay.
protocol LinkCarrier: AnyObject, Sendable {
    /// Where the other end is, for people.
    var remoteAddress: String { get }
    /// Whether it runs through a relay.
    var isPiped: Bool { get }
    /// Queues bytes behind all that was sent before. Returns whether it could.
    @discardableResult func send(_ bytes: [UInt8]) -> Bool
    /// The other end is known now.
    func markAuthenticated()
    /// Reads nothing more until ``resumeReading()``.
    func pauseReading()
    /// Goes on reading.
    func resumeReading()
    /// Ends it after what was sent.
    func close()
    /// Does something where bytes come, in turn with them.
    func perform(_ work: @escaping @Sendable () -> Void)
}

extension Connection: LinkCarrier {
    var isPiped: Bool { false }
}
