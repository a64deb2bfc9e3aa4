public import ParleyWire

/// The kinds of the control lane. Source: `Protocol/08-roster.md`, "Kinds".
extension OperationKind {
    /// The first operation of a space.
    public static let genesis = OperationKind(rawValue: 1)
    /// A person comes into the space.
    public static let addMember = OperationKind(rawValue: 2)
    /// A person is out, and their operations count as far as the cut says.
    public static let removeMember = OperationKind(rawValue: 3)
    /// A person's role changes.
    public static let setRole = OperationKind(rawValue: 4)
    /// Its author goes.
    public static let leave = OperationKind(rawValue: 5)
    /// A member's devices change.
    public static let ident = OperationKind(rawValue: 6)
    /// A new generation of sealing keys.
    public static let epoch = OperationKind(rawValue: 7)
    /// A device's next leaf.
    public static let leafUpdate = OperationKind(rawValue: 8)
    /// What holds for the whole space changes.
    public static let settings = OperationKind(rawValue: 9)
    /// An invite for holders of a secret.
    public static let groupInvite = OperationKind(rawValue: 10)
    /// A person comes by an invite.
    public static let redeem = OperationKind(rawValue: 11)
    /// An epoch could not be opened by one that it was meant for.
    public static let fault = OperationKind(rawValue: 12)
    /// Its author has seen what it names.
    public static let acknowledgement = OperationKind(rawValue: 14)
    /// Its author's person wants to be in the conversation.
    public static let accept = OperationKind(rawValue: 15)

    /// Whether rosters are made of operations of this kind.
    public var isAuthority: Bool {
        switch self {
        case .genesis, .addMember, .removeMember, .setRole, .leave, .ident, .settings,
            .groupInvite, .redeem:
            true
        // Not an enumeration of ours: kinds are numbers, and most of them are unknown.
        default: false
        }
    }
}
