import ParleyWire

extension Relay {
    /// Bytes between two clients.
    struct Pipe: Sendable {
        /// Who asked for it, and by which request.
        let caller: RelayConnection
        let counter: UInt64
        /// The subscriber of the inbox.
        let owner: RelayConnection
        /// When the owner must have answered; nil once it has.
        var due: UInt64?
        /// What each may still send, the caller first.
        var rooms = [Limits.pipeCreditByteCount, Limits.pipeCreditByteCount]

        func isOverdue(at now: UInt64) -> Bool { due.map { now >= $0 } ?? false }

        /// Which end this is: 0 for the caller, 1 for the owner; nil for a stranger.
        func side(of connection: RelayConnection) -> Int? {
            connection == caller ? 0 : connection == owner ? 1 : nil
        }

        func end(_ side: Int) -> RelayConnection { side == 0 ? caller : owner }
    }

    /// A frame with so many bytes costs none of the frames that a client may send.
    static let largeFrameByteCount = 4_096
    /// Who owes more frames than come back in so many milliseconds is let go; an address owes no
    /// more.
    static let frameDebtTimeMax: UInt32 = 4_000

    /// Offers a pipe to the inbox's owner, if connected: to the last subscriber.
    mutating func call(
        _ mailbox: MailboxID, _ waiting: Pending, _ now: UInt64, _ effects: inout [RelayEffect]
    ) {
        let caller = waiting.connection
        guard let callCount = clients[caller]?.calls.count else { return }
        // Looked at again: all that were asked for before the store answered found the same number.
        guard callCount < Limits.pipeCountMax else {
            return answer(.refused(.tooManyCalls), to: waiting.counter, caller, &effects)
        }
        let owner = subscribers[mailbox, default: []].last { connection in
            connection != caller
                && (clients[connection]?.offers.count ?? .max) < Limits.pipeOfferCountMax
        }
        guard let owner else {
            return answer(.refused(.nobodyThere), to: waiting.counter, caller, &effects)
        }
        if let wait = shortageOfCalls(of: caller, now) {
            return answer(.refused(.busy(retryAfter: wait)), to: waiting.counter, caller, &effects)
        }
        repeat { lastPipe &+= 1 } while pipes[lastPipe] != nil
        pipes[lastPipe] = Pipe(
            caller: caller, counter: waiting.counter, owner: owner,
            due: now + policy.callLifetime)
        clients[caller]?.calls.insert(lastPipe)
        clients[owner]?.offers.insert(lastPipe)
        effects.append(.send([owner], .pipe(.offered(lastPipe, mailbox))))
    }

    /// Charges an offer to the caller's address: the owner cannot distinguish addresses. Calling an
    /// absent owner costs nothing.
    ///
    /// - Returns: milliseconds until there is one; nil where there is.
    private mutating func shortageOfCalls(of caller: RelayConnection, _ now: UInt64) -> UInt32? {
        guard let name = clients[caller]?.origin, var origin = origins[name] else { return nil }
        let wait = origin.calls.shortage(of: 1, at: now)
        if wait == 0 { _ = origin.calls.take(1, at: now) }
        origins[name] = origin
        return wait == 0 ? nil : wait
    }

    /// Handles what a client says about a pipe. A pipe that is over is no error: both may have
    /// ended it.
    mutating func take(
        _ frame: PipeFrame, _ connection: RelayConnection, _ now: UInt64,
        _ effects: inout [RelayEffect]
    ) {
        guard clients[connection] != nil,
            pay(for: frame.byteCount, connection, now, &effects)
        else { return }
        clients[connection]?.heardAt = now
        let number = frame.pipe
        guard var pipe = pipes[number], let side = pipe.side(of: connection) else { return }
        switch frame {
        case .offered: hangUp(connection, .unruly, &effects)
        case .accepted:
            guard side == 1, pipe.due != nil else { return }
            pipe.due = nil
            pipes[number] = pipe
            counters.pipes += 1
            answer(.pipe(number), to: pipe.counter, pipe.caller, &effects)
        case .bytes(_, let bytes):
            guard pipe.due == nil, bytes.count <= pipe.rooms[side] else {
                return hangUp(connection, .unruly, &effects)
            }
            pipe.rooms[side] -= bytes.count
            pipes[number] = pipe
            counters.pipeBytes += UInt64(bytes.count)
            effects.append(.send([pipe.end(1 - side)], .pipe(frame)))
        case .credit(_, let count):
            guard pipe.due == nil else { return hangUp(connection, .unruly, &effects) }
            let room = pipe.rooms[1 - side] + Int(count)
            pipe.rooms[1 - side] = min(room, Limits.pipeCreditByteCount)
            pipes[number] = pipe
            effects.append(.send([pipe.end(1 - side)], .pipe(frame)))
        case .closed: end(number, except: connection, &effects)
        }
    }

    /// A pipe is over: its ends are told, except the one that knows.
    mutating func end(
        _ number: UInt32, except knowing: RelayConnection?, _ effects: inout [RelayEffect]
    ) {
        guard let pipe = pipes.removeValue(forKey: number) else { return }
        clients[pipe.caller]?.calls.remove(number)
        clients[pipe.owner]?.offers.remove(number)
        if pipe.due != nil {
            answer(.refused(.nobodyThere), to: pipe.counter, pipe.caller, &effects)
        } else if pipe.caller != knowing {
            effects.append(.send([pipe.caller], .pipe(.closed(number))))
        }
        if pipe.owner != knowing { effects.append(.send([pipe.owner], .pipe(.closed(number)))) }
    }

    /// Charges for a frame that asks for nothing. A pipe cannot be told to ask again later: who
    /// sends more than is allowed is read slower, and who sends far more is let go.
    ///
    /// - Parameter byteCount: what the frame brings for the other end of a pipe.
    /// - Returns: whether it may be looked at.
    mutating func pay(
        for byteCount: Int, _ connection: RelayConnection, _ now: UInt64,
        _ effects: inout [RelayEffect]
    ) -> Bool {
        guard let name = clients[connection]?.origin else { return false }
        // One that brings much is paid for by its bytes.
        let count = byteCount < Self.largeFrameByteCount ? 1 : 0
        let own = clients[connection]?.frames.take(count, at: now) ?? 0
        guard own <= Self.frameDebtTimeMax else {
            hangUp(connection, .unruly, &effects)
            return false
        }
        // Others of the address would wait for what one connection owes.
        let shared = origins[name]?.frames.take(
            count, owingAtMost: Int(Self.frameDebtTimeMax), at: now)
        let wait = max(
            own, shared ?? 0, clients[connection]?.bytes.take(byteCount, at: now) ?? 0,
            origins[name]?.bytes.take(byteCount, at: now) ?? 0)
        if wait > 0 { effects.append(.pause(connection, wait)) }
        return true
    }
}

extension RelayRefusal {
    /// Who called for as many pipes as they may have: some have to end.
    static let tooManyCalls = RelayRefusal.busy(retryAfter: 60_000)
}

extension PipeFrame {
    /// What it brings for the other end.
    var byteCount: Int {
        if case .bytes(_, let bytes) = self { bytes.count } else { 0 }
    }

    /// Which pipe it is about.
    var pipe: UInt32 {
        switch self {
        case .offered(let pipe, _), .accepted(let pipe), .bytes(let pipe, _),
            .credit(let pipe, _), .closed(let pipe):
            pipe
        }
    }
}
