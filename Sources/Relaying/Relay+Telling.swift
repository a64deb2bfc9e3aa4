import ParleyWire

extension Relay {
    /// Tells a mailbox's subscribers, but for the one that brought it.
    ///
    /// - Parameter orMissed: whether it is stored, so that who is not told can read it.
    mutating func tell(
        _ mailbox: MailboxID, except bringer: RelayConnection, orMissed: Bool,
        _ frame: RelayServerFrame, _ byteCount: Int, _ now: UInt64,
        _ effects: inout [RelayEffect]
    ) {
        var reached: [RelayConnection] = []
        for connection in subscribers[mailbox, default: []] where connection != bringer {
            let isCongested = clients[connection]?.isCongested != false
            // What is only passed on leaves a quarter to what is stored.
            if !isCongested, give(byteCount, to: connection, leavesQuarter: !orMissed, now) {
                reached.append(connection)
            } else if orMissed {
                counters.missed += 1
                if isCongested {
                    clients[connection]?.missed.insert(mailbox)
                } else if clients[connection]?.toldMissed.insert(mailbox).inserted == true {
                    effects.append(.send([connection], .missed(mailbox)))
                }
            }
        }
        guard !reached.isEmpty else { return }
        counters.pushes += UInt64(reached.count)
        effects.append(.send(reached, frame))
    }

    /// Charges a client for what it is given without having asked.
    ///
    /// - Returns: whether it, and its address, may be given that much now.
    private mutating func give(
        _ byteCount: Int, to connection: RelayConnection, leavesQuarter: Bool, _ now: UInt64
    ) -> Bool {
        guard let name = clients[connection]?.origin else { return false }
        let wait = max(
            clients[connection]?.giving.shortage(
                of: byteCount, leavesQuarter: leavesQuarter, at: now) ?? 0,
            origins[name]?.giving.shortage(of: byteCount, leavesQuarter: leavesQuarter, at: now)
                ?? 0)
        guard wait == 0 else { return false }
        _ = clients[connection]?.giving.take(byteCount, at: now)
        _ = origins[name]?.giving.take(byteCount, at: now)
        return true
    }
}
