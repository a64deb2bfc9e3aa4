import ParleyWire

// What other devices say about the call.
extension Call {
    mutating func rung(by sender: Participant, _ media: MediaState, at now: UInt64) -> [Output] {
        guard sender == founder else { return [] }
        switch phase {
        case .ringing:
            return [.send(.ringing, to: .device(sender.device))]
        case .joining:
            joinAgain = now + Self.joinInterval
            return [.send(.join(self.media), to: .device(sender.device))]
        case .calling, .talking, .aside, .ended:
            return []
        }
    }

    mutating func rings(at sender: Participant) -> [Output] {
        switch phase {
        case .calling, .talking:
            guard sender.person != own.person, !alerted.contains(sender), mayRing(sender) else {
                return []
            }
            refusals[sender] = nil
            alerted.append(sender)
            return [.changed]
        case .ringing, .joining, .aside, .ended:
            return []
        }
    }

    mutating func wantsIn(
        _ sender: Participant, _ media: MediaState, at now: UInt64
    ) -> [Output] {
        switch phase {
        case .calling, .talking:
            return isHost ? admit(sender, media, at: now) : []
        case .ringing:
            return sender.person == own.person ? stepAside(.answeredElsewhere, at: now) : []
        case .joining, .aside, .ended:
            return []
        }
    }

    mutating func refused(by sender: Participant, _ refusal: Refusal, at now: UInt64) -> [Output] {
        switch phase {
        case .calling:
            guard sender.person != own.person else { return [] }
            note(refusal, of: sender)
            guard invited.allSatisfy({ self.refusal(of: $0) == .declined }) else {
                return [.changed]
            }
            return leave(.declinedBy(sender.person))
        case .talking:
            guard isHost, sender.person != own.person else { return [] }
            note(refusal, of: sender)
            return [.changed]
        case .ringing:
            return sender.person == own.person && refusal == .declined
                ? stepAside(.declinedElsewhere, at: now) : []
        case .joining:
            guard sender.device == host else { return [] }
            return stepAside(
                refusal == .elsewhere ? .answeredElsewhere : .refused(refusal), at: now)
        case .aside, .ended:
            return []
        }
    }

    /// A person declines for all their devices; one that is busy, or has no program, speaks for itself
    /// alone: the others ring on.
    private mutating func note(_ refusal: Refusal, of device: Participant) {
        alerted.removeAll {
            refusal == .declined ? $0.person == device.person : $0 == device
        }
        if refusals[device] != .declined { refusals[device] = refusal }
    }

    /// Whether a device that reports ringing may do so: a decline is final, and a device without a
    /// program said `ringing` before it said so. One that was busy may be free again.
    private func mayRing(_ device: Participant) -> Bool {
        refusal(of: device.person) != .declined && refusals[device] != .unable
    }

    mutating func left(
        _ sender: Participant, _ departure: Departure, at now: UInt64
    ) -> [Output] {
        guard isIn(sender.device) else { return [] }
        switch phase {
        case .talking:
            let wasHost = sender.device == host
            let outputs = remove(sender, departure, at: now)
            // A host that says that it goes notes the call itself.
            if wasHost { isNoted = false }
            return outputs
        case .ringing, .joining, .aside:
            members.removeAll { $0 == sender }
            // The founder may ring on where the only one who came goes.
            let ringsOn = phase != .aside && sender != founder && isIn(founder.device)
            guard members.count < 2, !ringsOn else { return [.changed] }
            switch phase {
            case .ringing:
                let end: CallEnd = departure == .replaced ? .replaced : .missed
                return [.stopRinging(end)] + finish(end)
            case .joining: return leave(.hungUpBy(sender.person))
            case .aside, .calling, .talking, .ended: return finish(end ?? .missed)
            }
        case .calling, .ended:
            return []
        }
    }

    mutating func sends(_ sender: Participant, _ media: MediaState) -> [Output] {
        switch phase {
        case .talking:
            guard isIn(sender.device), sent[sender.device] != media else { return [] }
            sent[sender.device] = media
            return [.changed]
        case .calling, .ringing, .joining, .aside, .ended:
            return []
        }
    }

    mutating func received(
        _ signal: LegSignal, from sender: Participant, at now: UInt64
    ) -> [Output] {
        switch phase {
        case .talking where isIn(sender.device):
            return feed(.received(signal), to: sender.device, at: now)
        case .talking, .joining:
            // The host's list, which names the sender or this device, is on its way.
            early.append(Early(from: sender.device, signal: signal))
            if early.count > Self.earlyCountMax { early.dropOldest() }
            return []
        case .calling, .ringing, .aside, .ended:
            return []
        }
    }
}

// MARK: - Who is in

extension Call {
    /// As host: lets a device in, or says why not.
    private mutating func admit(
        _ sender: Participant, _ media: MediaState, at now: UInt64
    ) -> [Output] {
        if isIn(sender.device) { return [.send(list, to: .device(sender.device))] }
        guard !isIn(sender.person) else {
            return [.send(.reject(.elsewhere), to: .device(sender.device))]
        }
        guard members.count < Limits.callDeviceCountMax else {
            return [.send(.reject(.full), to: .device(sender.device))]
        }
        sent[sender.device] = media
        if phase == .calling {
            phase = .talking
            beatAgain = now + Self.beatInterval
        }
        let outputs = take(members + [sender], at: now)
        return [.send(list, to: .everyone)] + outputs
    }

    var list: CallSignal { .members(members.map(\.device)) }

    mutating func listed(
        _ known: [Participant], by sender: Participant, _ stamp: Stamp, at now: UInt64
    ) -> [Output] {
        let isNewer = listed.map { $0.by != sender.device || stamp > $0.stamp } ?? true
        guard sender.device == host, isNewer, known.contains(sender) else { return [] }
        let newest = Listed(stamp: stamp, by: sender.device)
        switch phase {
        case .calling, .ended:
            return []
        case .ringing:
            listed = newest
            members = known.sorted()
            return isIn(own.person) ? stepAside(.answeredElsewhere, at: now) : []
        case .joining:
            listed = newest
            members = known.sorted()
            if isIn(own.device) { return enter(at: now) }
            return isIn(own.person) ? stepAside(.answeredElsewhere, at: now) : []
        case .talking:
            listed = newest
            // A host that lost this device has ended their connection, too.
            guard known.contains(own) else { return leave(.disconnected) }
            return take(known, at: now)
        case .aside:
            listed = newest
            members = known.sorted()
            return members.count < 2 ? finish(end ?? .missed) : [.changed]
        }
    }

    private mutating func enter(at now: UInt64) -> [Output] {
        phase = .talking
        clearDeadlines()
        beatAgain = now + Self.beatInterval
        end = nil
        let others = members
        members = [own]
        return take(others, at: now)
    }

    /// Updates who is in: begins legs to those who joined, and ends those to who left.
    private mutating func take(_ next: [Participant], at now: UInt64) -> [Output] {
        var outputs: [Output] = []
        let before = members
        members = next.sorted()
        for old in before where !isIn(old.device) {
            outputs += drop(old.device)
        }
        for new in members where new != own && legs[new.device] == nil {
            let (leg, first) = Leg.begun(offers: own.device < new.device, at: now)
            legs[new.device] = leg
            heard[new.device] = now
            outputs += perform(first, of: new.device, at: now)
            for waiting in early where waiting.from == new.device {
                outputs += feed(.received(waiting.signal), to: new.device, at: now)
            }
            early.removeAll { $0.from == new.device }
        }
        for person in members.map(\.person) where !persons.contains(person) {
            persons.append(person)
        }
        persons.sort()
        if members.count > 1, answered == nil { answered = now }
        return outputs + [.changed]
    }

    private mutating func drop(_ device: DeviceID) -> [Output] {
        sent[device] = nil
        return legs.removeValue(forKey: device) == nil ? [] : [.media(device, .close)]
    }

    /// While this device is in: somebody is so no more.
    mutating func remove(
        _ participant: Participant, _ departure: Departure, at now: UInt64
    ) -> [Output] {
        members.removeAll { $0 == participant }
        let outputs = drop(participant.device)
        if members.count < 2, callsOn(at: now) { return outputs + [.changed] }
        guard members.count > 1 else {
            let end: CallEnd =
                switch departure {
                case .hungUp, .unanswered, .replaced: .hungUpBy(participant.person)
                case .disconnected: .disconnected
                case .mediaFailed: .mediaFailed
                case .removed: .removed
                }
            return outputs + leave(end)
        }
        return outputs + (isHost ? [.send(list, to: .everyone)] : []) + [.changed]
    }

    /// Continues calling if the only other member left while others are awaited still. False if
    /// nobody is.
    private mutating func callsOn(at now: UInt64) -> Bool {
        guard founder == own, let ringUntil, now < ringUntil, invited.contains(where: isAwaited)
        else { return false }
        phase = .calling
        beatAgain = nil
        return true
    }
}

// MARK: - Legs

extension Call {
    mutating func feed(_ event: Leg.Event, to device: DeviceID, at now: UInt64) -> [Output] {
        guard let outputs = legs[device]?.handle(event, at: now) else { return [] }
        return perform(outputs, of: device, at: now)
    }

    private mutating func perform(
        _ outputs: [Leg.Output], of device: DeviceID, at now: UInt64
    ) -> [Output] {
        var all: [Output] = []
        for output in outputs {
            switch output {
            case .media(let order): all.append(.media(device, order))
            case .send(let signal): all.append(.send(.leg(signal), to: .device(device)))
            case .connected:
                if established == nil {
                    established = now
                    all.append(.established)
                }
                all.append(.changed)
            case .failed:
                all.append(.changed)
                // As long as anybody can be talked to, the call continues.
                guard legs.values.allSatisfy({ $0.phase == .failed }) else { continue }
                all += stepOut(.disconnected, at: now)
            }
        }
        return all
    }
}
