/// Why a control operation changes no roster. It is kept and passed on all the same.
/// Source: `Protocol/08-roster.md`, "Permissions".
public enum ControlRejection: Error, Hashable, Sendable {
    /// The payload is not one of its kind, or breaks a limit.
    case malformed
    /// It is the first operation of another space, or no first operation.
    case notGenesis
    /// Its device had no place in the roster that its author saw.
    case notInRoster
    /// The author's role did not suffice.
    case roleTooLow
    /// The person or the device concerned does not rank below its author.
    case outranked
    /// The affected person was not in the roster.
    case unknownPerson
    /// The added person was in the roster.
    case alreadyMember
    /// Spaces of this kind keep the persons that they began with.
    case fixedRoster
    /// A member this far from the founder may promote nobody.
    case rankExhausted
    /// What gave the author the right ranks below the operation itself.
    case noGrant
    /// The identity operations do not prove the person's devices.
    case unprovenDevices
    /// Everything that it says about a person's devices its author had seen, or had said.
    case addsNothing
    /// The invite is unknown, has ended, or is another kind of operation.
    case unknownInvite
    /// As many came by the invite as may.
    case inviteUsedUp
    /// The invite's key did not sign for this person and device.
    case unprovenInvite
    /// The newcomer's device did not sign that its person wants to come, or not since the person left.
    case unwanted
    /// The person was removed, and the invite was not made since.
    case removedSince
}
