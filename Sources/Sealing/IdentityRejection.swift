public import ParleyWire

/// Why an operation of an identity log, or a whole log, is refused.
public enum IdentityRejection: Error, Equatable, Sendable {
    /// The bytes are not an operation.
    case malformed(DecodingFailure)
    /// The signature is not the author's.
    case badSignature
    /// The new device did not prove that it holds its key.
    case badProofOfPossession
    /// More operations than a log may have.
    case tooManyOperations(Int)
    /// There is no first operation, or more than one.
    case noSingleGenesis
    /// An operation belongs to another person.
    case otherPerson
    /// An operation names one that is not here.
    case missingCause(Digest)
    /// An operation's place or predecessor does not follow its author's last one.
    case brokenChain
}
