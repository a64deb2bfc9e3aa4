/// Integers that a decoder reads as they are: which they are, and that nobody computes
/// with them. All others are `Bounded`, whose type holds the range.
enum OutsideNumbers {
    /// Why a file may read so many integers that no type bounds.
    struct Exemption {
        let count: Int
        let why: String

        init(_ count: Int, _ why: String) {
            self.count = count
            self.why = why
        }
    }

    /// How often each file reads one. A number that is computed with has no place here.
    static let raw: [String: Exemption] = [
        "Sources/Wire/Bounded.swift": .init(3, "checked there"),
        "Sources/Wire/ByteReader.swift": .init(4, "places and counts, checked there; hashes"),
        "Sources/Wire/DNSMessage+Codec.swift": .init(12, "counts, flags, types; a lifetime"),
        "Sources/Wire/Frame+Codec.swift": .init(11, "hashes, tags, names, bits; a version"),
        "Sources/Wire/Operation+Codec.swift": .init(5, "tags, kinds; clocks, checked there"),
        "Sources/Wire/RelayAnswer+Codec.swift": .init(
            7, "counters of a relay, handed back to it; what it says of itself; waits of 32 bits"),
        "Sources/Wire/RelayFrame+Codec.swift": .init(
            13, "counters of a relay or its client, compared; names of pipes; credits of 32 bits"),
        "Sources/Wire/Run.swift": .init(1, "checked there"),
        "Sources/Sealing/Epochs/Envelope.swift": .init(3, "a name, a length; a step, see Chain"),
        "Sources/Sealing/Epochs/EpochBody.swift": .init(2, "a count, checked there; names"),
        "Sources/Sealing/Epochs/InviteMailbox.swift": .init(1, "a length"),
        "Sources/Sealing/Epochs/Letter.swift": .init(1, "a length"),
        "Sources/Sealing/Epochs/PrekeyCertificate.swift": .init(2, "a number, compared; a length"),
        "Sources/Sealing/IdentityOperation.swift": .init(
            3, "a place, checked there; a length; a time for show"),
        "Sources/Sealing/Keystore+Codec.swift": .init(3, "costs, checked there; a length"),
        "Sources/Sealing/Link/LinkCredentials.swift": .init(2, "lengths"),
        "Sources/Ledger/Stand.swift": .init(1, "this device's own rows"),
        "Sources/Ledger/LogView.swift": .init(3, "this device's own rows"),
        "Sources/Conversation/Features/Archive.swift": .init(2, "compared"),
        "Sources/Conversation/Features/Discretion.swift": .init(1, "counts, checked by PlaceSet"),
        "Sources/Conversation/Features/Star.swift": .init(2, "a tag; a place, checked there"),
        "Sources/Conversation/Features/SentAgain.swift": .init(
            4, "tags; places, checked there"),
        "Sources/Conversation/Features/PollClose.swift": .init(
            3, "a tag; a place and choices, checked there"),
        "Sources/Signalling/Signal+Codec.swift": .init(
            3, "a stamp and an offer's number, checked there; an age, compared"),
        "Sources/Conversation/Features/Reminder.swift": .init(
            3, "a time, a tag and a place, checked there"),
        "Sources/Conversation/Features/ScheduledMessage.swift": .init(1, "a time, checked there"),
        "Sources/NodeCore/EventEntry.swift": .init(8, "this device's own rows"),
        "Sources/NodeCore/Conversations/FormerLog.swift": .init(6, "this device's own rows"),
        "Sources/NodeCore/Conversations/FormerMarks.swift": .init(1, "this device's own rows"),
        "Sources/NodeCore/Rosters/NodeCore+Branches.swift": .init(1, "this device's own rows"),
        "Sources/NodeCore/Conversations/SentOnce.swift": .init(2, "this device's own rows"),
        "Sources/NodeCore/Conversations/PendingDisappearance.swift": .init(
            5, "this device's own rows"),
        "Sources/NodeCore/Conversations/DeletedImports.swift": .init(3, "this device's own rows"),
        "Sources/NodeCore/Files/FileLook.swift": .init(3, "this device's own rows"),
        "Sources/NodeCore/Files/FileSettings.swift": .init(4, "own settings, bounded there"),
        "Sources/NodeCore/People/Invitation.swift": .init(5, "this device's own rows"),
        "Sources/NodeCore/Intake/MissingBodies.swift": .init(3, "this device's own rows"),
        "Sources/NodeCore/Rosters/NodeCore+Awaited.swift": .init(1, "this device's own rows"),
        "Sources/NodeCore/Relays/NodeCore+Inboxes.swift": .init(2, "this device's own rows"),
        "Sources/NodeCore/History/NodeCore+Kept.swift": .init(4, "this device's own rows"),
        "Sources/NodeCore/Relays/NodeCore+Letters.swift": .init(1, "this device's own rows"),
        "Sources/NodeCore/People/Notice.swift": .init(1, "this device's own rows"),
        "Sources/NodeCore/People/OpenInvite.swift": .init(2, "this device's own rows"),
        "Sources/NodeCore/Relays/Outbox.swift": .init(3, "this device's own rows"),
        "Sources/NodeCore/Relays/RelayLine.swift": .init(2, "counters of a relay, compared"),
        "Sources/NodeCore/Files/ShelfRecord.swift": .init(5, "this device's own rows"),
        "Sources/Search/Models/Unigram.swift": .init(3, "checked there; a file of a known hash"),
        "Sources/Parley/BackupItem.swift": .init(2, "a count, checked there; a time for show"),
        "Sources/Parley/NodeKeys.swift": .init(1, "this device's own rows"),
        "Sources/Storage/SQLiteStore+Conversation.swift": .init(1, "this device's own rows"),
        "Sources/Storage/Records.swift": .init(3, "this device's own rows"),
        "Sources/Storage/Guard.swift": .init(1, "this device's own file"),
        "Sources/Storage/Search/WordIndex.swift": .init(1, "this device's own rows"),
    ]

    /// What fields of decoded values are called whose type is a plain integer. Places in logs are
    /// not among them: no decoder gives one from 2^62, and one below 0 is looked for by the fuzzer.
    static let fields = [
        "wallClock", "clock", "counter", "newest", "generation", "capabilities", "elapsed",
        "lastSeen", "began", "duration", "expires", "until", "retryAfter", "step", "sent", "uses",
        "usesLeft", "time",
    ]

    /// Where somebody computes with one all the same, and why nothing can go wrong.
    static let arithmetic: [String: Exemption] = [
        "Sources/Conversation/Features/CallRecord.swift": .init(1, "both below 2^43"),
        "Sources/Conversation/Features/Text.swift": .init(1, "a time below 2^43"),
        "Sources/Ledger/LogAuthor.swift": .init(2, "own times, below 2^43"),
        "Sources/Ledger/Stand.swift": .init(1, "a clock is below 2^43"),
        "Sources/NodeCore/EventLog.swift": .init(2, "halves of a cursor's generation, compared"),
        "Sources/NodeCore/Conversations/HeldImports.swift": .init(2, "times of a log, below 2^43"),
        "Sources/NodeCore/Rosters/MembershipPlacing.swift": .init(1, "a clock is below 2^43"),
        "Sources/NodeCore/Keys/NodeCore+Epochs.swift": .init(1, "own times"),
        "Sources/NodeCore/Relays/NodeCore+Inboxes.swift": .init(
            3, "own times, below 2^43 by `step`"),
        "Sources/NodeCore/Relays/NodeCore+InviteCards.swift": .init(1, "an end below 2^43"),
        "Sources/NodeCore/Keys/NodeCore+Keys.swift": .init(4, "own times, below 2^43 by `step`"),
        "Sources/NodeCore/Relays/NodeCore+Letters.swift": .init(
            1, "own times, below 2^43 by `step`"),
        "Sources/NodeCore/Conversations/NodeCore+Ringing.swift": .init(
            1, "the lesser is taken off"),
        "Sources/NodeCore/Relays/NodeCore+Refusals.swift": .init(1, "own patience"),
        "Sources/NodeCore/People/OpenInvite.swift": .init(2, "an own end, bounded; a part"),
        "Sources/Reconciliation/SyncSession.swift": .init(1, "bytes that were counted here"),
        "Sources/Relaying/RelayStore.swift": .init(1, "a relay's own counter"),
        "Sources/Roster/ControlGraph.swift": .init(1, "a clock is below 2^43"),
        "Sources/Roster/Resolving/Resolution.swift": .init(1, "the lesser is taken off"),
        "Sources/Sealing/Epochs/Chain.swift": .init(3, "own steps, below 4,096"),
        "Sources/Sealing/Keystore.swift": .init(1, "own generation"),
        "Sources/Signalling/Call.swift": .init(1, "compared right before"),
        "Sources/Storage/Rescue/Home+Rescue.swift": .init(1, "a time of this disk, compared first"),
        "Sources/Signalling/Freshness.swift": .init(1, "both below 2^44"),
        "Sources/Signalling/PresenceBook.swift": .init(1, "made smaller"),
        "Sources/Wire/BoundedFields.swift": .init(1, "made smaller"),
        "Sources/Wire/Operation+Codec.swift": .init(3, "checked right before"),
        "Sources/Files/Cleaning/SoundForm.swift": .init(1, "the lesser is taken off"),
        "Sources/Importing/LinesAlike.swift": .init(2, "divided by a day"),
        "Sources/Notes/EditWalk.swift": .init(1, "1 or -1"),
        "Sources/Storage/Vault.swift": .init(1, "own generation"),
        "Sources/Parley/Calls/Views+Calls.swift": .init(1, "a time below 2^43"),
        "Sources/Parley/Links/LinkDesk.swift": .init(1, "an own bound"),
        "Sources/Parley/Links/LinkFetcher.swift": .init(1, "an own bound"),
        "Sources/Parley/LogErasure.swift": .init(2, "own times"),
        "Sources/Parley/Media/CagedProgram.swift": .init(1, "an own bound"),
        "Sources/Parley/Media/SoundDecoder.swift": .init(1, "a length of 32 bits, in milliseconds"),
        "Sources/Parley/QRCode.swift": .init(1, "places in a square"),
        "Sources/Parley/Requests/Stats.swift": .init(1, "the lesser is taken off"),
        "Sources/Parley/RunningNode+Effects.swift": .init(1, "compared right before"),
        "Sources/Parley/Search/PlaceTable.swift": .init(1, "own rows"),
        "Sources/Parley/Search/SearchDesk.swift": .init(1, "as fractions"),
        "Sources/Parley/Views+Clocks.swift": .init(2, "a time below 2^43, twice"),
        "Sources/Parley/Views+People.swift": .init(1, "own times"),
        "Sources/Parley/Views+Reports.swift": .init(1, "own times"),
    ]

    private static let rooms = [
        "Wire", "Sealing", "Ledger", "Roster", "Conversation", "Signalling", "Reconciliation",
        "Relaying", "NodeCore", "Files", "Notes", "Search", "Importing", "RelayServer", "Storage",
        "Parley",
    ]

    /// How often each file of these rooms reads an integer that no type bounds.
    static func reads(in files: [SourceFile]) -> [String: Int] {
        // By itself `reader.number` is one word.
        let call = /\b(uint16|uint32|uint64|number)\(\)/.wordBoundaryKind(.simple)
        return counts(in: files) { line in
            // Quick: most lines end here.
            guard line.contains("()"), !line.contains("func ") else { return 0 }
            return line.matches(of: call).count
        }
    }

    /// In how many lines each file of these rooms computes with a field of that kind.
    static func computations(in files: [SourceFile]) -> [String: Int] {
        counts(in: files) { computes($0) ? 1 : 0 }
    }

    private static func counts(
        in files: [SourceFile], _ count: (Substring) -> Int
    ) -> [String: Int] {
        var found: [String: Int] = [:]
        for file in files where rooms.contains(file.room ?? "") && file.path.hasPrefix("Sources/") {
            let sum = file.codeLines.reduce(0) { $0 + count($1) }
            if sum > 0 { found[file.path] = sum }
        }
        return found
    }

    /// Whether an operator stands beside such a field.
    static func computes(_ line: Substring) -> Bool {
        // Quick: most lines end here.
        guard fields.contains(where: { line.contains($0) }) else { return false }
        let words = tokens(of: line)
        for (place, word) in words.enumerated() where fields.contains(word) {
            var after = place + 1
            while after < words.count, ["!", "?", ")"].contains(words[after]) { after += 1 }
            if after < words.count, operators.contains(words[after]) { return true }
            // A label, a call or a declaration is no value.
            if after == place + 1, after < words.count, [":", "("].contains(words[after]) {
                continue
            }
            var before = place - 1
            while before >= 1, words[before] == ".", words[before - 1].first?.isLetter == true {
                before -= 2
            }
            if before >= 0, ["$0", "$1"].contains(words[before]) { before -= 1 }
            if before >= 1, operators.contains(words[before]), words[before - 1] != "(" {
                return true
            }
        }
        return false
    }

    private static let operators: Set<String> = [
        "+", "-", "*", "/", "%", "<<", ">>", "&+", "&-", "&*", "...", "..<", "+=", "-=", "*=",
    ]

    /// Names, and what stands between them.
    private static func tokens(of line: Substring) -> [String] {
        line.matches(of: /[$\w]+|\.\.\.|\.\.<|->|&[-+*]|<<|>>|[-+*\/%]=?|[^\s\w]/).map {
            String($0.output)
        }
    }
}
