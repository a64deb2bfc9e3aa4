import ParleyWire

// What the person and the program do.
extension Call {
    mutating func answer(_ media: MediaState, at now: UInt64) -> [Output] {
        switch phase {
        case .ringing, .aside:
            let stop: [Output] = phase == .ringing ? [.stopRinging(nil)] : []
            phase = .joining
            self.media = media
            clearDeadlines()
            joinUntil = now + Self.joinTime
            joinAgain = now + Self.joinInterval
            return stop + [.send(.join(media), to: .everyone), .changed]
        case .calling, .joining, .talking, .ended:
            return []
        }
    }

    mutating func decline(at now: UInt64) -> [Output] {
        switch phase {
        case .ringing:
            return [.send(.reject(.declined), to: .everyone)] + stepAside(.declined, at: now)
        case .calling, .joining, .talking:
            return hangUp(at: now)
        case .aside, .ended:
            return []
        }
    }

    mutating func hangUp(at now: UInt64) -> [Output] {
        switch phase {
        case .calling: return leave(.cancelled)
        case .ringing: return decline(at: now)
        case .joining, .talking: return stepOut(.hungUp, at: now)
        case .aside, .ended: return []
        }
    }

    mutating func set(_ media: MediaState) -> [Output] {
        guard media != self.media else { return [] }
        switch phase {
        case .calling, .joining:
            self.media = media
            return [.changed]
        case .talking:
            self.media = media
            return tellMembers(.state(media)) + [.changed]
        case .ringing, .aside, .ended:
            return []
        }
    }

    mutating func mediaFailed(at now: UInt64) -> [Output] {
        switch phase {
        case .calling, .joining, .talking: stepOut(.mediaFailed, at: now)
        // Without the program nothing can be answered here; another device may.
        case .ringing:
            [.send(.reject(.unable), to: .device(host))] + stepAside(.mediaFailed, at: now)
        case .aside, .ended: []
        }
    }

    mutating func told(_ news: MediaNews, of device: DeviceID, at now: UInt64) -> [Output] {
        switch phase {
        case .talking: feed(.news(news), to: device, at: now)
        case .calling, .ringing, .joining, .aside, .ended: []
        }
    }

    mutating func gone(_ person: PersonID, at now: UInt64) -> [Output] {
        if person == own.person || (phase == .ringing && person == founder.person) {
            return gone()
        }
        invited.removeAll { $0 == person }
        switch phase {
        case .calling:
            return invited.isEmpty ? leave(.removed) : []
        case .talking:
            let device = members.first { $0.person == person }
            return device.map { remove($0, .removed, at: now) } ?? []
        case .ringing, .joining, .aside:
            members.removeAll { $0.person == person }
            return members.isEmpty ? gone() : []
        case .ended:
            return []
        }
    }

    mutating func replaced(at now: UInt64) -> [Output] {
        switch phase {
        case .calling: leave(.replaced)
        case .ringing: stepAside(.replaced, at: now)
        case .joining, .talking, .aside, .ended: []
        }
    }

    /// There is nobody to talk to by right.
    private mutating func gone() -> [Output] {
        switch phase {
        case .calling, .joining, .talking: leave(.removed)
        case .ringing: [.stopRinging(.removed)] + finish(.removed)
        case .aside: finish(.removed)
        case .ended: []
        }
    }
}

// MARK: - Ways out

extension Call {
    /// Tells everyone, and ends.
    mutating func leave(_ end: CallEnd) -> [Output] {
        let hasTalked = phase == .talking && established != nil
        let outputs = [.send(.leave(end.departure), to: .everyone)] + finish(end)
        // A host that died says nothing, and is missed only after a while: who hangs up before that, and
        // has talked, notes it themselves.
        if hasTalked, end == .hungUp { isNoted = true }
        return outputs
    }

    /// Leaves a call that two or more others continue, with the option to come back; ends one that
    /// nobody continues.
    mutating func stepOut(_ end: CallEnd, at now: UInt64) -> [Output] {
        guard phase == .talking, members.count > 2 else { return leave(end) }
        let closed = legs.keys.sorted().map { Output.media($0, .close) }
        legs = [:]
        sent = [:]
        members.removeAll { $0 == own }
        isNoted = established != nil && end == .hungUp
        return [.send(.leave(end.departure), to: .everyone)] + closed + stepAside(end, at: now)
    }

    mutating func finish(_ end: CallEnd) -> [Output] {
        let open = legs.keys.sorted()
        // Its end was reported when it stepped aside.
        let isTold = phase == .aside
        // Among those who are in when it ends for all, the host records it.
        isNoted = isHost && members.count < 3 && (phase == .calling || phase == .talking)
        phase = .ended
        self.end = isTold ? self.end : end
        legs = [:]
        early = []
        clearDeadlines()
        return open.map { .media($0, .close) } + [isTold ? .changed : .ended(end)]
    }

    /// Keeps watching a call that rings or continues without this device.
    mutating func stepAside(_ end: CallEnd, at now: UInt64) -> [Output] {
        let wasRinging = phase == .ringing
        phase = .aside
        self.end = end
        early = []
        clearDeadlines()
        asideUntil = now + Self.silenceMax
        return [wasRinging ? .stopRinging(end) : .ended(end), .changed]
    }

    func tellMembers(_ signal: CallSignal) -> [Output] {
        members.filter { $0 != own }.map { .send(signal, to: .device($0.device)) }
    }

    mutating func clearDeadlines() {
        ringUntil = nil
        ringAgain = nil
        joinUntil = nil
        joinAgain = nil
        beatAgain = nil
        asideUntil = nil
    }
}
