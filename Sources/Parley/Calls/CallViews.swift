/// A call as one device sees it.
public struct CallView: Codable, Equatable, Sendable {
    /// A device that is in.
    public struct Member: Codable, Equatable, Sendable {
        /// The person's name.
        public var name: String
        /// The person, in hex.
        public var person: String
        /// The device, in hex.
        public var device: String
        /// Whether it is this one.
        public var isThis: Bool
        /// The media that it sends: `microphone`, `camera`, `screen`.
        public var media: [String]
        /// The state of the connection to it: `connected`, `broken`, or an earlier state; nil if
        /// there is none.
        public var connection: String?
    }
    /// The call, in hex.
    public var call: String
    /// Its conversation, in hex.
    public var conversation: String
    /// The name of that.
    public var name: String
    /// The author.
    public var caller: String
    /// Whether that is oneself, with any device.
    public var isOwn: Bool
    /// `calling` (this device calls), `ringing` (it rings here), `joining` (it was answered here),
    /// `connecting` (this device is in, and no connection has been established yet), `talking`,
    /// `aside` (it continues, or may do so, without this device) or `ended`.
    public var state: String
    /// The media that this device sends.
    public var media: [String]
    /// The members.
    public var members: [Member]
    /// Names of those whose devices ring, as far as this device was told.
    public var rings: [String]
    /// For how long a connection has stood; nil before the first one did.
    public var milliseconds: Int?
    /// Why it is over for this device, as a stable word.
    public var end: String?
    /// The same as a sentence for a person.
    public var reason: String?
}

/// Presence, as reported by their devices.
public struct PresenceReport: Codable, Equatable, Sendable {
    /// A person.
    public struct Entry: Codable, Equatable, Sendable {
        /// The person, in hex.
        public var person: String
        /// Their name.
        public var name: String
        /// `online`, `away` or `offline`.
        public var presence: String
        /// When they were there last, in Unix milliseconds; nil where they do not tell.
        public var lastSeen: UInt64?
        /// What they may see, if a setting exists for them alone.
        public var told: String?
    }
    /// Whether one is at this device.
    public var own: String
    /// What everybody else is let know: `everything`, `now` or `nothing`.
    public var told: String
    /// All contacts, by name.
    public var people: [Entry]
}

/// What calls need: this device's program, and the servers of all of the person's devices. Passwords
/// and secrets are never shown.
public struct CallSettingsView: Codable, Equatable, Sendable {
    /// A server.
    public struct Server: Codable, Equatable, Sendable {
        /// As WebRTC writes it.
        public var address: String
        /// `open` (it takes nothing), `name` (a name and a password that stay) or `secret`.
        public var access: String
        /// The name, where there is one that stays.
        public var name: String?
    }
    /// The program's absolute path and its arguments; empty if there is none.
    public var program: [String]
    /// Servers, in the order in which they were set last.
    public var servers: [Server]
}

/// What became of a call, the same on all devices.
public struct CallRecordView: Codable, Equatable, Sendable {
    /// The call, in hex.
    public var call: String
    /// Its conversation, in hex.
    public var conversation: String
    /// The name of that.
    public var name: String
    /// The author.
    public var caller: String
    /// Whether that is this person.
    public var isOwn: Bool
    /// When it began, in Unix milliseconds.
    public var time: UInt64
    /// `begun` (nothing else is known), `replaced`, `unanswered`, `cancelled`, `refused`,
    /// `declined`, `failed` or `talked`.
    public var outcome: String
    /// For how long people talked.
    public var milliseconds: Int
    /// Names of all who were in.
    public var people: [String]
    /// Whether one could have answered and did not.
    public var isMissed: Bool
    /// Whether oneself declined, and nobody else came.
    public var isDeclined = false
    /// Who declined this person's call, where there is only one other person to call; else nil.
    public var declinedBy: String? = nil
    /// Whether one was in oneself.
    public var wasIn = false
    /// Names of those who were in besides who began it and oneself.
    public var others: [String] = []
    /// The message right below it, by its `id`; nil if it is below all.
    public var below: String? = nil
    /// Its place among everything right above the same message: greater, as text, means further
    /// below. The same for everybody who holds the same.
    public var order: String = ""
}
