/// A device of the person's own.
public struct DeviceView: Codable, Equatable, Sendable {
    /// The device, in hex.
    public var device: String
    /// What the person calls it; empty where it has no name.
    public var name: String
    /// Whether it is the one that answers.
    public var isThis: Bool
    /// `active`, `revoked`, or `compromised`: it was seen to write two histories.
    public var state: String
    /// Whether a link to it is open.
    public var isLinked: Bool
    /// When it was last linked with this device, in Unix milliseconds; nil for never.
    public var lastSeen: UInt64?
    /// Where it was last known to be.
    public var addresses: [String]
    /// Whether only the recovery code can revoke it from here.
    public var needsRecoveryCode: Bool
}

/// What a new device needs to be linked.
public struct DeviceLinkView: Codable, Equatable, Sendable {
    /// One long word, valid for one device. Anybody who sees it can become the person's device. Empty
    /// until the person has confirmed what the page asked for.
    public var text: String
    /// When it ends, in Unix milliseconds.
    public var expires: UInt64
    /// What the person confirms it by, with `parley device confirm CODE`; nil if nothing is to confirm.
    public var code: String? = nil
}
