public import ParleyWire

/// A store in memory: for simulations and tests. It is a value, so that a copy put back is a
/// store that was set back.
public struct MemoryRelayStore: RelayStore, Sendable {
    private struct Mailbox {
        var writers: [WriterID] = []
        var expires: UInt64
        var byteCountMax: UInt64
        /// Whether a ticket was spent for it.
        var isPaid = false
        var isShelf = false
        /// When it was last opened, put into or acknowledged.
        var touched: UInt64 = 0
        var byteCount: UInt64 = 0
        var newest: UInt64 = 0
        var byteCounts: [RelayShare: UInt64] = [:]
        /// Ascending by counter.
        var entries: Queue<Kept> = []
        var counters: [Digest: UInt64] = [:]

        mutating func drop(_ count: Int) {
            for kept in entries.prefix(count) { forget(kept) }
            entries.dropOldest(count)
        }

        /// Drops the oldest of the greatest share, until no more is left.
        mutating func drop(until byteCountMax: UInt64) {
            guard byteCountMax > 0 else { return drop(entries.count) }
            var gone: Set<UInt64> = []
            while byteCount > byteCountMax, let share = RelayShare.greatest(of: byteCounts),
                let oldest = entries.first(where: {
                    $0.share == share && !gone.contains($0.entry.counter)
                })
            {
                gone.insert(oldest.entry.counter)
                forget(oldest)
            }
            guard !gone.isEmpty else { return }
            var left: Queue<Kept> = []
            for kept in entries where !gone.contains(kept.entry.counter) { left.append(kept) }
            entries = left
        }

        private mutating func forget(_ kept: Kept) {
            let size = UInt64(kept.entry.envelope.count)
            byteCount -= size
            byteCounts[kept.share, default: size] -= size
            counters[kept.hash] = nil
        }
    }

    private struct Kept {
        let hash: Digest
        let share: RelayShare
        let entry: RelayEntry
    }

    /// See ``RelayStore/starts``.
    public private(set) var starts: [RelayStart] = []
    /// See ``RelayStore/newest``.
    public private(set) var newest: UInt64 = 0
    private var mailboxes: [MailboxID: Mailbox] = [:]
    private let bounds: RelayStoreBounds
    /// Bytes of envelopes, by whether their mailbox is paid; of the unpaid ones those in shelves.
    private var byteCounts: (paid: UInt64, unpaid: UInt64, shelved: UInt64) = (0, 0, 0)
    /// What a ticket pays for, by its hash.
    private var tickets: [Digest: UInt64] = [:]

    /// An empty store.
    ///
    /// - Parameters:
    ///   - start: names its first start.
    ///   - bounds: how much it keeps.
    public init(start: UInt64, bounds: RelayStoreBounds = RelayStoreBounds()) {
        self.bounds = bounds
        restart(start)
    }

    /// Bytes of envelopes that are kept.
    public var byteCount: UInt64 { byteCounts.paid + byteCounts.unpaid }

    /// Is opened again, as by a relay that starts.
    public mutating func restart(_ start: UInt64) {
        starts.insert(RelayStart(id: start, newest: newest), at: 0)
        starts.removeLast(max(0, starts.count - RelayWelcome.startCountMax))
    }

    /// Loses the content of one mailbox, silently.
    public mutating func lose(_ mailbox: MailboxID) {
        change(mailbox) { $0.drop(until: 0) }
    }

    /// Lets a ticket with this hash pay for so many bytes.
    public mutating func issue(_ ticket: Digest, byteCountMax: UInt64) {
        tickets[ticket] = byteCountMax
    }

    /// Everything stored: what a thief of the relay's memory finds.
    public var contents: [[UInt8]] {
        mailboxes.sorted { $0.key < $1.key }.flatMap { id, mailbox in
            [id.bytes] + mailbox.writers.map(\.bytes)
                + mailbox.entries.flatMap { [$0.hash.bytes, $0.entry.envelope] }
        } + tickets.keys.sorted().map(\.bytes)
    }

    /// See ``RelayStore/perform(_:at:)``. Never throws.
    public mutating func perform(
        _ orders: [RelayOrder], at now: UInt64
    ) throws(RelayStoreFailure) -> [RelayOutcome] {
        orders.map { perform($0, WallTime(clamping: now).value) }
    }

    private mutating func perform(_ order: RelayOrder, _ now: UInt64) -> RelayOutcome {
        switch order {
        case .open(let id, let writers, let ticket, let terms):
            return .answer(open(id, writers, ticket, terms, now))
        case .put(let id, let right, let share, let hash, let envelope):
            return put(envelope, hash, in: id, by: right, share, now)
        case .get(let id, let range): return .answer(get(id, range))
        case .read(let id, let reader, let range):
            guard let mailbox = mailboxes[id] else { return .answer(.refused(.noMailbox)) }
            guard mailbox.isShelf, mailbox.writers.contains(reader) else {
                return .answer(.refused(.forbidden))
            }
            return .answer(get(id, range))
        case .newest(let id): return .answer(.subscribed(newest: mailboxes[id]?.newest ?? 0))
        case .acknowledge(let id, let counter): return .answer(acknowledge(id, counter, now))
        case .mayWrite(let id, let right):
            return .answer(refusal(id, right, now).map { .refused($0) } ?? .done)
        case .expire(let envelopes): return expire(envelopes, now)
        }
    }

    /// Changes a mailbox, and carries on what the store holds in all.
    private mutating func change(_ id: MailboxID, _ body: (inout Mailbox) -> Void) {
        guard var mailbox = mailboxes.removeValue(forKey: id) else { return }
        discount(mailbox)
        body(&mailbox)
        keep(mailbox, as: id)
    }

    private mutating func keep(_ mailbox: Mailbox, as id: MailboxID) {
        if mailbox.isPaid {
            byteCounts.paid += mailbox.byteCount
        } else {
            byteCounts.unpaid += mailbox.byteCount
            if mailbox.isShelf { byteCounts.shelved += mailbox.byteCount }
        }
        mailboxes[id] = mailbox
    }

    private mutating func discount(_ mailbox: Mailbox) {
        if mailbox.isPaid {
            byteCounts.paid -= mailbox.byteCount
        } else {
            byteCounts.unpaid -= mailbox.byteCount
            if mailbox.isShelf { byteCounts.shelved -= mailbox.byteCount }
        }
    }

    /// Why nobody with this right may write now; nil where they may.
    private func refusal(
        _ id: MailboxID, _ right: MailboxRight, _ now: UInt64
    ) -> RelayRefusal? {
        guard let mailbox = mailboxes[id], mailbox.expires > now else { return .noMailbox }
        guard case .named(let writer) = right else { return nil }
        return !mailbox.isShelf && mailbox.writers.contains(writer) ? nil : .forbidden
    }

    private mutating func open(
        _ id: MailboxID, _ writers: [WriterID]?, _ ticket: Digest?, _ terms: MailboxTerms,
        _ now: UInt64
    ) -> RelayAnswer {
        var opened = mailboxes[id] ?? Mailbox(expires: 0, byteCountMax: 0)
        let isOver = opened.expires <= now
        if opened.expires <= now + terms.renewal {
            if let ticket, let paid = tickets.removeValue(forKey: ticket) {
                opened.byteCountMax = paid
                opened.expires = now + terms.lifetime
                opened.isPaid = true
            } else if terms.needsTicket {
                if isOver { return .refused(ticket == nil ? .ticketNeeded : .badTicket) }
            } else if isOver || !opened.isPaid {
                opened.byteCountMax = terms.byteCountMax
                opened.expires = now + terms.lifetime
                opened.isPaid = false
            }
        }
        // A relay that gives more room since it was started again gives it to what is there, too.
        if !opened.isPaid, !terms.needsTicket {
            opened.byteCountMax = max(opened.byteCountMax, terms.byteCountMax)
        }
        if let old = mailboxes.removeValue(forKey: id) { discount(old) }
        opened.writers = writers ?? opened.writers
        opened.isShelf = terms.isShelf
        opened.touched = now
        keep(opened, as: id)
        return .opened(expires: opened.expires, byteCountMax: opened.byteCountMax)
    }

    private mutating func put(
        _ envelope: [UInt8], _ hash: Digest, in id: MailboxID, by right: MailboxRight,
        _ share: RelayShare, _ now: UInt64
    ) -> RelayOutcome {
        if let refusal = refusal(id, right, now) { return .answer(.refused(refusal)) }
        if let counter = mailboxes[id]?.counters[hash] { return .known(counter: counter) }
        let size = UInt64(envelope.count)
        if let refusal = makeRoom(for: size, in: id, by: right) {
            return .answer(.refused(refusal))
        }
        let counter = RelayCounter.next(after: newest, at: now)
        newest = counter
        change(id) { mailbox in
            let entry = RelayEntry(counter: counter, envelope: envelope)
            mailbox.entries.append(Kept(hash: hash, share: share, entry: entry))
            mailbox.byteCounts[share, default: 0] += size
            mailbox.counters[hash] = counter
            mailbox.byteCount += size
            mailbox.newest = counter
            mailbox.touched = now
        }
        return .answer(.stored(counter: counter))
    }

    /// Lets envelopes go until so many bytes fit. Returns why they do not; nil where they do.
    private mutating func makeRoom(
        for size: UInt64, in id: MailboxID, by right: MailboxRight
    ) -> RelayRefusal? {
        guard let mailbox = mailboxes[id] else { return .noMailbox }
        let most = mailbox.isPaid ? bounds.byteCountMax : bounds.unpaidByteCountMax
        let quota = min(mailbox.byteCountMax, most)
        switch right {
        case .drop, .shelf:
            // The writer was told that the content is kept.
            guard mailbox.byteCount + size <= quota else {
                return right == .drop ? .full : .busyAsFull
            }
        case .inbox, .named:
            change(id) { $0.drop(until: quota - min(quota, size)) }
        }
        while isShort(of: size, for: mailbox) {
            guard let next = untouched(besides: id, forShelf: mailbox.isShelf && !mailbox.isPaid)
            else { return .busyAsFull }
            change(next) { $0.drop(until: 0) }
        }
        return nil
    }

    private func isShort(of size: UInt64, for mailbox: Mailbox) -> Bool {
        if byteCount + size > bounds.byteCountMax { return true }
        guard !mailbox.isPaid else { return false }
        return byteCounts.unpaid + size > bounds.unpaidByteCountMax
            || mailbox.isShelf && byteCounts.shelved + size > bounds.shelfByteCountMax
    }

    /// Which unpaid mailbox is emptied next: shelves before all others.
    private func untouched(besides id: MailboxID, forShelf: Bool) -> MailboxID? {
        let unpaid = mailboxes.filter {
            !$0.value.isPaid && $0.value.byteCount > 0 && $0.key != id
        }
        let shelves = unpaid.filter { $0.value.isShelf }
        return (shelves.isEmpty && !forShelf ? unpaid : shelves)
            .min { ($0.value.touched, $0.key) < ($1.value.touched, $1.key) }?.key
    }

    private func get(_ id: MailboxID, _ range: RelayRange) -> RelayAnswer {
        guard let mailbox = mailboxes[id] else {
            return .entries([], hasMore: false, newest: 0)
        }
        let kept = mailbox.entries.lazy.map(\.entry)
            .filter { $0.counter > range.after && $0.counter < range.before }
        var page: [RelayEntry] = []
        var byteCount = 0
        var hasMore = false
        for entry in range.isNewestFirst ? Array(kept.reversed()) : Array(kept) {
            byteCount += entry.envelope.count
            guard page.isEmpty || byteCount <= range.byteCountMax,
                page.count < Limits.relayEntryCountMax
            else {
                hasMore = true
                break
            }
            page.append(entry)
        }
        return .entries(page, hasMore: hasMore, newest: mailbox.newest)
    }

    private mutating func acknowledge(
        _ id: MailboxID, _ counter: UInt64, _ now: UInt64
    ) -> RelayAnswer {
        guard mailboxes[id] != nil else { return .refused(.noMailbox) }
        change(id) { mailbox in
            mailbox.drop(mailbox.entries.prefix { $0.entry.counter <= counter }.count)
            mailbox.touched = now
        }
        return .done
    }

    private mutating func expire(_ envelopes: UInt64, _ now: UInt64) -> RelayOutcome {
        for id in mailboxes.keys.sorted() {
            change(id) { mailbox in
                mailbox.drop(
                    mailbox.entries.prefix { $0.entry.counter < envelopes * 1000 }.count)
            }
            if let mailbox = mailboxes[id], mailbox.entries.isEmpty, mailbox.expires <= now {
                mailboxes[id] = nil
            }
        }
        return .answer(.done)
    }
}
