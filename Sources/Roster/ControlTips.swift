public import ParleyLedger

/// What an author had seen of the control lane: its last places, none in the past of another.
public struct ControlTips: Hashable, Sendable {
    /// The places, ascending; one a log.
    public let places: [LogTip]

    /// Tips at these places. ``ControlGraph/merge(_:_:)`` leaves out what others cover.
    public init(_ places: [LogTip] = []) { self.places = places.sorted() }
}
