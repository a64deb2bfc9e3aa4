import ParleySealing
import ParleyWire

extension Relay {
    /// Handles a client's request: decides what needs no store, and orders the rest.
    mutating func take(
        _ checked: CheckedRequest, _ connection: RelayConnection, _ now: UInt64,
        _ effects: inout [RelayEffect]
    ) {
        guard let client = clients[connection] else { return }
        guard client.pendingCount < Limits.relayRequestCountMax else {
            return hangUp(connection, .unruly, &effects)
        }
        clients[connection]?.heardAt = now
        counters.requests[checked.request.action.name, default: 0] += 1
        if let refusal = refusal(of: checked, connection, now) {
            return answer(.refused(refusal), to: checked.counter, connection, &effects)
        }
        let mailbox = checked.request.mailbox
        // Who reads it is told again of what it is not sent from here on.
        if case .get = checked.request.action { clients[connection]?.toldMissed.remove(mailbox) }
        let share = RelayShare(checked.right, from: client.origin, salt: salt)
        if let (step, purpose) = Self.plan(checked, share, policy) {
            order(step, checked, connection, for: purpose, now, &effects)
        } else if case .subscribe = checked.request.action {
            subscribe(connection, mailbox)
            order(.newest(mailbox), checked, connection, now, &effects)
        } else {
            clients[connection]?.toldMissed.remove(mailbox)
            if clients[connection]?.subscriptions.remove(mailbox) != nil {
                subscriptionCount -= 1
                origins[client.origin]?.subscriptionCount -= 1
            }
            unlist(connection, mailbox)
            answer(.done, to: checked.counter, connection, &effects)
        }
    }

    /// What the store is asked, and what for; nil for what concerns the connection.
    private static func plan(
        _ checked: CheckedRequest, _ share: RelayShare, _ policy: RelayPolicy
    ) -> (RelayOrder, Purpose)? {
        let mailbox = checked.request.mailbox
        let right = checked.right
        switch checked.request.action {
        case .open(let writers, let ticket):
            let hash: Digest? = ticket.map { digest(.relayTicket, $0) }
            return (
                .open(mailbox, writers: writers, ticket: hash, policy.terms(for: right)), .answer
            )
        case .put(let envelope):
            let hash: Digest = digest(.relayBlob, envelope)
            return (
                .put(mailbox, by: right, share: share, hash: hash, envelope: envelope),
                .put(mailbox, envelope: envelope)
            )
        case .volatile(let lifetime, let envelope):
            return (
                .mayWrite(mailbox, by: right),
                .pass(mailbox, lifetime: lifetime, envelope: envelope)
            )
        case .get(let range):
            if case .named(let reader) = right {
                return (.read(mailbox, by: reader, range), .answer)
            }
            return (.get(mailbox, range), .answer)
        case .acknowledge(let counter): return (.acknowledge(mailbox, upTo: counter), .answer)
        case .pipe: return (.mayWrite(mailbox, by: right), .call(mailbox))
        case .subscribe, .unsubscribe: return nil
        }
    }

    /// Why a request is refused before the store is asked; nil where it is not.
    private mutating func refusal(
        of checked: CheckedRequest, _ connection: RelayConnection, _ now: UInt64
    ) -> RelayRefusal? {
        if let busy = shortage(of: Cost(checked, policy), connection, now) { return busy }
        guard Self.mayAsk(checked.request.action, checked.right) else { return .forbidden }
        let pageCount = clients[connection]?.pendingPageCount ?? 0
        if checked.request.action.isLong, pageCount >= Limits.relayLongAnswerCountMax {
            return .busy(retryAfter: 100)
        }
        if case .subscribe = checked.request.action,
            let refusal = refusal(ofSubscribing: checked.request.mailbox, connection)
        {
            return refusal
        }
        if case .pipe = checked.request.action {
            guard policy.hasPipes else { return .nobodyThere }
            let count = clients[connection]?.calls.count ?? 0
            if count >= Limits.pipeCountMax { return .tooManyCalls }
        }
        return nil
    }

    /// Why nobody more is told of a mailbox over this connection; nil where it is, or was already. A
    /// subscription costs no bytes and needs no mailbox: the bound of a connection alone would be none.
    private func refusal(
        ofSubscribing mailbox: MailboxID, _ connection: RelayConnection
    ) -> RelayRefusal? {
        guard let client = clients[connection], !client.subscriptions.contains(mailbox) else {
            return nil
        }
        if client.subscriptions.count >= Limits.relaySubscriptionCountMax { return .malformed }
        let isFull =
            subscriptionCount >= policy.subscriptionCountMax
            || !client.origin.isEmpty
                && (origins[client.origin]?.subscriptionCount ?? 0)
                    >= policy.originSubscriptionCountMax
        return isFull ? .busy(retryAfter: 10_000) : nil
    }

    /// Whether a key with this right may ask this at all. Who may write into an inbox and who may read a
    /// shelf, the store knows.
    private static func mayAsk(_ action: RelayAction, _ right: MailboxRight) -> Bool {
        switch action {
        case .put, .get: true
        // Nobody waits at a shelf.
        case .volatile, .pipe: right != .shelf
        case .open(let writers, _):
            switch right {
            case .inbox, .shelf: true
            case .drop: writers == nil
            case .named: false
            }
        case .subscribe, .unsubscribe: right.isOwner
        // The others of a drop read it, too.
        case .acknowledge: right == .inbox || right == .shelf
        }
    }

    /// Refuses what no client may ask. It costs what any request costs.
    mutating func refuseMalformed(
        _ counter: UInt64, byteCount: Int, _ connection: RelayConnection, _ now: UInt64,
        _ effects: inout [RelayEffect]
    ) {
        guard clients[connection] != nil else { return }
        clients[connection]?.heardAt = now
        let busy = shortage(of: Cost(byteCount: byteCount), connection, now)
        answer(.refused(busy ?? .malformed), to: counter, connection, &effects)
    }

    /// What a request is charged to its connection and its address.
    private struct Cost {
        let byteCount: Int
        var openedCount = 0
        var storedByteCount = 0
        /// What it asks for at most.
        var givenByteCount = 0
        /// Files leave a quarter of everything to what people say.
        var leavesQuarter = false

        init(byteCount: Int) { self.byteCount = byteCount }

        init(_ checked: CheckedRequest, _ policy: RelayPolicy) {
            byteCount = checked.byteCount
            leavesQuarter = Self.isOfFile(checked)
            switch checked.request.action {
            case .open: openedCount = 1
            // If every mailbox is paid for, its ticket bounds what it holds.
            case .put(let envelope) where !policy.needsTicket: storedByteCount = envelope.count
            case .get(let range): givenByteCount = range.byteCountMax
            case .put, .volatile, .subscribe, .unsubscribe, .acknowledge, .pipe: break
            }
        }

        /// Whether it brings a piece of a file, or asks for some.
        private static func isOfFile(_ checked: CheckedRequest) -> Bool {
            switch (checked.right, checked.request.action) {
            case (.shelf, .put), (.shelf, .get), (.named, .get): true
            default: false
            }
        }
    }

    /// Takes a request from what its connection and its address are allowed.
    private mutating func shortage(
        of cost: Cost, _ connection: RelayConnection, _ now: UInt64
    ) -> RelayRefusal? {
        guard var client = clients[connection], var origin = origins[client.origin] else {
            return nil
        }
        // A refused request is not charged: otherwise a client that asks again at once would never
        // be let in.
        let isModest = cost.leavesQuarter
        let wait = max(
            client.requests.shortage(of: 1, leavesQuarter: isModest, at: now),
            origin.requests.shortage(of: 1, leavesQuarter: isModest, at: now),
            client.bytes.shortage(of: cost.byteCount, leavesQuarter: isModest, at: now),
            origin.bytes.shortage(of: cost.byteCount, leavesQuarter: isModest, at: now),
            client.giving.shortage(of: cost.givenByteCount, leavesQuarter: isModest, at: now),
            origin.giving.shortage(of: cost.givenByteCount, leavesQuarter: isModest, at: now),
            origin.openings.shortage(of: cost.openedCount, at: now),
            origin.storing.shortage(
                of: cost.storedByteCount, leavesQuarter: isModest, at: now))
        if wait == 0 {
            _ = client.requests.take(1, at: now)
            _ = origin.requests.take(1, at: now)
            _ = client.bytes.take(cost.byteCount, at: now)
            _ = origin.bytes.take(cost.byteCount, at: now)
            _ = origin.openings.take(cost.openedCount, at: now)
            _ = origin.storing.take(cost.storedByteCount, at: now)
        }
        clients[connection] = client
        origins[client.origin] = origin
        return wait == 0 ? nil : .busy(retryAfter: wait)
    }

    private mutating func subscribe(_ connection: RelayConnection, _ mailbox: MailboxID) {
        unlist(connection, mailbox)
        subscribers[mailbox, default: []].append(connection)
        guard let origin = clients[connection]?.origin,
            clients[connection]?.subscriptions.insert(mailbox).inserted == true
        else { return }
        subscriptionCount += 1
        origins[origin]?.subscriptionCount += 1
    }

    private mutating func order(
        _ order: RelayOrder, _ checked: CheckedRequest, _ connection: RelayConnection,
        for purpose: Purpose = .answer, _ now: UInt64, _ effects: inout [RelayEffect]
    ) {
        var waiting = Pending(
            connection: connection, counter: checked.counter, purpose: purpose,
            isLong: checked.request.action.isLong)
        if case .get(let range) = checked.request.action, let name = clients[connection]?.origin {
            // What is not given after all comes back with the answer.
            waiting.reservedByteCount = range.byteCountMax
            _ = clients[connection]?.giving.take(range.byteCountMax, at: now)
            _ = origins[name]?.giving.take(range.byteCountMax, at: now)
        }
        give(order, for: waiting, &effects)
    }

    mutating func answer(
        _ answer: RelayAnswer, to counter: UInt64, _ connection: RelayConnection,
        _ effects: inout [RelayEffect]
    ) {
        if case .refused(let refusal) = answer {
            counters.refusals[refusal.name, default: 0] += 1
        }
        guard clients[connection] != nil else { return }
        effects.append(.send([connection], .answer(to: counter, answer)))
    }

    /// The outcome of an order is known: the client is answered, and others are told.
    mutating func conclude(
        _ number: RelayOrderNumber, _ outcome: RelayOutcome, _ now: UInt64,
        _ effects: inout [RelayEffect]
    ) {
        if case .unfinished = outcome { return }
        guard let waiting = pending.removeValue(forKey: number.number) else { return }
        clients[waiting.connection]?.pendingCount -= 1
        if waiting.isLong { clients[waiting.connection]?.pendingPageCount -= 1 }
        if waiting.reservedByteCount > 0 { settle(waiting, outcome, now) }
        switch outcome {
        case .known(let counter):
            counters.repeats += 1
            answer(.stored(counter: counter), to: waiting.counter, waiting.connection, &effects)
        case .answer(.refused(let refusal)):
            guard case .upkeep = waiting.purpose else {
                return answer(
                    .refused(refusal), to: waiting.counter, waiting.connection, &effects)
            }
        case .answer(let given): succeed(waiting, given, now, &effects)
        // Nothing is concluded yet.
        case .unfinished: break
        }
    }

    /// Charges for what a page holds, in place of what it could have held.
    private mutating func settle(_ waiting: Pending, _ outcome: RelayOutcome, _ now: UInt64) {
        guard let name = clients[waiting.connection]?.origin else { return }
        var byteCount = 0
        if case .answer(.entries(let entries, _, _)) = outcome {
            byteCount = entries.reduce(0) { $0 + $1.envelope.count }
        }
        clients[waiting.connection]?.giving.giveBack(waiting.reservedByteCount)
        _ = clients[waiting.connection]?.giving.take(byteCount, at: now)
        origins[name]?.giving.giveBack(waiting.reservedByteCount)
        _ = origins[name]?.giving.take(byteCount, at: now)
    }

    private mutating func succeed(
        _ waiting: Pending, _ given: RelayAnswer, _ now: UInt64, _ effects: inout [RelayEffect]
    ) {
        switch waiting.purpose {
        case .upkeep: break
        case .answer: answer(given, to: waiting.counter, waiting.connection, &effects)
        case .put(let mailbox, let envelope):
            answer(given, to: waiting.counter, waiting.connection, &effects)
            guard case .stored(let counter) = given else { return }
            counters.envelopes += 1
            counters.envelopeBytes += UInt64(envelope.count)
            tell(
                mailbox, except: waiting.connection, orMissed: true,
                .push(mailbox, RelayEntry(counter: counter, envelope: envelope)),
                envelope.count, now, &effects)
        case .pass(let mailbox, let lifetime, let envelope):
            answer(.done, to: waiting.counter, waiting.connection, &effects)
            tell(
                mailbox, except: waiting.connection, orMissed: false,
                .volatile(mailbox, lifetime: lifetime, envelope: envelope), envelope.count, now,
                &effects)
        case .call(let mailbox): call(mailbox, waiting, now, &effects)
        }
    }
}
