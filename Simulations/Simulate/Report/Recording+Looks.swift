import ParleyCheckers
import ParleyLedger
import ParleySimulation
import ParleyWire

extension Recording {
    /// Counts what everybody holds, and looks whether all are equal.
    ///
    /// It is done by itself every so often; the player asks for it where a moment matters. Until
    /// ``finish()`` the store calls that it makes count for no planned failure.
    public func look() {
        meetNodes()
        do {
            try countChanges()
        } catch {
            // A store that cannot be read now is counted at the next look.
            return
        }
        keepSample()
        if lastLine.map({ world.now >= $0 + Self.lineEvery }) ?? true { say(nil) }
    }

    /// Counts, where anything has changed since it was last done.
    private func countChanges() throws {
        let now = world.nodes.map(NodeState.init)
        if now == countedAt, !now.contains(where: { $0.changeCount == nil }) { return }
        countedAt = []
        try world.observe { try count() }
        countedAt = now
    }

    /// All that counts and equality hang on: while it is the same, so are they.
    struct NodeState: Equatable {
        let changeCount: UInt64?
        let life: Int
        let isDown: Bool
        let isHonest: Bool

        init(_ node: SimulatedNode) {
            changeCount = node.store.changeCount
            life = node.life
            isDown = node.isDown
            isHonest = node.isHonest
        }
    }

    private struct Held: Equatable {
        var node: Int
        var space: SpaceRecord
        /// How much of each log is held, with what is not for a newcomer.
        var logs: [LogTag: UInt64]
    }

    private func count() throws {
        var spaces: [SpaceID: [Held]] = [:]
        var order: [SpaceID] = []
        for (index, node) in world.nodes.enumerated() {
            nodes[index].held = 0
            nodes[index].lacking = 0
            for space in try node.store.spaces() where space.kind != .own {
                var logs: [LogTag: UInt64] = [:]
                for log in try node.store.agreedLogs(in: space.number) {
                    let count = log.spans.reduce(0) { $0 + $1.last - $1.first + 1 }
                    logs[log.tag] = count + log.base
                    nodes[index].held += Int(count)
                }
                // Who is out lacks nothing.
                guard try node.belongs(to: space) else { continue }
                if spaces[space.id] == nil { order.append(space.id) }
                spaces[space.id, default: []].append(Held(node: index, space: space, logs: logs))
            }
        }
        for space in order { count(spaces[space] ?? []) }
        try compare(order.map { spaces[$0] ?? [] })
    }

    private func count(_ all: [Held]) {
        var most: [LogTag: UInt64] = [:]
        // A sum does not see the order.
        for held in all { most.merge(held.logs) { max($0, $1) } }
        let total = Int(most.values.reduce(0, +))
        for held in all {
            nodes[held.node].lacking += total - Int(held.logs.values.reduce(0, +))
        }
    }

    /// Whether honest nodes hold and show the same; looked at in full only where it may have
    /// changed, since a digest reads a whole conversation.
    private func compare(_ spaces: [[Held]]) throws {
        let honest = nodes.indices.filter { !dishonest.contains(nodes[$0].name) }
        var isEqual = honest.allSatisfy { nodes[$0].lacking == 0 }
        if isEqual {
            let counts = nodes.map(\.held)
            if counts == comparedAt { return }
            comparedAt = counts
            for space in spaces {
                try compareDigests(space.filter { honest.contains($0.node) })
            }
            isEqual = try divergence == nil && (!dishonest.isEmpty || difference() == nil)
        } else {
            comparedAt = []
        }
        guard isEqual != self.isEqual else { return }
        self.isEqual = isEqual
        equalities.append((world.now, isEqual))
        // Nodes that talk are unequal for a moment all the time: only a change is news.
        if isEqual, isEqualNews { say("all equal") }
        if isEqual { isEqualNews = false }
    }

    private func difference() throws -> String? { try Convergence.difference(in: world) }

    private func compareDigests(_ all: [Held]) throws {
        guard let first = all.first else { return }
        let digest = try world.nodes[first.node].digest(of: first.space.id)
        for other in all.dropFirst() where other.logs == first.logs {
            if try world.nodes[other.node].digest(of: other.space.id) != digest {
                diverged(
                    "\(nodes[first.node].name) and \(nodes[other.node].name)"
                        + " hold the same and show another")
            }
        }
    }

    private func keepSample() {
        let sample = Sample(
            at: world.now, held: nodes.map(\.held), lacking: nodes.map(\.lacking))
        if samples.last?.at == world.now { samples.removeLast() }
        samples.append(sample)
        guard samples.count > Self.sampleCountMax else { return }
        samples = samples.indices.filter { $0 % 2 == 0 }.map { samples[$0] }
        sampleInterval *= 2
    }

    /// Samples that are kept; with more, every second one goes.
    static let sampleCountMax = 1_500

    // MARK: The strip chart

    /// Has something told in the next line; nil for the counts alone.
    func say(_ text: String?, at time: UInt64? = nil) {
        guard onLine != nil else { return }
        let time = time ?? world.now
        flushLine(before: time)
        if words == nil { words = (time, []) }
        guard let text else { return }
        words?.words.append(text)
        isEqualNews = true
    }

    /// Gives out the line of a moment that is over.
    func flushLine(before now: UInt64) {
        guard let (time, words) = words, time < now, let onLine else { return }
        self.words = nil
        let chart = StripChart(names: nodes.map(\.name))
        if !hasHeader {
            hasHeader = true
            onLine(chart.header)
        }
        if words.isEmpty == false, time != samples.last?.at { recount() }
        lastLine = time
        onLine(chart.line(at: time, cells, words.joined(separator: ", ")))
    }

    private func recount() {
        // Counts that cannot be read now stay those of the last look.
        do { try countChanges() } catch { return }
    }

    private var cells: [StripChart.Cell] {
        nodes.indices.map { index in
            StripChart.Cell(
                state: state(of: index), held: nodes[index].held, lacking: nodes[index].lacking)
        }
    }

    private func state(of index: Int) -> StripChart.State {
        if nodes[index].isBroken { return .broken }
        if nodes[index].isDown { return .dead }
        if let letter = reach.letter(of: index) { return .parted(letter) }
        if !reach.isWhole, reach.groups.indices.contains(index), reach.isAlone(index) {
            return .alone
        }
        return isEqual ? .equal : .well
    }
}
