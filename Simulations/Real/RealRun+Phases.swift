internal import Parley
internal import ParleySimulate

extension RealRun {
    /// How long becoming equal may take at least, whatever time is left, in seconds.
    private static let healSecondsMin: Double = 60

    /// How long all have to stay equal, in seconds.
    private static let calmSeconds: Double = 3

    /// A heal within less than this is one at once: the rules take about as long.
    private static let healAtOnce = Duration.milliseconds(500)

    // MARK: Acts in time

    /// Plays all acts, each at its time.
    func phases() async throws {
        let start = ContinuousClock.now
        let end = scenario.phases.filter { $0.heal != true }
            .reduce(0) { $0 + $1.for.milliseconds }
        for act in tape.acts where act.at.milliseconds <= end {
            try await Task.sleep(until: start + real(act.at))
            guard elapsed < settings.secondsMax else {
                say("the time is up: what was left is not played")
                return
            }
            try await play(act)
        }
        try await Task.sleep(until: start + real(.milliseconds(end)))
    }

    private func play(_ act: Act) async throws {
        switch act.do {
        case .write, .reply, .edit, .delete, .react, .read, .rename, .mute, .bringIn, .found,
            .invite, .verify, .ask, .answer, .uninvite:
            await perform(act)
        case .part(let groups, let oneWay):
            try await change { $0.part(groups, oneWay: oneWay) }
            result.partingCount += 1
        case .heal(let time): try await heal(within: time)
        case .leave: try await change { $0.set(act.node, isAway: true) }
        case .returns: try await change { $0.set(act.node, isAway: false) }
        case .stall(let user, let length): try hold([(act.node, user)], for: { real(length) })
        case .reset(let user):
            if try network.reset(from: act.node, to: user) { result.resetCount += 1 }
        case .crash(_, _, _, let down): try await crash(act.node, down: down)
        case .nameSelf, .misbehave, .flip, .failStore, .rot, .jumpClock, .backUp, .restore, .steal,
            .befall,
            .impersonate, .add, .remove, .promote, .quit, .govern, .openGroup, .closeGroup, .join,
            .link, .nameDevice, .revoke, .keepBackup, .recover, .call, .pickUp, .turnDown, .hangUp,
            .typing, .appear, .confide, .ringAndGo, .ringAt, .shutOut, .intrude, .consent,
            .permit, .forward, .report, .star, .deleteForOneself, .pin, .archive, .keepFirst,
            .unread,
            .draft, .mention,
            .describe, .lifetime, .rule, .discreet,
            .profile, .together, .attach, .fetch, .forget, .room, .picture, .fillDisk:
            // Only a simulated disk, clock, wire or liar does this, and no shell says it yet.
            result.notPlayed[act.do.name, default: 0] += 1
        }
    }

    // MARK: What breaks

    /// Ends the parting, its ways one by one within this time.
    private func heal(within time: VirtualTime) async throws {
        guard real(time) > Self.healAtOnce, network.cuts.groups.count > 1 else {
            return try await change { $0.heal() }
        }
        var ways: [Cuts.Way] = []
        try await change { ways = $0.loosen() }
        try hold(ways.map { ($0.from, $0.to) }) {
            real(.milliseconds(chance.next() % max(1, time.milliseconds)))
        }
    }

    /// Holds up these ways, each for a time of its own.
    private func hold(_ ways: [(String, String)], for length: () -> Duration) throws {
        for (from, to) in ways {
            try set(from: from, to: to, isHeld: true)
            let time = length()
            waiting.append(
                Task {
                    try await Task.sleep(for: time)
                    try set(from: from, to: to, isHeld: false)
                })
        }
    }

    private func change(_ body: (inout Cuts) -> Void) async throws {
        var cuts = network.cuts
        body(&cuts)
        guard cuts != network.cuts else { return }
        // What all hold is told as it was before.
        try await tell(cuts.text, cuts)
        try apply(cuts)
    }

    private func set(from: String, to: String, isHeld: Bool) throws {
        var cuts = network.cuts
        cuts.set(from: from, to: to, isHeld: isHeld)
        if cuts != network.cuts { try apply(cuts) }
    }

    private func apply(_ cuts: Cuts) throws {
        try network.set(cuts)
        healedAt = cuts.isEmpty ? elapsed : nil
    }

    /// Kills a node, and runs it again when its time has come.
    private func crash(_ user: String, down: VirtualTime) async throws {
        guard let device = devices.first(where: { $0.user == user }), await device.isUp else {
            result.missedCount += 1
            return
        }
        await device.kill()
        result.killCount += 1
        try await tell("\(user) is killed", network.cuts)
        waiting.append(
            Task {
                try await Task.sleep(for: real(down))
                try await device.start()
            })
    }

    // MARK: The end

    /// Ends all that is broken, waits until all show the same, and looks at what they show.
    func settle() async throws {
        for task in waiting { task.cancel() }
        for task in waiting { _ = await task.result }
        waiting = []
        if !network.cuts.isEmpty { try await change { $0.clear() } }
        if healedAt == nil { healedAt = elapsed }
        do {
            for device in devices { try await device.start() }
        } catch let failure as RealFailure {
            result.verdict = .lost(failure.description)
            return
        }
        let (difference, equalAt) = try await becomeEqual()
        try await tell(difference == nil ? "all show the same" : "still not equal", network.cuts)
        if let difference {
            result.verdict = .unequal(difference)
        } else if let lost = try await loss() {
            result.verdict = .lost(lost)
        } else {
            result.verdict = .equal(seconds: equalAt - (healedAt ?? equalAt))
        }
    }

    /// Waits until all are equal and stay so for a while: the last receipts follow the last
    /// messages. Returns what still differs when the time is over, and since when nothing does.
    private func becomeEqual() async throws -> (difference: String?, since: Double) {
        let deadline = elapsed + healBound
        var equalSince: Double?
        while true {
            let asked = elapsed
            let difference = try await whatDiffers()
            equalSince = difference == nil ? equalSince ?? asked : nil
            if let since = equalSince, asked >= since + Self.calmSeconds { return (nil, since) }
            guard asked < deadline else { return (difference, asked) }
            try await Task.sleep(for: .milliseconds(250))
        }
    }

    private var healBound: Double {
        let asked = scenario.phases.last { $0.heal == true }?.for ?? .seconds(60)
        let left = max(settings.secondsMax - elapsed, Self.healSecondsMin)
        return min(Double(asked.milliseconds) / 1_000, left)
    }

    /// What differs between nodes, or nil.
    private func whatDiffers() async throws -> String? {
        var told: [Agreement.Told] = []
        for device in devices {
            let node = try await device.node()
            told.append(
                Agreement.Told(
                    user: device.user, digests: try await node.perform(ListDigests()),
                    conversations: try await node.perform(ListConversations())))
        }
        return Agreement.difference(told)
    }

    /// What was saved and is gone, in a sentence, or nil.
    private func loss() async throws -> String? {
        for device in devices {
            let node = try await device.node()
            for conversation in try await node.perform(ListConversations()) {
                let messages = try await everyMessage(of: node, in: conversation.id)
                if let missing = saved.missing(
                    messages, originals: try await originals(of: messages, on: node),
                    in: conversation.id)
                {
                    return "\(device.user), \(conversation.name): \(missing)"
                }
            }
        }
        for device in devices {
            let status = await device.stop()
            if status != 0 { return "\(device.user)'s node stopped with \(status)" }
            if let wrong = try device.doctor() {
                return "\(device.user)'s store is damaged: \(wrong)"
            }
        }
        return nil
    }
}
