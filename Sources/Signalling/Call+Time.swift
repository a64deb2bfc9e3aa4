import ParleyWire

// What time does to a call.
extension Call {
    mutating func due(at now: UInt64) -> [Output] {
        switch phase {
        case .calling: return dueWhileCalling(at: now)
        case .ringing:
            guard isOver(ringUntil, now) else { return [] }
            return stepAside(.missed, at: now)
        case .joining: return dueWhileJoining(at: now)
        case .talking: return dueWhileTalking(at: now)
        case .aside:
            guard isOver(asideUntil, now) else { return [] }
            return finish(end ?? .missed)
        case .ended:
            return []
        }
    }

    private func isOver(_ moment: UInt64?, _ now: UInt64) -> Bool {
        moment.map { $0 <= now } ?? false
    }

    private mutating func dueWhileCalling(at now: UInt64) -> [Output] {
        // Everybody who can be asked refuses, and no other device rings: waiting would help nobody.
        if isOver(ringAgain, now), !invited.contains(where: isAwaited), let end = refusalOfOne {
            return leave(end)
        }
        if isOver(ringUntil, now) { return leave(refusalOfOne ?? .unanswered) }
        return ringMore(at: now)
    }

    private var refusalOfOne: CallEnd? {
        // Whose other device rang until the end did not answer, whatever one of them said.
        let person = invited.first { !isAwaited($0) && refusal(of: $0) != nil }
        guard let person, let refusal = refusal(of: person) else { return nil }
        return refusal == .declined ? .declinedBy(person) : .refusedBy(person, refusal)
    }

    private mutating func ringMore(at now: UInt64) -> [Output] {
        guard isOver(ringAgain, now) else { return [] }
        ringAgain = now + Self.ringInterval
        return [.send(.ring(media, elapsed: now - begun), to: .everyone)]
    }

    private mutating func dueWhileJoining(at now: UInt64) -> [Output] {
        if isOver(joinUntil, now) { return leave(.unreachable) }
        guard isOver(joinAgain, now) else { return [] }
        joinAgain = now + Self.joinInterval
        return [.send(.join(media), to: .device(host))]
    }

    private mutating func dueWhileTalking(at now: UInt64) -> [Output] {
        var outputs = ringOthers(at: now)
        for device in legs.keys.sorted() {
            guard phase == .talking, isOver(legs[device]?.deadline, now) else { continue }
            outputs += feed(.patienceOver, to: device, at: now)
        }
        guard phase == .talking, isOver(beatAgain, now) else { return outputs }
        beatAgain = now + Self.beatInterval
        outputs += isHost ? [.send(list, to: .everyone)] : []
        outputs += tellMembers(.state(media))
        for member in members where member != own && phase == .talking {
            // Where sound and pictures come, signals may be late.
            guard legs[member.device]?.phase != .connected,
                (heard[member.device] ?? 0) + Self.silenceMax <= now
            else { continue }
            outputs += remove(member, .disconnected, at: now)
        }
        return outputs
    }

    /// In a group, those who have not come yet are rung on.
    private mutating func ringOthers(at now: UInt64) -> [Output] {
        guard ringUntil != nil else { return [] }
        let isWanted = invited.contains(where: isAwaited)
        guard isWanted, members.count < Limits.callDeviceCountMax, !isOver(ringUntil, now) else {
            ringUntil = nil
            ringAgain = nil
            return []
        }
        return ringMore(at: now)
    }
}
