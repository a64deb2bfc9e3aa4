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
        case .unsupported: "a call that does not begin as those of this protocol do"
        case .malformedHandshake: "a call whose greeting has a length that none has"
        case .weakKey: "a call with a key that keeps nothing secret"
        case .undecipherable:
            "bytes that were not sealed for this link: changed on the way, sent again, or meant for "
                + "another device"
        case .malformedHello: "a caller who shows nothing that can be read of who it is"
        case .badIdentity: "a caller whose list of devices does not hold"
        case .notCertified: "a caller whose key no list of devices names"
        case .otherDevice: "another device answered than the one that was called"
        case .overAllowance: "a caller who is not known here showed too much"
        case .malformedRecord: "a record that opens and is not as records are"
        case .frameTooLarge: "a message longer than any may be"
        case .rekeyOverdue: "a peer kept a key for longer than it may"
        case .nobodyAwaited: "a device wants to be linked while none is waited for"
        case .secretSpent: "a device wants to be linked by a text that another has used"
        case .badProof: "a device wants to be linked and does not hold the keys that it names"
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
        case .tooMany: "connections beyond what may be open at a time"
        case .tooManyStrangers: "callers who are not known here, beyond their share"
        case .displaced: "a caller who is not known here gave way to another"
        case .handshakeRate: "more calls from one place than may come in that time"
        case .handshakeTimeout: "a caller who did not say in time who it is"
        case .idle: "a connection on which nothing came for too long"
        case .slowReader: "a peer who took too long to take what was sent"
        }
    }
}

extension PipeRefusal {
    /// As ``LinkRefusal/prefix``.
    static let prefix = "pipe-"

    /// What was refused, in a few words.
    var meaning: String {
        switch self {
        case .tooManyStrangers: "callers through a relay who are not known here, beyond their share"
        case .displaced: "a caller through a relay who is not known here gave way to another"
        case .handshakeTimeout: "a caller through a relay who did not say in time who it is"
        }
    }
}
