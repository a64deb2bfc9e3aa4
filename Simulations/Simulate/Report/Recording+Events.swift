import ParleyNodeCore
import ParleySimulation

extension Recording {
    /// Nodes that joined since are recorded from here on.
    func meetNodes() {
        guard nodes.count < world.nodes.count else { return }
        for node in world.nodes[nodes.count...] { nodes.append(NodeRecord(node)) }
        reach = Reach(of: world)
    }

    func happened(_ event: WorldEvent) {
        let now = world.now
        meetNodes()
        settleReach(before: now)
        flushLine(before: now)
        switch event {
        case .stepped(let step, let node): stepped(step, node, at: now)
        case .sent(let passage, let arrival): sent(passage, arrival, at: now)
        case .held(let passage):
            let held = Incident.held(to: passage.target, Incident.Contents(passage.bytes))
            nodes[passage.source].recent.add(held, at: now)
        case .arrived(let passage): arrived(passage, at: now)
        case .linkOpened(_, let node, let peer):
            linkCount += 1
            nodes[node].recent.add(.linkOpened(peer), at: now)
        case .linkClosed(let link, let node, let peer):
            if traffic.closed(link) > 0 { brokenLinkCount += 1 }
            nodes[node].recent.add(.linkClosed(peer), at: now)
        case .reachChanged: if reachChangedAt == nil { reachChangedAt = now }
        case .died(let node, let losingPower): died(node, losingPower, at: now)
        case .started(let node): started(node, at: now)
        }
    }

    // MARK: Steps

    private func stepped(_ step: StepReport, _ node: Int, at now: UInt64) {
        let rows = step.node.store.operationCount
        let growth = rows - nodes[node].rowCount
        nodes[node].rowCount = rows
        var arriving = 0
        if case .frame = step.input { arriving = nodes[node].arrivingCount }
        nodes[node].arrivingCount = 0
        if !step.isLost {
            let new = max(0, min(growth, arriving))
            nodes[node].receivedCount += arriving
            nodes[node].duplicateCount += arriving - new
            if growth > new { wrote(growth - new, node, at: now) }
        }
        for case .changed(let changes) in step.effects {
            nodes[node].viewChangeCount += changes.count
            nodes[node].recent.add(.changedViews(changes.count), at: now)
        }
        noticeFailure(of: step.node, node, at: now)
        noticeJump(of: step.node, node, at: now)
        if now >= (samples.last?.at ?? 0) + sampleInterval { look() }
    }

    private func wrote(_ count: Int, _ node: Int, at now: UInt64) {
        nodes[node].writtenCount += count
        nodes[node].recent.add(.wrote(count), at: now)
    }

    private func noticeFailure(of node: SimulatedNode, _ index: Int, at now: UInt64) {
        let count = node.failedStepCount
        guard count > nodes[index].failedStepCount else { return }
        nodes[index].failedStepCount = count
        nodes[index].recent.add(.stepFailed, at: now)
        mark(.stepFailed, index, "the store failed, the step was undone", at: now)
    }

    private func noticeJump(of node: SimulatedNode, _ index: Int, at now: UInt64) {
        guard node.clock.skew != nodes[index].skew else { return }
        let jump = node.clock.skew - nodes[index].skew
        nodes[index].skew = node.clock.skew
        nodes[index].clockJumpCount += 1
        nodes[index].recent.add(.clockJumped(milliseconds: jump), at: now)
        let length = VirtualTime.milliseconds(jump.magnitude)
        mark(.clockJumped, index, "clock \(jump < 0 ? "back" : "ahead") \(length)", at: now)
    }

    func mark(_ kind: IncidentMark.Kind, _ node: Int, _ words: String, at now: UInt64) {
        incidents.append(IncidentMark(at: now, node: node, kind: kind, words: words))
        say("\(nodes[node].name): \(words)")
    }

    // MARK: Frames

    private func sent(_ passage: WorldEvent.Passage, _ arrival: UInt64, at now: UInt64) {
        let contents = Incident.Contents(passage.bytes)
        traffic.sent(passage, contents, at: now, arrival: arrival)
        nodes[passage.source].framesOut += 1
        nodes[passage.source].bytesOut += contents.byteCount
        nodes[passage.source].recent.add(.sent(to: passage.target, contents), at: now)
    }

    private func arrived(_ passage: WorldEvent.Passage, at now: UInt64) {
        nodes[passage.target].framesIn += 1
        nodes[passage.target].bytesIn += passage.bytes.count
        guard let contents = traffic.arrived(passage) else { return }
        nodes[passage.target].arrivingCount = contents.operationCount
        nodes[passage.target].recent.add(.arrived(from: passage.source, contents), at: now)
    }

    // MARK: Deaths

    private func died(_ node: Int, _ losingPower: Bool, at now: UInt64) {
        nodes[node].isDown = true
        nodes[node].rowCount = world.nodes[node].store.operationCount
        nodes[node].arrivingCount = 0
        if losingPower { nodes[node].powerLossCount += 1 } else { nodes[node].crashCount += 1 }
        let incident = Incident.died(losingPower: losingPower)
        nodes[node].recent.add(incident, at: now)
        mark(losingPower ? .lostPower : .died, node, incident.words([]), at: now)
    }

    private func started(_ node: Int, at now: UInt64) {
        nodes[node].isDown = false
        nodes[node].rowCount = world.nodes[node].store.operationCount
        nodes[node].recent.add(.started, at: now)
        mark(.started, node, "started", at: now)
    }

    // MARK: Who reaches whom

    /// Looks at who reaches whom, once all changes of one moment were made.
    func settleReach(before now: UInt64) {
        guard let changedAt = reachChangedAt, changedAt < now else { return }
        reachChangedAt = nil
        let reach = Reach(of: world)
        guard reach != self.reach else { return }
        if !reach.isWhole, reach.groups != self.reach.groups { partingCount += 1 }
        self.reach = reach
        reaches.append((changedAt, reach))
        say(reach.words(nodes.map(\.name)), at: changedAt)
    }
}
