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
        case .malformedFrame: "bytes that are no message of this protocol"
        case .frameOutOfOrder: "something that was not its turn"
        case .overCredit: "more at once than was asked for"
        case .unprovenOperations: "something whose signature does not hold"
        case .unsignedOperations: "something that nobody signed"
        case .unconnectedOperations:
            "something that does not join what is here; it is asked for again"
        case .forkedLog: "a device wrote two histories"
        case .collidingLog: "a log whose short name another one has"
        case .foreignOperations:
            "what a device wrote that is not in the conversation, or where you are not: usual as "
                + "somebody comes or goes"
        case .foreignSpace:
            "a conversation from somebody who is not in it, or may not bring it here"
        case .invitation: "an invitation beyond what may wait for an answer"
        case .stranger: "a call by somebody who is no contact"
        case .invite: "an invite that was used up, over or not proven"
        case .ownInvite: "an invite that you took and that did not hold there"
        case .request: "a request to be a contact, beyond what may wait for an answer"
        case .card: "a card that does not hold"
        case .identity: "a list of devices that does not fit what is known"
        case .revokedDevice: "a device that its person has revoked"
        case .emptyClaim: "a claim to hold more of your own past, without proof"
        case .envelope: "something on a relay that nothing here opens"
        case .relay: "a relay did not do what was asked"
        case .ticket: "a ticket that a relay did not take: spent, taken back, or of another relay"
        case .tooManyFrames: "more work than anybody honest asks for"
        case .foreignSignal: "a signal of a device that is not in the conversation"
        case .tooManySignals: "more signals than calls need"
        case .wrongFile: "a piece of a file that is not what it should be; it is asked of others"
        case .unaskedFile: "a piece of a file that was not asked for, or was not wanted any more"
        case .tooManyPieces: "more pieces of files at once than anybody honest asks for"
        case .uselessShelf: "a shelf at a relay on which too much lay that is of no use"
        }
    }
}
