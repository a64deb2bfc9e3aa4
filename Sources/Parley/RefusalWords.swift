import ParleyNodeCore

extension NodeStatus {
    /// The meaning of a code in ``refusals``, for readers of the count; nil for an unknown code,
    /// for example of a newer version.
    public static func meaning(ofRefusal code: String) -> String? {
        func word(behind prefix: String) -> String? {
            code.hasPrefix(prefix) ? String(code.dropFirst(prefix.count)) : nil
        }
        if let word = word(behind: LinkRefusal.prefix) {
            return LinkRefusal(rawValue: word)?.meaning
        }
        if let word = word(behind: ConnectionRefusal.prefix) {
            return ConnectionRefusal(rawValue: word)?.meaning
        }
        if let word = word(behind: PipeRefusal.prefix) {
            return PipeRefusal(rawValue: word)?.meaning
        }
        return Refusal(rawValue: code)?.meaning
    }

    /// Every code that ``refusals`` can hold.
    static var refusalCodes: [String] {
        Refusal.allCases.map(\.rawValue)
            + LinkRefusal.allCases.map { LinkRefusal.prefix + $0.rawValue }
            + ConnectionRefusal.allCases.map { ConnectionRefusal.prefix + $0.rawValue }
            + PipeRefusal.allCases.map { PipeRefusal.prefix + $0.rawValue }
    }
}

extension Refusal {
    /// What was refused, in a few words. Honest nodes cause most of these as well, now and then.
    fileprivate var meaning: String {
        switch self {
        case .malformedFrame: "bytes that are not a message of this protocol"
        case .frameOutOfOrder: "a message at the wrong time"
        case .overCredit: "more at once than was requested"
        case .unprovenOperations: "something with an invalid signature"
        case .unsignedOperations: "something without a signature"
        case .unconnectedOperations:
            "something that does not connect to what is here; it is requested again"
        case .forkedLog: "a device that wrote two histories"
        case .collidingLog: "a log with the same short name as another"
        case .foreignOperations:
            "something from a device that is not in the conversation, or where you are not: usual "
                + "when people join or leave"
        case .foreignSpace:
            "a conversation from somebody who is not in it, or may not send it here"
        case .invitation: "an invitation beyond the number that may wait for an answer"
        case .stranger: "a connection from somebody who is not a contact"
        case .invite: "an invite that was used up, expired or not proven"
        case .ownInvite: "an invite that you accepted and that was not valid there"
        case .request: "a contact request beyond the number that may wait for an answer"
        case .card: "a card that is not valid"
        case .identity: "a list of devices that contradicts what is known"
        case .revokedDevice: "a device that its person has revoked"
        case .emptyClaim: "a claim to have more of what you wrote, without proof"
        case .envelope: "something on a relay that cannot be decrypted here"
        case .relay: "a relay that did not do what was requested"
        case .ticket: "a ticket that a relay did not accept: spent, revoked, or for another relay"
        case .tooManyFrames: "more work than any honest device requests"
        case .foreignSignal: "a signal from a device that is not in the conversation"
        case .tooManySignals: "more signals than calls need"
        case .wrongFile: "a piece of a file that is wrong; it is requested from others"
        case .unaskedFile: "a piece of a file that was not requested, or no longer needed"
        case .tooManyPieces: "more pieces of files at once than any honest device requests"
        case .uselessShelf: "a place for a file at a relay that held too much useless data"
        }
    }
}
