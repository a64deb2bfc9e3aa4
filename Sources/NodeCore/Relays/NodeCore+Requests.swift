import ParleyConversation
public import ParleyLedger
import ParleyReconciliation
import ParleySealing
public import ParleyWire

/// Contact requests by letter, for people who may be away.
/// Source: `Protocol/05-identity.md`, "Contacts".
extension NodeCore {
    /// When an unanswered request is put again, in milliseconds.
    private static let requestInterval: UInt64 = 7 * day

    // MARK: Who asks

    /// Calls the relays of those who were asked, where a request is still to be put.
    mutating func callForRequests(_ turn: inout some Turn) throws(StoreError) {
        for (person, part) in try dueRequests(at: turn.now, turn.store) {
            for mailbox in part.mailboxes {
                guard try note(mailbox, namedBy: person, at: turn.now, turn.store) else { continue }
                call(mailbox.relay, &turn)
            }
        }
    }

    /// Puts requests into the inboxes on a relay of those who were asked.
    mutating func sendRequests(to relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        guard courier.lines[relay]?.phase == .open else { return }
        for (person, part) in try dueRequests(at: turn.now, turn.store) {
            let question = RelayQuestion.request(person, part.device)
            guard !courier.lines.values.contains(where: { $0.questions.contains(question) }) else {
                continue
            }
            let frames = try beginning(with: person, for: part.device, turn.store)
            _ = try send(frames, to: part, of: person, on: relay, for: question, &turn)
        }
    }

    /// What the conversation with somebody who was asked begins with, and how far it is; nothing where there is
    /// none.
    private mutating func beginning(
        with person: PersonID, for device: DeviceID, _ store: some Store
    ) throws(StoreError) -> [Frame] {
        guard let space = try directSpace(with: person, store) else { return [] }
        let own = try Catchup.frontier(
            of: space, .everything(), for: device, asks: false, in: store)
        return try frames(of: lane0(of: space, store), space).prefix(1) + [.frontier(own)]
    }

    /// The devices of those who were asked into whose inboxes a request is to be put, ascending.
    private func dueRequests(
        at now: Instant, _ store: some Store
    ) throws(StoreError) -> [(person: PersonID, part: CardPart)] {
        guard let ownSpace, !identity.isRevoked else { return [] }
        var due: [(person: PersonID, part: CardPart)] = []
        for contact in try Overview.contacts(ownSpace: ownSpace.number, in: store)
        where contact.state == .requested && !contact.isBlocked {
            for part in try CardReader.parts(of: contact.person, store)
            where !part.mailboxes.isEmpty && !part.prekeys.isEmpty {
                let last = try store.number(
                    .request, Self.requestKey(contact.person, part.device))
                if let last, now.wall < last + Self.requestInterval { continue }
                due.append((contact.person, part))
            }
        }
        return due
    }

    private static func requestKey(_ person: PersonID, _ device: DeviceID) -> [UInt8] {
        person.bytes + device.bytes
    }

    /// A relay has a request on its disk.
    func requestIsStored(_ person: PersonID, for device: DeviceID, _ turn: inout some Turn)
        throws(StoreError)
    {
        try turn.store.setNumber(turn.now.wall, .request, Self.requestKey(person, device))
        turn.emit(.changed([.contact(person)]))
    }

    /// Whether a relay has a request to this person, for one of their devices.
    public static func isRequestRelayed(
        to person: PersonID, in store: some NodeStore
    ) throws(StoreError) -> Bool {
        try store.values(.request).contains { $0.key.starts(with: person.bytes) }
    }

    /// A person is asked again, or a relay's content is gone: for one person, or for all.
    func forgetRequests(of person: PersonID?, _ store: some Store) throws(StoreError) {
        for (key, _) in try store.values(.request) where key.starts(with: person?.bytes ?? []) {
            try store.setValue(nil, .request, key)
        }
    }

    // MARK: Who is asked

    /// Handles what a letter says about being contacts: a stranger asks, or somebody answers whom
    /// this person had asked. It is verified at a separate pace, so that strangers do not keep
    /// anybody else from being read.
    ///
    /// - Returns: whether the letter is a request from a person who is not served.
    mutating func tookRequest(
        _ introduction: Introduction, by sender: DeviceID, _ card: Card, from relay: NoiseKey,
        _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        let person = card.person
        guard introduction.isRequest || introduction.isContact, person != identity.person,
            introduction.redemption == nil, try mayWrite(turn.store)
        else { return false }
        let known = try contact(person, turn.store)
        if known?.isBlocked == true { return false }
        switch known?.state ?? .none {
        case .accepted: return false
        case .pending, .declined: break
        case .requested:
            guard courier.letters.takeProof(from: relay, at: turn.now.monotonic) else {
                return false
            }
            guard let (sound, root) = Self.proven(card, by: sender) else { return false }
            try accept(sound, root: root, &turn)
            // Where both asked, the lesser makes the conversation.
            if introduction.isRequest, identity.person < person {
                try meet(person, sound.identity, &turn)
            }
            return false
        case .none:
            // A person who counts this one among their contacts has been one: links tell that.
            guard introduction.isRequest else { return false }
            guard courier.letters.takeRequestProof(at: turn.now.monotonic) else {
                try count(.tooManyFrames, turn.store)
                break
            }
            guard let (sound, root) = Self.proven(card, by: sender) else {
                try count(.card, turn.store)
                break
            }
            try ask(sound, root: root, &turn)
        }
        guard introduction.isRequest else { return false }
        return try !mayTalk(to: person, with: sender, turn.store)
    }

    /// The card that a letter shows with the part of its sender, and the root of its person, if it holds.
    private static func proven(_ card: Card, by sender: DeviceID) -> (Card, Digest)? {
        // The reason is not told: the sender is counted.
        guard let log = try? IdentityLog(operations: card.identity), log.person == card.person,
            log.certificate(of: sender) != nil,
            let part = card.parts.first(where: { $0.device == sender }),
            // As above.
            let sound = try? Card(person: card.person, identity: log.encoded, parts: [part])
                .verified(by: log)
        else { return nil }
        return (sound, Digest(reinterpreting: log.root))
    }
}
