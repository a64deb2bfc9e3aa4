import ParleySealing

/// The reasons for refusing a link, as `status` counts and shows them.
enum LinkRefusal: String, CaseIterable {
    case unsupported
    case malformedHandshake = "malformed-handshake"
    case weakKey = "weak-key"
    case undecipherable
    case malformedHello = "malformed-hello"
    case badIdentity = "bad-identity"
    case notCertified = "not-certified"
    case otherDevice = "other-device"
    case overAllowance = "over-allowance"
    case malformedRecord = "malformed-record"
    case frameTooLarge = "frame-too-large"
    case rekeyOverdue = "rekey-overdue"
    case nobodyAwaited = "nobody-awaited"
    case secretSpent = "secret-spent"
    case badProof = "bad-proof"
    case badBackupKey = "bad-backup-key"

    /// Stands before its word where all refusals are counted.
    static let prefix = "link-"

    init(_ rejection: LinkRejection) {
        self =
            switch rejection {
            case .unsupported: .unsupported
            case .malformedHandshake: .malformedHandshake
            case .weakKey: .weakKey
            case .undecipherable: .undecipherable
            case .malformedHello: .malformedHello
            case .badIdentity: .badIdentity
            case .notCertified: .notCertified
            case .otherDevice: .otherDevice
            case .overAllowance: .overAllowance
            case .malformedRecord: .malformedRecord
            case .frameTooLarge: .frameTooLarge
            case .rekeyOverdue: .rekeyOverdue
            case .nobodyAwaited: .nobodyAwaited
            case .secretSpent: .secretSpent
            case .badProof: .badProof
            case .badBackupKey: .badBackupKey
            }
    }

    /// What was refused, in a few words.
    var meaning: String {
        switch self {
        case .unsupported: "a connection that does not begin as this protocol does"
        case .malformedHandshake: "a connection whose handshake has an impossible length"
        case .weakKey: "a connection with a weak key"
        case .undecipherable:
            "bytes that were not encrypted for this connection: changed on the way, sent again, or "
                + "meant for another device"
        case .malformedHello: "a caller whose identity cannot be read"
        case .badIdentity: "a caller whose list of devices is not valid"
        case .notCertified: "a caller whose key is on no list of devices"
        case .otherDevice: "an answer from another device than the one that was called"
        case .overAllowance: "a caller who is not known here, and sent too much"
        case .malformedRecord: "a record that can be decrypted but is malformed"
        case .frameTooLarge: "a frame that is too long"
        case .rekeyOverdue: "a peer that used a key for too long"
        case .nobodyAwaited: "a device that wants to be linked while none is expected"
        case .secretSpent: "a device that wants to be linked with a text that another one has used"
        case .badProof: "a device that wants to be linked without having the keys that it names"
        case .badBackupKey: "a key for backups that the recovery code did not sign"
        }
    }
}

/// The reasons for refusing or ending an unauthenticated connection, as `status` counts and shows
/// them.
enum ConnectionRefusal: String, CaseIterable {
    case tooMany = "too-many"
    case tooManyStrangers = "too-many-strangers"
    case displaced
    case handshakeRate = "handshake-rate"
    case handshakeTimeout = "handshake-timeout"
    case idle
    case slowReader = "slow-reader"

    /// As ``LinkRefusal/prefix``.
    static let prefix = "connection-"

    /// What was refused, in a few words.
    var meaning: String {
        switch self {
        case .tooMany: "connections beyond the limit"
        case .tooManyStrangers: "callers who are not known here, beyond their limit"
        case .displaced: "a caller who is not known here, disconnected in favour of another"
        case .handshakeRate: "too many connections from one address"
        case .handshakeTimeout: "a caller who did not identify itself in time"
        case .idle: "a connection that was silent for too long"
        case .slowReader: "a peer that read too slowly"
        }
    }
}

extension PipeRefusal {
    /// As ``LinkRefusal/prefix``.
    static let prefix = "pipe-"

    /// What was refused, in a few words.
    var meaning: String {
        switch self {
        case .tooManyStrangers: "callers through a relay who are not known here, beyond their limit"
        case .displaced:
            "a caller through a relay who is not known here, disconnected in favour of another"
        case .handshakeTimeout: "a caller through a relay who did not identify itself in time"
        }
    }
}
