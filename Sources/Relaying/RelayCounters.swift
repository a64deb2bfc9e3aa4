import ParleyWire

/// What a relay has done since it started. Numbers only: none identifies anybody.
public struct RelayCounters: Equatable, Sendable {
    /// Connections that stood.
    public var connections: UInt64 = 0
    /// Requests, by action.
    public var requests: [String: UInt64] = [:]
    /// Requests that were refused, by why.
    public var refusals: [String: UInt64] = [:]
    /// Envelopes that were stored, and their bytes.
    public var envelopes: UInt64 = 0
    /// See ``envelopes``.
    public var envelopeBytes: UInt64 = 0
    /// Envelopes that were there already.
    public var repeats: UInt64 = 0
    /// Frames to subscribers.
    public var pushes: UInt64 = 0
    /// Pushes that were left out because the client reads too slowly, or was given too much.
    public var missed: UInt64 = 0
    /// Pipes that stood.
    public var pipes: UInt64 = 0
    /// Bytes through them.
    public var pipeBytes: UInt64 = 0
    /// Connections that the relay ended, by why.
    public var closings: [RelayClosing: UInt64] = [:]

    /// All zero.
    public init() {}
}

extension RelayAction {
    /// Whether the answer can be longer than any request.
    var isLong: Bool {
        switch self {
        case .get: true
        case .open, .put, .volatile, .subscribe, .unsubscribe, .acknowledge, .pipe: false
        }
    }

    /// The action's name, as page 06 has it.
    var name: String {
        switch self {
        case .open: "open"
        case .put: "put"
        case .volatile: "volatile"
        case .get: "get"
        case .subscribe: "sub"
        case .unsubscribe: "unsub"
        case .acknowledge: "ack"
        case .pipe: "pipe"
        }
    }
}

extension RelayRefusal {
    /// The reason's name, as page 06 has it.
    var name: String {
        switch self {
        case .busy: "busy"
        case .noMailbox: "noMailbox"
        case .forbidden: "forbidden"
        case .ticketNeeded: "ticketNeeded"
        case .badTicket: "badTicket"
        case .malformed: "malformed"
        case .nobodyThere: "nobodyThere"
        case .full: "full"
        }
    }
}
