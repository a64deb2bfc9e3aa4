import ParleySealing

extension LinkRejection {
    /// The word under which `status` counts it.
    var code: String {
        switch self {
        case .unsupported: "unsupported"
        case .malformedHandshake: "malformed-handshake"
        case .weakKey: "weak-key"
        case .undecipherable: "undecipherable"
        case .malformedHello: "malformed-hello"
        case .badIdentity: "bad-identity"
        case .notCertified: "not-certified"
        case .otherDevice: "other-device"
        case .overAllowance: "over-allowance"
        case .malformedRecord: "malformed-record"
        case .frameTooLarge: "frame-too-large"
        case .rekeyOverdue: "rekey-overdue"
        case .nobodyAwaited: "nobody-awaited"
        case .secretSpent: "secret-spent"
        case .badProof: "bad-proof"
        case .badBackupKey: "bad-backup-key"
        }
    }
}
