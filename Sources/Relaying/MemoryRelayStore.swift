public import ParleyWire

/// A store in memory: for simulations and tests. It is a value, so that a copy put back is a
/// store that was set back.
public struct MemoryRelayStore: RelayStore, Sendable {
    private struct Mailbox {
        var writer: MailboxID?
        var expires: UInt64
        var byteCountMax: UInt64
        var byteCount: UInt64 = 0
        var newest: UInt64 = 0
        /// Ascending by counter.
        var entries: [(hash: Digest, entry: RelayEntry)] = []
        var counters: [Digest: UInt64] = [:]

        mutating func drop(_ count: Int) {
            for (hash, entry) in entries.prefix(count) {
                byteCount -= UInt64(entry.envelope.count)
                counters[hash] = nil
            }
            entries.removeFirst(count)
        }
    }

    private struct Chunk {
        let bytes: [UInt8]
        let came: UInt64
    }

    /// See ``RelayStore/starts``.
    public private(set) var starts: [RelayStart] = []
    /// See ``RelayStore/newest``.
    public private(set) var newest: UInt64 = 0
    private var mailboxes: [MailboxID: Mailbox] = [:]
    private var chunks: [Digest: Chunk] = [:]
    /// What a ticket pays for, by its hash.
    private var tickets: [Digest: UInt64] = [:]

    /// An empty store.
    ///
    /// - Parameter start: names its first start.
    public init(start: UInt64) { restart(start) }

    /// Is opened again, as by a relay that starts.
    public mutating func restart(_ start: UInt64) {
        starts.insert(RelayStart(id: start, newest: newest), at: 0)
        starts.removeLast(max(0, starts.count - RelayWelcome.startCountMax))
    }

    /// Loses what is kept of one mailbox, and says nothing of it.
    public mutating func lose(_ mailbox: MailboxID) {
        guard let count = mailboxes[mailbox]?.entries.count else { return }
        mailboxes[mailbox]?.drop(count)
    }

    /// Lets a ticket with this hash pay for so many bytes.
    public mutating func issue(_ ticket: Digest, byteCountMax: UInt64) {
        tickets[ticket] = byteCountMax
    }

    /// All that is kept: what somebody who reads the relay's memory finds.
    public var contents: [[UInt8]] {
        mailboxes.sorted { $0.key < $1.key }.flatMap { id, mailbox in
            [id.bytes, mailbox.writer?.bytes ?? []]
                + mailbox.entries.flatMap { [$0.hash.bytes, $0.entry.envelope] }
        } + chunks.sorted { $0.key < $1.key }.flatMap { [$0.bytes, $1.bytes] }
            + tickets.keys.sorted().map(\.bytes)
    }

    /// See ``RelayStore/perform(_:at:)``. Never throws.
    public mutating func perform(
        _ orders: [RelayOrder], at now: UInt64
    ) throws(RelayStoreFailure) -> [RelayOutcome] {
        orders.map { perform($0, WallTime(clamping: now).value) }
    }

    private mutating func perform(_ order: RelayOrder, _ now: UInt64) -> RelayOutcome {
        switch order {
        case .open(let id, let writer, let ticket, let terms):
            return .answer(open(id, writer, ticket, terms, now))
        case .put(let id, let signer, let hash, let envelope):
            return put(envelope, hash, in: id, by: signer, now)
        case .get(let id, let range): return .answer(get(id, range))
        case .newest(let id): return .answer(.subscribed(newest: mailboxes[id]?.newest ?? 0))
        case .acknowledge(let id, let counter): return .answer(acknowledge(id, counter))
        case .mayWrite(let id, let signer):
            return .answer(refusal(id, signer, now).map { .refused($0) } ?? .done)
        case .putChunk(let id, let name, let chunk):
            if let refusal = refusal(id, id, now) { return .answer(.refused(refusal)) }
            if chunks[name] == nil { chunks[name] = Chunk(bytes: chunk, came: now) }
            return .answer(.stored(counter: 0))
        case .getChunk(let name):
            return .answer(chunks[name].map { .chunk($0.bytes) } ?? .refused(.noChunk))
        case .expire(let envelopes, let chunks): return expire(envelopes, chunks, now)
        }
    }

    /// Why this key may not write now; nil where it may.
    private func refusal(_ id: MailboxID, _ signer: MailboxID, _ now: UInt64) -> RelayRefusal? {
        guard let mailbox = mailboxes[id], mailbox.expires > now else { return .noMailbox }
        return signer == id || signer == mailbox.writer ? nil : .forbidden
    }

    private mutating func open(
        _ id: MailboxID, _ writer: MailboxID?, _ ticket: Digest?, _ terms: MailboxTerms,
        _ now: UInt64
    ) -> RelayAnswer {
        var mailbox = mailboxes[id]
        if (mailbox?.expires ?? 0) <= now + terms.renewal {
            var room = max(mailbox?.byteCountMax ?? 0, terms.byteCountMax)
            if let ticket, let paid = tickets.removeValue(forKey: ticket) {
                room = paid
            } else if terms.needsTicket, (mailbox?.expires ?? 0) <= now {
                return .refused(ticket == nil ? .ticketNeeded : .badTicket)
            } else if terms.needsTicket {
                room = 0
            }
            if room > 0 {
                var opened = mailbox ?? Mailbox(expires: 0, byteCountMax: 0)
                opened.expires = now + terms.lifetime
                opened.byteCountMax = room
                mailbox = opened
            }
        }
        guard var opened = mailbox else { return .refused(.noMailbox) }
        opened.writer = writer ?? opened.writer
        mailboxes[id] = opened
        return .opened(expires: opened.expires, byteCountMax: opened.byteCountMax)
    }

    private mutating func put(
        _ envelope: [UInt8], _ hash: Digest, in id: MailboxID, by signer: MailboxID, _ now: UInt64
    ) -> RelayOutcome {
        if let refusal = refusal(id, signer, now) { return .answer(.refused(refusal)) }
        if let counter = mailboxes[id]?.counters[hash] { return .known(counter: counter) }
        newest = RelayCounter.next(after: newest, at: now)
        var mailbox = mailboxes.removeValue(forKey: id) ?? Mailbox(expires: 0, byteCountMax: 0)
        while mailbox.byteCount + UInt64(envelope.count) > mailbox.byteCountMax,
            !mailbox.entries.isEmpty
        {
            mailbox.drop(1)
        }
        mailbox.entries.append((hash, RelayEntry(counter: newest, envelope: envelope)))
        mailbox.counters[hash] = newest
        mailbox.byteCount += UInt64(envelope.count)
        mailbox.newest = newest
        mailboxes[id] = mailbox
        return .answer(.stored(counter: newest))
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

    private mutating func acknowledge(_ id: MailboxID, _ counter: UInt64) -> RelayAnswer {
        guard let mailbox = mailboxes[id] else { return .refused(.noMailbox) }
        guard mailbox.writer != nil else { return .refused(.forbidden) }
        mailboxes[id]?.drop(mailbox.entries.prefix { $0.entry.counter <= counter }.count)
        return .done
    }

    private mutating func expire(
        _ envelopes: UInt64, _ chunksBefore: UInt64, _ now: UInt64
    ) -> RelayOutcome {
        for id in mailboxes.keys.sorted() {
            guard var mailbox = mailboxes.removeValue(forKey: id) else { continue }
            mailbox.drop(
                mailbox.entries.prefix { $0.entry.counter < envelopes * 1000 }.count)
            if !mailbox.entries.isEmpty || mailbox.expires > now { mailboxes[id] = mailbox }
        }
        chunks = chunks.filter { $1.came >= chunksBefore }
        return .answer(.done)
    }
}
