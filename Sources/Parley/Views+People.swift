import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

extension Views {
    // MARK: Contacts

    func contacts() throws -> [ContactView] {
        var views: [ContactView] = []
        let linked = Set(core.linkedPeers.map(\.person))
        let notices = Dictionary(grouping: try Notice.all(in: store), by: \.person)
        for (person, state, isVerified) in try standings() {
            views.append(
                try view(
                    person, state: state, isVerified: isVerified, linked: linked,
                    notices[person] ?? []))
        }
        for person in try forgotten() {
            var lost = try view(
                person, state: "known", isVerified: false, linked: linked, notices[person] ?? [])
            lost.notices.append(try sentence(ofForgotten: person))
            views.append(lost)
        }
        return views.sorted { ($0.name, $0.person) < ($1.name, $1.person) }
    }

    /// Persons with a conversation of two and without a note, on a device that came back: the note
    /// was lost. Nobody but a contact ever began one.
    func forgotten() throws -> [PersonID] {
        guard let own = core.ownSpace, core.node.cameBack, core.rejoin == nil else { return [] }
        var found: [PersonID] = []
        for (key, _) in try store.values(.card) {
            guard let person = PersonID(key), person != ownPerson,
                try Overview.contact(person, ownSpace: own.number, in: store) == nil,
                try NodeCore.takenInvite(of: person, in: store) == nil,
                try hasDirect(with: person)
            else { continue }
            found.append(person)
        }
        return found.sorted()
    }

    /// The card of somebody whose note was lost, by their name or identifier; also where they have asked
    /// meanwhile. Nil for anybody else.
    func keptCard(of text: String) throws -> [UInt8]? {
        // What is no name of theirs may be a card.
        guard CardText(text) == nil, let person = try? self.person(text),
            try forgotten().contains(person) || contact(person)?.state == .pending
        else { return nil }
        return try store.value(.card, person.bytes)
    }

    /// The message about a person whose note was lost.
    func sentence(ofForgotten person: PersonID) throws -> String {
        "There is a conversation with \(try name(of: person)), but this node no longer knows "
            + "whether they are your contact or you blocked them: "
            + "`parley contact request \(person.short)` sends them a contact request, "
            + "`parley contact block \(person.short)` blocks them."
    }

    /// The word for where two persons stand; nil where there is nothing to say.
    private static func state(_ contact: Contact, _ invite: TakenInvite?) -> String? {
        if contact.isBlocked { return "blocked" }
        if let invite, !invite.isRefused, contact.state != .accepted { return "invited" }
        if invite != nil, contact.state == .none { return "refused" }
        switch contact.state {
        case .none: return contact.isVerified ? "known" : nil
        case .pending: return "pending"
        case .requested: return "requested"
        case .accepted: return "accepted"
        case .declined: return "declined"
        }
    }

    private func view(
        _ person: PersonID, state: String, isVerified: Bool, linked: Set<PersonID>,
        _ notices: [Notice]
    ) throws -> ContactView {
        ContactView(
            person: person.description, name: try bareName(of: person), state: state,
            isVerified: isVerified, isLinked: linked.contains(person),
            addresses: try CardReader.addresses(of: person, store),
            isWritable: try hasDirect(with: person) && state != "blocked",
            notices: try notices.map { try sentence($0) } + forkSentences(of: person)
                + fate(of: person)
                + whereabouts(ofRequestTo: person) + whereabouts(ofInviteOf: person),
            resembles: try resembles(person))
    }

    /// Present and future contacts with whom there may be no conversation yet.
    ///
    /// - Returns: each with whether it is they who ask, or who refused: their name is not one that
    ///   this person gave.
    func expected() throws -> [(person: PersonID, isAsking: Bool)] {
        try standings().compactMap { person, state, _ in
            switch state {
            case "invited", "requested", "accepted": (person, isAsking: false)
            case "pending", "refused": (person, isAsking: true)
            default: nil
            }
        }
    }

    /// How one stands with contacts, and with those whose invite was taken, as ``ContactView/state`` says it.
    private func standings() throws -> [(person: PersonID, state: String, isVerified: Bool)] {
        var invites = try takenInvites()
        var found: [(person: PersonID, state: String, isVerified: Bool)] = []
        if let own = core.ownSpace {
            for contact in try Overview.contacts(ownSpace: own.number, in: store) {
                let invite = invites.removeValue(forKey: contact.person)
                guard let state = Self.state(contact, invite) else { continue }
                found.append((contact.person, state, contact.isVerified))
            }
        }
        return found
            + invites.sorted { $0.key < $1.key }.map { person, invite in
                (person, invite.isRefused ? "refused" : "invited", false)
            }
    }

    /// Invites of others that were taken and have not led to them.
    private func takenInvites() throws -> [PersonID: TakenInvite] {
        var found: [PersonID: TakenInvite] = [:]
        for (key, _) in try store.values(.introduction) {
            guard let person = PersonID(key) else { continue }
            found[person] = try NodeCore.takenInvite(of: person, in: store)
        }
        return found
    }

    /// The state of an invite that has not led to its creator, if it no longer will.
    func fate(of person: PersonID) throws -> [String] {
        guard let invite = try NodeCore.takenInvite(of: person, in: store),
            try !isMetOrAsked(person)
        else { return [] }
        let name = try name(of: person)
        if invite.isRefused {
            return [
                "\(name) did not accept the invite: somebody else has used it, or it was revoked. "
                    + "Ask for another, and accept that."
            ]
        }
        guard invite.expires <= SystemClock.now.wall else { return [] }
        return [
            "\(name) has not answered, and the invite has expired: somebody else may have used it. "
                + "If you hear nothing, ask for another."
        ]
    }

    /// Where a request to be a contact is that is not answered, if it is on its way. Who declines it, or
    /// keeps its author away, does not say so: it may have been read long since.
    private func whereabouts(ofRequestTo person: PersonID) throws -> [String] {
        guard try contact(person)?.state == .requested,
            try NodeCore.isRequestRelayed(to: person, in: store)
        else { return [] }
        let name = try name(of: person)
        return [
            "A relay has your contact request to \(name), who gets it when they are next online, "
                + "if they have not had it. You are told only if they accept."
        ]
    }

    /// Why an invite that names a relay has not led to its creator: only known obstacles.
    private func whereabouts(ofInviteOf person: PersonID) throws -> [String] {
        guard let invite = try NodeCore.takenInvite(of: person, in: store), !invite.isRefused,
            let relay = invite.relay, invite.expires > SystemClock.now.wall,
            let state = core.relayStates.first(where: { $0.relay == relay }), !state.isConnected,
            state.failureCount > 0
        else { return [] }
        let name = try name(of: person)
        return [
            "The relay \(invite.address), on which the invite of \(name) waits for you, cannot be "
                + "reached. Your node keeps trying while it runs; you meet as soon as the relay "
                + "answers, or as soon as one of you reaches the other."
        ]
    }

    /// Whether there is a conversation with this person alone.
    private func hasDirect(with person: PersonID) throws -> Bool {
        for naming in try store.spaces(naming: person) where naming.isShared {
            if try store.space(naming.space)?.kind == .direct { return true }
        }
        return false
    }

    // MARK: Notices

    /// What happened to somebody's devices, in words.
    func sentence(_ notice: Notice) throws -> String {
        let name = try name(of: notice.person)
        func devices(_ list: [DeviceID]) -> String {
            list.map(\.short).joined(separator: ", ")
        }
        switch notice.kind {
        case .devicesChanged:
            var parts: [String] = []
            if !notice.added.isEmpty { parts.append("has a new device, " + devices(notice.added)) }
            if !notice.revoked.isEmpty {
                parts.append("has revoked a device, " + devices(notice.revoked))
            }
            return "\(name), whom you verified, \(parts.joined(separator: ", and ")). If you know "
                + "of it: `parley contact verify \(notice.person.short) --equal` ends this notice."
        case .compromised:
            let code = try root(of: notice.person)
            let known = notice.added.filter { $0 != code }
            var sentences: [String] = []
            if known.count < notice.added.count { sentences.append(try codeInTwoHands(notice)) }
            if !known.isEmpty {
                sentences.append(
                    "A device of \(name), \(devices(known)), contradicts itself: somebody else may "
                        + "have its key. "
                        + (notice.person == ownPerson
                            ? "`parley device list` says what ends that."
                            : "Ask \(name) whether a copy of it was in use; if so, they must "
                                + "revoke it: `parley why \(known[0].short)` says what is "
                                + "known."))
            }
            return sentences.joined(separator: " ")
        }
    }

    /// The key that a person's recovery code produces, which is none of their devices.
    func root(of person: PersonID) throws -> DeviceID? {
        if person == ownPerson { return core.node.log.root }
        return try store.value(.card, person.bytes) == nil ? nil : identity(of: person).root
    }

    private func codeInTwoHands(_ notice: Notice) throws -> String {
        if notice.person == ownPerson { return Self.ownCodeInTwoHands }
        let name = try name(of: notice.person)
        return "The recovery code of \(name) was used twice, neither time knowing of the other: "
            + "somebody else may have it. Ask \(name) in another way whether both were them. If not, "
            + "somebody can always create devices in that name: \(name) needs a new identity, and "
            + "`parley contact block \(notice.person.short)` blocks the old one."
    }

    /// The same for the person whose code it is.
    private static let ownCodeInTwoHands =
        "Your recovery code was used twice, neither time knowing of the other, as when an old "
        + "backup was restored again. If both were you, `parley device list` shows your "
        + "devices. If not, somebody has your code and can always create devices in your name: "
        + "start again with `parley init --home FOLDER`, and tell your contacts."

    /// A sentence about a change to a contact, or nil: that they ask, or what happened to their
    /// devices a moment ago.
    func news(of person: PersonID, at wall: UInt64) throws -> String? {
        if let contact = try contact(person), contact.state == .pending, !contact.isBlocked {
            let alike = try resembles(person)
            return "\(try bareName(of: person)) sent you a contact request: parley contact accept "
                + "\(person.short), or parley contact decline \(person.short)"
                + (alike.isEmpty
                    ? "" : ". The name looks like that of \(alike.joined(separator: ", ")).")
        }
        if try NodeCore.takenInvite(of: person, in: store)?.isRefused == true {
            return try fate(of: person).first
        }
        for link in try PendingJoin.refused(store) where CardReader.person(of: link.card) == person
        {
            return try view(joining: link).fate + " Ask for another, and accept that."
        }
        let newest = try Notice.all(in: store).last { $0.person == person }
        return try newest.flatMap {
            $0.time + Self.newsAgeMax >= wall ? try sentence($0) : nil
        }
    }

    /// What happened longer ago, in milliseconds, is no news.
    private static let newsAgeMax: UInt64 = 5_000

    /// Names of those who wait for an answer.
    func requests() throws -> [String] {
        try contacts().filter { $0.state == "pending" }.map {
            try bytes(hex: $0.person).flatMap { PersonID($0) }.map { try name(of: $0) } ?? $0.name
        }
    }

    func contact(view person: PersonID) throws -> ContactView {
        let id = person.description
        if let view = try contacts().first(where: { $0.person == id }) { return view }
        let linked = Set(core.linkedPeers.map(\.person))
        let notices = try Notice.all(in: store).filter { $0.person == person }
        return try view(person, state: "known", isVerified: false, linked: linked, notices)
    }

    // MARK: Invites

    /// The invites of this device that make contacts; nothing before it has a card.
    func openInvites(at wall: UInt64) throws -> [InviteView] {
        let open = try OpenInvite.all(at: wall, store)
        return try open.allSatisfy { try $0.invite(by: core.node, store) != nil }
            ? open.map { try view($0) } : []
    }

    /// The relays on which the cards are looked for of those whose invites were taken, by person.
    func relaysOfInvites() throws -> [String: (key: NoiseKey, address: String, name: String)] {
        var found: [String: (key: NoiseKey, address: String, name: String)] = [:]
        for (person, invite) in try takenInvites() where !invite.isRefused {
            guard let key = invite.relay, invite.expires > SystemClock.now.wall else { continue }
            found[person.description] = (key, invite.address, try name(of: person))
        }
        return found
    }

    func invites(at wall: UInt64) throws -> [InviteView] {
        try OpenInvite.all(at: wall, store).map { try view($0) }
            + groupInvites().filter { $0.invite.expires > wall }.map { found in
                InviteView(
                    id: found.invite.operation.description, link: "",
                    expires: found.invite.expires, usesLeft: Int(found.invite.usesLeft),
                    guests: [], group: try view(of: found.space).name)
            }
    }

    func view(_ invite: OpenInvite) throws -> InviteView {
        guard let link = try invite.invite(by: core.node, store) else {
            throw NodeError("damaged", "This node has no card of its own.")
        }
        var view = InviteView(
            id: LogTag(invite.number).description, link: link.link, expires: invite.expires,
            usesLeft: invite.useCountMax - invite.guests.count,
            guests: try invite.guests.map { try name(of: $0) })
        switch link.place {
        case .relay(let relay, let addresses):
            view.relay = addresses.first
            view.relayKey = relay.description
            let choice = try choices().first { $0.relay == relay }
            view.relayState =
                choice.map { $0.until == nil ? nil : "leaving" } ?? "removed"
            view.isWaitingForRelay = invite.shown == nil && view.relayState != "removed"
        case .device(_, _, let addresses): view.addresses = addresses
        }
        return view
    }

    // MARK: Verification

    func safetyNumber(of person: PersonID) throws -> SafetyNumberView {
        let own = core.node.log
        let theirs = try identity(of: person)
        return SafetyNumberView(
            name: try name(of: person),
            number: ParleySealing.safetyNumber(between: own, and: theirs).description,
            code: VerificationCode(from: own, to: theirs).text,
            isVerified: try contact(person)?.isVerified ?? false)
    }

    /// Throws, with a prominent explanation, if a code is not the one that this person's own screen
    /// would show to them.
    func compare(_ code: String, with person: PersonID) throws {
        let own = core.node.log
        let expected = VerificationCode(from: try identity(of: person), to: own)
        let shown: VerificationCode
        do {
            shown = try VerificationCode(text: code)
        } catch {
            throw NodeError(
                "bad-code", "That is not a code for verifying, or part of it is missing.",
                hint: "A code begins with `parley:v1:`: “parley contact verify” shows theirs.")
        }
        guard shown != expected else { return }
        if shown == VerificationCode(from: own, to: try identity(of: person)) {
            throw NodeError(
                "own-code", "That is the code on your own screen.",
                hint: "Use the one that the other person sees.")
        }
        let name = try name(of: person)
        throw NodeError(
            "mismatch",
            "THE CODES DO NOT MATCH. The keys that \(name) shows are not the keys that this node "
                + "uses for \(name), or that code is for somebody else. Somebody may be between "
                + "you and read everything. Nothing was verified.",
            hint:
                "Send nothing private. Make sure that both of you mean the same person and scan "
                + "again; if they still differ, block this contact and connect again with a "
                + "new invite.")
    }

    func identity(of person: PersonID) throws -> IdentityLog {
        if let bytes = try store.value(.card, person.bytes) {
            return try IdentityLog(operations: Card(bytes: bytes).identity)
        }
        throw NodeError(.unknownPerson)
    }
}
