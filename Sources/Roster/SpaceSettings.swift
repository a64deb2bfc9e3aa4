import ParleyPayloads
public import ParleyLedger

/// What a newcomer is given of messages from before they came.
public enum HistoryPolicy: Hashable, Sendable {
    /// Nothing.
    case none
    /// What is not older than this many days.
    case days(UInt32)
    /// All.
    case all
}

/// Settings of a whole space. Kind 9; nil leaves a setting as it is.
public struct SpaceSettings: Hashable, Sendable {
    /// The most days and hours that are taken: ten years.
    static let dayCountMax: UInt32 = 3650
    static let hourCountMax: UInt32 = 24 * 3650

    /// What a newcomer is given of earlier messages. Nil in a roster: nothing.
    public var history: HistoryPolicy?
    /// Hours after which an epoch is replaced. Nil in a roster: the default.
    public var rotationHours: UInt32?
    /// Who may write, add, pin and invite.
    public var rules: GroupRules

    /// Settings with these fields.
    public init(
        history: HistoryPolicy? = nil, rotationHours: UInt32? = nil,
        rules: GroupRules = GroupRules()
    ) {
        self.history = history
        self.rotationHours = rotationHours
        self.rules = rules
    }

    /// The operation for this, yet to be written; at least one field must be set.
    public func draft() -> Draft { .control(.settings, message) }

    /// Reads a payload.
    public init(payload: [UInt8]) throws(ControlRejection) {
        try self.init(try Payload.control(PayloadSettings.self, payload))
        guard self != SpaceSettings() else { throw .malformed }
    }

    /// As they stand in a payload.
    var message: PayloadSettings {
        var message = PayloadSettings()
        switch history {
        case nil: break
        case .some(.none): message.history = 0
        case .days(let days):
            message.history = 1
            message.historyDays = days
        case .all: message.history = 2
        }
        if let rotationHours { message.rotationHours = rotationHours }
        rules.put(in: &message)
        return message
    }

    /// Reads them out of a payload.
    init(_ message: PayloadSettings) throws(ControlRejection) {
        history = nil
        rotationHours = nil
        rules = GroupRules(message)
        if message.hasHistory {
            switch message.history {
            case 0: history = HistoryPolicy.none
            case 1:
                guard (1...Self.dayCountMax).contains(message.historyDays) else {
                    throw .malformed
                }
                history = .days(message.historyDays)
            case 2: history = .all
            // A number from the wire.
            default: throw .malformed
            }
        }
        guard message.historyDays == 0 || message.history == 1 else { throw .malformed }
        if message.hasRotationHours {
            guard (1...Self.hourCountMax).contains(message.rotationHours) else {
                throw .malformed
            }
            rotationHours = message.rotationHours
        }
    }
}
