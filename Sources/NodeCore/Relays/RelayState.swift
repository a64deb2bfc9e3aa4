public import ParleyLedger
public import ParleyWire

/// How a relay that this device uses is doing.
public struct RelayState: Equatable, Sendable {
    /// The relay's key.
    public var relay: NoiseKey
    /// Where it is.
    public var addresses: [String]
    /// Whether this device reads there; else it only brings something.
    public var isRead: Bool
    /// Whether a connection stands.
    public var isConnected: Bool
    /// Whether everything that lay there was taken.
    public var isDrained: Bool
    /// Whether this device has no mailbox there for want of a ticket.
    public var lacksTicket: Bool
    /// How often in a row it was called in vain.
    public var failureCount: UInt64
}

extension NodeCore {
    /// Relays that had no more room for a space today when they were last asked, ascending.
    public func relaysFull(of space: SpaceNumber) -> [NoiseKey] {
        courier.lines.filter { $0.value.full.values.contains { $0.space == space } }.keys.sorted()
    }

    /// The relays that are called now, ascending by key.
    public var relayStates: [RelayState] {
        courier.lines.sorted { $0.key < $1.key }.map { relay, line in
            RelayState(
                relay: relay, addresses: line.places.addresses, isRead: line.isReading,
                isConnected: line.phase == .open,
                isDrained: line.isOpenAndDrained,
                lacksTicket: line.lacksTicket, failureCount: line.pace.failureCount)
        }
    }
}
