/// Why a link is closed. Never contains anything that was sent on it.
public enum LinkRejection: Error, Equatable, Sendable {
    /// The first three bytes name no handshake or version of ours.
    case unsupported
    /// A handshake message has a length that its place does not allow.
    case malformedHandshake
    /// A key of small order.
    case weakKey
    /// Bytes that were not sealed for this link at this place: altered, replayed, reordered,
    /// for another device or network, or under a key that is no more.
    case undecipherable
    /// What the peer shows of itself cannot be read.
    case malformedHello
    /// The peer's identity log does not hold.
    case badIdentity(IdentityRejection)
    /// The peer's identity log does not name its key as that of a device.
    case notCertified
    /// The peer is another device than the one that was called.
    case otherDevice
    /// Unknown callers show too much.
    case overAllowance
    /// A record that opens, and yet is not as records are.
    case malformedRecord
    /// A frame longer than any may be.
    case frameTooLarge(byteCount: Int)
    /// The peer kept a key for longer than it may.
    case rekeyOverdue
    /// A device wants to be linked, and nobody is waited for: no secret is open, or not any more.
    case nobodyAwaited
    /// A device wants to be linked by a secret that another one has used.
    case secretSpent
    /// A device wants to be linked, and does not hold the keys that it names.
    case badProof
    /// The device that links this one hands over a key for backups that the root did not sign.
    case badBackupKey
}

/// An order or event of a link.
public enum LinkEvent: Sendable {
    /// These bytes go to the peer, in this order.
    case send([UInt8])
    /// The peer is who it says; from now on frames may be sealed.
    case authenticated(AuthenticatedPeer)
    /// A whole frame of the peer's.
    case frame([UInt8])
}
