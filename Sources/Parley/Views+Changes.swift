import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// The log of events as programs and screens read it.
extension Views {
    /// A page of the log.
    ///
    /// - Parameters:
    ///   - cursor: where to continue; nil for after everything.
    ///   - isKnown: whether it is of a page of this process, so that nothing after it was undone.
    func changes(after cursor: EventCursor?, limit: Int, isKnown: Bool) throws -> ChangePage {
        let after = try cursor ?? EventLog.end(in: store)
        let page =
            isKnown || cursor == nil
            ? try EventLog.page(from: after, limit: limit, in: store)
            : try EventLog.resume(after: after, limit: limit, in: store)
        var found = ChangePage(
            changes: page.gap.map { [ChangeView(missed: $0, cursor: page.begin)] } ?? [],
            cursor: page.cursor.text, isEnd: page.isEnd)
        var (byteCount, place, readCount) = (0, 0, Self.changeCountMin)
        while place < page.events.count {
            // A few at first, then more: long messages fill the page before many of them are read.
            let part = page.events.dropFirst(place).prefix(readCount)
            (place, readCount) = (place + part.count, readCount * 2)
            let messages = try messages(of: part.map(\.event))
            for (event, cursor) in part {
                var change = try change(event, messages)
                byteCount += change?.message?.lineByteCount ?? 0
                if byteCount > ChangePage.byteCountMax, let last = found.changes.last?.cursor {
                    // What the page before left out is reported as little as the event itself.
                    return ChangePage(changes: found.changes, cursor: last, isEnd: false)
                }
                change?.cursor = cursor.text
                if let change { found.changes.append(change) }
            }
        }
        return found
    }

    /// Changes whose messages are read together, at first.
    private static let changeCountMin = 4

    /// The messages of some events, as they are now: those of one conversation together.
    private func messages(of events: [Event]) throws -> [OperationNumber: MessageView] {
        var numbers: [SpaceNumber: Set<OperationNumber>] = [:]
        for event in events {
            guard let (space, number) = event.message else { continue }
            numbers[space, default: []].insert(number)
        }
        var found: [OperationNumber: MessageView] = [:]
        for (number, wanted) in numbers.sorted(by: { $0.key < $1.key }) {
            guard let space = try store.space(number), let roster = try roster(of: space) else {
                continue
            }
            let timeline = try timeline(of: space, roster)
            for message in try timeline.messages(wanted.sorted(), in: store) {
                found[message.number] = try view(message, in: space, roster)
            }
        }
        return found
    }

    /// An event as it is reported; nil for a message that no longer exists: another event says why. Of one that
    /// has disappeared, or was deleted for oneself, none does: screens read the conversation again.
    private func change(
        _ event: Event, _ messages: [OperationNumber: MessageView]
    ) throws -> ChangeView? {
        guard let (space, number) = event.message else { return try change(event.change) }
        guard let message = messages[number] else {
            let stored = try store.operation(number)
            let isGone =
                try stored.map {
                    try hasDisappeared($0) || isDeletedForOneself($0)
                } ?? false
            return isGone && !event.isNew ? try view("refolded", space) : nil
        }
        if case .mention = event.change {
            // It may have been edited since, so that it mentions the person no more.
            guard message.mentionsMe else { return nil }
            return ChangeView(
                kind: "mention", conversation: message.conversation, message: message,
                isNew: false)
        }
        return ChangeView(
            kind: "message", conversation: message.conversation, message: message,
            isNew: event.isNew)
    }

    /// Transient events, as they are reported; nil for everything else.
    func passing(_ change: ViewChange) throws -> ChangeView? {
        switch change {
        case .typing, .presence, .clocks: try self.change(change)
        case .message, .mention, .conversation, .receipts, .contact, .devices, .relays, .card,
            .membership,
            .invitation, .additionPolicy, .preference, .refolded, .calls, .together,
            .reminder, .notSent, .files, .disappearing:
            nil
        }
    }

    private func change(_ change: ViewChange) throws -> ChangeView? {
        switch change {
        // Files are reported with their message.
        case .message, .mention, .card, .files, .disappearing: return nil
        case .conversation(let space): return try view("conversation", space)
        case .receipts(let space): return try view("receipts", space)
        case .membership(let space): return try view("members", space)
        case .refolded(let space): return try view("refolded", space)
        // Calls in progress are reported one by one: see MediaDesk.
        case .calls(let space): return try view("calls", space)
        case .together(let space, let number):
            return try together(number, in: space)
        case .reminder(let id):
            var view = ChangeView(kind: "reminder")
            view.reminder = try reminder(id)
            view.conversation = view.reminder?.conversation
            return view
        case .notSent(let id):
            var view = ChangeView(kind: "scheduled")
            view.scheduled = try scheduled(id)
            view.conversation = view.scheduled?.conversation
            return view
        case .contact(let person):
            var view = ChangeView(kind: "contact", name: try name(of: person))
            view.notice = try news(of: person, at: SystemClock.now.wall)
            return view
        case .devices(let person): return ChangeView(kind: "devices", name: try name(of: person))
        case .relays: return ChangeView(kind: "relays")
        case .invitation(let space):
            if let known = try Invitation.into(space, in: store), try hides(known) { return nil }
            var view = ChangeView(kind: "invitation")
            view.conversation = space.description
            view.notice = try invitationNotice(of: space)
            return view
        case .additionPolicy: return ChangeView(kind: "invitations")
        case .preference: return ChangeView(kind: "preferences")
        case .typing(let space): return typing(in: space)
        case .presence(let person):
            return ChangeView(
                kind: "presence", name: try name(of: person), presence: presence(of: person).word)
        case .clocks:
            // Without a sentence, what differed does so no longer.
            let warnings = try clockWarnings(at: SystemClock.now)
            return ChangeView(kind: "clocks", notice: warnings.joined(separator: " "))
        }
    }

    /// A change of shared work; for withdrawn things it has only the kind.
    private func together(_ number: OperationNumber, in space: SpaceNumber) throws -> ChangeView {
        var view: ChangeView
        switch try store.operation(number)?.operation.header.kind {
        case .item?:
            view = try self.view("item", space)
            view.item = try item(number)
        case .note?:
            view = try self.view("note", space)
            view.note = try note(number)
        case .decision?:
            view = try self.view("decision", space)
            view.decision = try decision(number)
        default:
            view = try self.view("poll", space)
            view.poll = try poll(number)
        }
        return view
    }

    /// A change of a conversation; of one that was deleted here it names none.
    private func view(_ kind: String, _ space: SpaceNumber) throws -> ChangeView {
        var view = ChangeView(kind: kind)
        view.conversation = try store.space(space)?.id.description
        return view
    }
}

extension Event {
    /// The message that it is about, where it is about one.
    fileprivate var message: (space: SpaceNumber, number: OperationNumber)? {
        switch change {
        case .message(let space, let number), .mention(let space, let number): (space, number)
        default: nil
        }
    }
}

extension ChangeView {
    /// Something before this cursor is not told.
    init(missed gap: EventGap, cursor: EventCursor) {
        self.init(kind: "missed")
        missed = gap.rawValue
        self.cursor = cursor.text
        notice =
            switch gap {
            case .forgotten:
                "Some earlier changes are missing here: the log no longer goes back that far."
            case .undone:
                "The node stopped suddenly before the last changes shown were saved; what others "
                    + "have of them arrives again."
            case .foreign:
                "This cursor belongs to another node, or to this one before it was set back."
            }
    }

    /// Some transient events were dropped, because too many came at once.
    static var skipped: ChangeView {
        var view = ChangeView(kind: "missed")
        view.missed = "skipped"
        view.notice =
            "Changes of presence, typing and calls came too fast to show all of them."
        return view
    }
}

/// A cursor as text that programs pass back and do not look into.
extension EventCursor {
    var text: String {
        let place = "\(String(generation, radix: 16)).\(entry)"
        return skip == 0 ? place : "\(place).\(skip)"
    }

    init(text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let generation = UInt64(parts[0], radix: 16),
            let entry = UInt64(parts[1]), entry > 0, entry < 1 << 62,
            let skip = parts.count == 3 ? Int(parts[2]) : 0, (0..<1 << 31).contains(skip)
        else {
            throw NodeError(
                "bad-cursor", "“\(text)” is not a cursor.",
                hint: "Use the `cursor` of a change as it is.")
        }
        self.init(generation: generation, entry: entry, skip: skip)
    }
}
