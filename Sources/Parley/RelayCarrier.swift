import ParleyTransport

/// What carries the bytes of a connection to a relay. Work that it was given while it stood is done though it
/// has ended meanwhile.
protocol RelayCarrier: AnyObject, Sendable {
    /// Where the relay is, for people.
    var remoteAddress: String { get }
    /// Queues bytes behind all that was sent before. Returns whether it could.
    @discardableResult func send(_ bytes: [UInt8]) -> Bool
    /// The relay has proven its key.
    func markAuthenticated()
    /// Reads nothing more until ``resumeReading()``.
    func pauseReading()
    /// Goes on reading.
    func resumeReading()
    /// Ends it after what was sent.
    func close()
    /// Does something where bytes come, in turn with them.
    func perform(_ work: @escaping @Sendable () -> Void)
    /// Does something there once so much time has passed.
    func perform(after delay: Duration, _ work: @escaping @Sendable () -> Void)
}

extension Connection: RelayCarrier {}
