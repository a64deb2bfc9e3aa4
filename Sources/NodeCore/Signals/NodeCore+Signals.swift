import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySignalling
import ParleyWire

// Fast signals that are stored nowhere: `Protocol/11-calls.md`, "Signals".
extension NodeCore {
    /// A signal came over a link.
    mutating func signalled(_ bytes: [UInt8], on id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let link = peers.links[id] else { return }
        let signal: Signal
        do {
            // Signals of a newer version are ignored.
            guard let decoded = try Signal.decode(bytes) else { return }
            signal = decoded
        } catch { return try breach(.malformed, .malformedFrame, on: id, &turn) }
        // A delayed greeting makes the peer's clock look late; faster messages correct it.
        peers.links[id]?.clock?.note(signal.stamp.clockOffset(at: turn.now), at: turn.now)
        let offset = peers.links[id]?.clock?.ahead(at: turn.now)
        try heard(
            signal, from: Participant(person: link.peer.person, device: link.peer.device),
            offset: offset, &turn)
    }

    /// Takes in a signal of a device that proved that it is the sender.
    ///
    /// - Parameter offset: how many milliseconds the device's clock is ahead, where it is known.
    mutating func heard(
        _ signal: Signal, from sender: Participant, offset: Int64?, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let space = try turn.store.space(signal.space),
            try isHeard(sender, in: space, turn.store)
        else { return try count(.foreignSignal, turn.store) }
        let verdict = desk.freshness.judge(
            signal.stamp, from: sender.device, living: signal.body.lifetime, at: turn.now.wall,
            offset: offset)
        switch verdict {
        case .copy: break
        case .stale:
            guard case .call(let call, let said) = signal.body, sender.person != identity.person,
                let answer = Calls.answer(toStale: said), try isAccepted(sender.person, turn.store)
            else { break }
            try say(.call(call, answer), in: space, to: .device(sender.device), &turn)
        case .fresh:
            try take(signal, of: space, from: sender, &turn)
        }
    }

    /// Whether a device may say anything in a space: its person is in it, as this one's is, and is
    /// not blocked.
    private mutating func isHeard(
        _ sender: Participant, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        try prepare(space, store)
        let roster = rosters.judges[space.number]?.roster
        guard belongs(to: roster), sender.device != identity.device,
            roster?.member(with: sender.device)?.person == sender.person,
            roster?.isInvited(sender.person) == false
        else { return false }
        return try contact(sender.person, store)?.isBlocked != true
    }

    private mutating func take(
        _ signal: Signal, of space: SpaceRecord, from sender: Participant, _ turn: inout some Turn
    ) throws(StoreError) {
        let isOwn = sender.person == identity.person
        switch signal.body {
        case .typing(let isTyping):
            let isNews =
                !isOwn
                && desk.typing.heard(
                    isTyping, from: sender.person, in: space.id, at: turn.now.monotonic)
            if isNews { turn.emit(.changed([.typing(space.number)])) }
        case .presence(let presence, let lastSeen):
            answerPresence(presence, of: sender)
            let isNews = desk.presences.heard(
                presence, lastSeen: lastSeen, from: sender, at: turn.now.monotonic)
            if isNews { turn.emit(.changed([.presence(sender.person)])) }
        case .call(let call, let said):
            var known: [Participant] = []
            if case .members(let devices) = said, let roster = rosters.judges[space.number]?.roster
            {
                known = devices.compactMap { device in
                    roster.member(with: device).map {
                        Participant(person: $0.person, device: device)
                    }
                }
            }
            let mayRing = try isAccepted(sender.person, turn.store)
            let outputs = desk.calls.receive(
                said, of: call, in: space.id, signal.stamp,
                from: Calls.Sender(
                    sender, mayRing: mayRing, isAlone: space.kind == .direct, known: known),
                to: participant, at: turn.now.monotonic)
            try perform(outputs, &turn)
        }
    }

    /// This device in a call.
    var participant: Participant {
        Participant(person: identity.person, device: identity.device)
    }

    /// Sends a signal to devices of a space: over their links, and to others by other ways. A
    /// blocked person gets nothing.
    mutating func say(
        _ body: SignalBody, in space: SpaceRecord, to recipients: Call.Recipients,
        _ turn: inout some Turn
    ) throws(StoreError) {
        try prepare(space, turn.store)
        guard let roster = rosters.judges[space.number]?.roster, belongs(to: roster) else { return }
        desk.stamp = desk.stamp.next(at: turn.now.wall)
        let signal = Signal(space: space.id, stamp: desk.stamp, body: body).encoded()
        let frame = Frame.signal(signal).encoded()
        var linked: [DeviceID: LinkID] = [:]
        for (id, link) in peers.links where link.session != nil { linked[link.peer.device] = id }
        for member in roster.participants {
            let devices = member.devices.map(\.device).filter { device in
                switch recipients {
                case .everyone: device != identity.device
                case .device(let only): device == only && device != identity.device
                }
            }
            guard !devices.isEmpty, try contact(member.person, turn.store)?.isBlocked != true else {
                continue
            }
            for device in devices {
                if let link = linked[device] {
                    turn.emit(.send(link, frame))
                } else {
                    try pass(signal, to: device, of: member.person, &turn)
                }
            }
        }
    }

    /// Carries out the outputs of calls; what concerns the shell is left to it.
    mutating func perform(_ outputs: [Calls.Output], _ turn: inout some Turn) throws(StoreError) {
        for output in outputs {
            guard let space = try turn.store.space(output.space) else { continue }
            switch output.order {
            case .send(let signal, let recipients):
                try say(.call(output.call, signal), in: space, to: recipients, &turn)
            case .media:
                turn.emit(.call(output))
            case .ring, .stopRinging, .established, .changed, .ended:
                if case .stopRinging(let end?) = output.order {
                    try keepDecline(
                        end, of: output.call, in: space.number, at: turn.now, turn.store)
                }
                turn.emit(.call(output))
                turn.emit(.changed([.calls(space.number)]))
            }
        }
    }
}

// MARK: - What people do

extension NodeCore {
    /// Performs commands about calls, typing and presence.
    mutating func signal(_ command: Command, _ turn: inout some Turn) throws(StoreError) -> Result<
        CommandReply, CommandRefusal
    > {
        switch command {
        case .call(let space, let media):
            return try call(media, in: space, &turn)
        case .act(let call, let act):
            return try self.act(act, on: call, &turn)
        case .types(let space, let isTyping):
            return try types(isTyping, in: space, &turn)
        case .setPresence(let presence):
            try show(presence, &turn)
            return .success(.done)
        default: preconditionFailure("a command that is not about signals")
        }
    }

    private mutating func call(_ media: MediaState, in id: SpaceID, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        if let refusal = try refusal(writingIn: space, turn.store) { return .failure(refusal) }
        var persons: [PersonID] = []
        for member in try roster(of: space, turn.store)?.members ?? [] {
            if try contact(member.person, turn.store)?.isBlocked == true { continue }
            persons.append(member.person)
        }
        let call = CallID(Check(high: turn.random.next(), low: turn.random.next()))
        let outputs: [Calls.Output]
        do throws(Calls.Objection) {
            outputs = try desk.calls.begin(
                call, in: id, by: participant, inviting: persons, media, at: turn.now.monotonic)
        } catch { return .failure(.call(error)) }
        try perform(outputs, &turn)
        return .success(.call(call))
    }

    private mutating func act(_ act: CallAct, on call: CallID, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        let outputs: [Calls.Output]
        do throws(Calls.Objection) {
            outputs = try desk.calls.handle(act.event, of: call, at: turn.now.monotonic)
        } catch { return .failure(.call(error)) }
        try perform(outputs, &turn)
        return .success(.done)
    }

    private mutating func types(_ isTyping: Bool, in id: SpaceID, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        if let refusal = try refusal(writingIn: space, turn.store) { return .failure(refusal) }
        let isTold = try Disclosure.typing.isTold(
            in: id, ownSpace: ownSpace?.number, turn.store)
        if isTold, desk.typing.types(isTyping, in: id, at: turn.now.monotonic) {
            try say(.typing(isTyping), in: space, to: .everyone, &turn)
        }
        return .success(.done)
    }
}

// MARK: - Time

extension NodeCore {
    /// Ends what took too long, and says again what has to be.
    mutating func signalsDue(_ moment: UInt64, _ turn: inout some Turn) throws(StoreError) {
        desk.moments.remove(moment)
        let outputs = desk.calls.due(at: turn.now.monotonic)
        try perform(outputs, &turn)
        for id in desk.typing.due(at: turn.now.monotonic) {
            guard let space = try turn.store.space(id) else { continue }
            turn.emit(.changed([.typing(space.number)]))
        }
        for person in desk.presences.due(at: turn.now.monotonic) {
            turn.emit(.changed([.presence(person)]))
        }
        if let again = desk.presenceAgain, again <= turn.now.monotonic {
            try tellPresence(&turn)
        }
    }

    /// A message ends the typing of its author.
    ///
    /// - Parameter last: the last operation before this step.
    mutating func endTyping(
        since last: OperationNumber, _ turn: inout some Turn
    ) throws(StoreError) {
        guard desk.typing.isShown else { return }
        var ended: Set<SpaceNumber> = []
        for case .changed(let changes) in turn.effects {
            for case .message(let number, let message) in changes where message > last {
                guard let stored = try turn.store.operation(message),
                    let log = try turn.store.log(stored.log),
                    let space = try turn.store.space(number),
                    let person = rosters.judges[number]?.roster.person(of: log.device)
                else { continue }
                let isNews = desk.typing.heard(
                    false, from: person, in: space.id, at: turn.now.monotonic)
                if isNews { ended.insert(number) }
            }
        }
        guard !ended.isEmpty else { return }
        turn.emit(.changed(ended.sorted().map { .typing($0) }))
    }

    /// Writes down what became of a call, where this device may still write.
    private mutating func write(_ note: Calls.Note, _ turn: inout some Turn) throws(StoreError) {
        guard let space = try turn.store.space(note.space),
            let roster = try roster(of: space, turn.store),
            belongs(to: roster), roster.member(identity.person)?.role ?? .reader >= .member
        else { return }
        let age = turn.now.monotonic - min(note.begun, turn.now.monotonic)
        let record = CallRecord(
            call: note.call, founder: note.founder.person,
            began: turn.now.wall - min(age, turn.now.wall),
            summary: note.summary)
        _ = try write([record.draft()], in: space, &turn)
    }

    /// At the end of every step: handles departures, and schedules the next call of itself.
    mutating func tendSignals(_ turn: inout some Turn) throws(StoreError) {
        let departed = desk.departed
        desk.departed = []
        for gone in departed {
            let outputs = desk.calls.gone(gone.person, from: gone.space, at: turn.now.monotonic)
            try perform(outputs, &turn)
        }
        // A node that first has to recover what it forgot writes it down when it has.
        if desk.calls.hasNotes, try mayWrite(turn.store) {
            for note in desk.calls.takeNotes() {
                try write(note, &turn)
            }
        }
        try tellNext(&turn)
        guard let deadline = desk.deadline, desk.moments.allSatisfy({ deadline < $0 }) else {
            return
        }
        desk.moments.insert(deadline)
        timers.move(.signals(deadline), to: max(deadline, turn.now.monotonic), &turn)
    }
}
