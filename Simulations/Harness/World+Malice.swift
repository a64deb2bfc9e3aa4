import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
public import ParleyWire

/// Everything that a changed program can do with the valid keys of a member.
///
/// Each returns whether there was anything to do: a liar that is down, that belongs to no such
/// space or has no link does nothing. From its first lie on a node counts as dishonest, and no
/// promise is made to it or about what it wrote.
extension World {
    /// The nodes that never lied.
    public var honestNodes: [SimulatedNode] { nodes.filter(\.isHonest) }

    // MARK: Operations that no honest author writes

    /// Signs two operations at one place and shows each to others. The liar goes on upon the
    /// first, and never shows that one to who saw the second.
    @discardableResult
    public func equivocate(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try forge(liar, in: space) { forgery in
            try part(
                forgery, forgery.text("to some", now), forgery.text("to others", now),
                of: space)
        }
    }

    /// Signs two operations at the next place of a log, and shows each to some.
    func part(
        _ forgery: Forgery, _ left: Draft, _ right: Draft, of space: SpaceID
    ) throws -> Bool {
        let liar = forgery.liar
        let causes = try forgery.causes(of: left.lane)
        guard let one = try forgery.run(left, at: wall(of: liar), naming: causes),
            let other = try forgery.run(right, at: wall(of: liar), naming: causes)
        else { return false }
        return try part(forgery, one, other, of: space)
    }

    /// Shows each of two branches to some, and goes on upon the first.
    func part(_ forgery: Forgery, _ one: Run, _ other: Run, of space: SpaceID) throws -> Bool {
        let liar = forgery.liar
        let victims = victims(of: liar, forgery)
        let deceived = victims.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        liar.disguise.hidden.append(
            Disguise.Hidden(
                tag: LogTag(
                    OperationHash.log(
                        space: space, device: liar.identity.device, lane: one.lane)),
                place: one.first, victims: deceived.map(\.identity.device)))
        try forgery.keep(one)
        for victim in victims {
            let isDeceived = deceived.contains { $0 === victim }
            show(isDeceived ? other : one, of: space, from: liar, to: victim)
        }
        return !victims.isEmpty
    }

    /// Signs an operation with a clock of long ago.
    @discardableResult
    public func backdate(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try publish(liar, in: space, "backdated", at: 1_000_000_000_000)
    }

    /// Signs an operation with a clock some decades ahead.
    @discardableResult
    public func postdate(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try publish(liar, in: space, "postdated", at: Limits.wallClockMax - 2)
    }

    /// Names causes that nobody has: one in a log of the space, one in a log of nobody.
    @discardableResult
    public func inventCauses(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try publish(liar, in: space, "from nowhere", at: wall(of: liar)) { forgery in
            let logs = try liar.store.logs(in: forgery.space.number)
            let known = logs.first { $0.lane == .content && $0.device != liar.identity.device }
            let tags = [known?.tag.value, liar.randomNumber()].compactMap { $0 }.sorted()
            return tags.map {
                OperationReference(
                    tag: LogTag($0), sequence: Limits.placeMax - 1,
                    check: Check(high: liar.randomNumber(), low: liar.randomNumber()))
            }
        }
    }

    /// Names nothing of what it has seen.
    @discardableResult
    public func omitCauses(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try publish(liar, in: space, "blind", at: wall(of: liar)) { _ in [] }
    }

    // MARK: From now on

    /// Serves the operations of others without their bodies.
    @discardableResult
    public func stripBodies(_ liar: SimulatedNode) -> Bool {
        liar.isHonest = false
        liar.disguise.stripsBodies = true
        return true
    }

    /// Gives other bytes than it has of files.
    ///
    /// - Returns: true: from now on it does.
    public func spoilFiles(_ liar: SimulatedNode) -> Bool {
        liar.isHonest = false
        liar.disguise.spoilsFiles = true
        return true
    }

    /// Never serves some ranges of the logs of others.
    @discardableResult
    public func withhold(_ liar: SimulatedNode) -> Bool {
        liar.isHonest = false
        liar.disguise.withholds = true
        return true
    }

    // MARK: Frames that no honest peer sends

    /// Sends more than any limit allows, each time in another way.
    @discardableResult
    public func oversize(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try forge(liar, in: space) { forgery in
            let victims = victims(of: liar, forgery)
            liar.lieCount += 1
            switch liar.lieCount % 3 {
            case 0:
                // A valid message, and again, and again: beyond any credit.
                let text = String(repeating: "x", count: Limits.messageByteCountMax - 1)
                guard
                    let run = try forgery.run(
                        TextMessage(text: text).draft(), at: wall(of: liar),
                        naming: try forgery.causes(of: .content))
                else { return false }
                try forgery.keep(run)
                for victim in victims {
                    for _ in 0..<64 { show(run, of: space, from: liar, to: victim) }
                }
            case 1:
                let bytes = [UInt8](repeating: 4, count: Limits.frameByteCountMax + 1)
                for victim in victims { inject(bytes, from: liar, to: victim) }
            default:
                for victim in victims {
                    inject(forgery.tooLargeOperation(), from: liar, to: victim)
                }
            }
            return !victims.isEmpty
        }
    }

    /// Sends very much that is valid: messages, receipts for logs that nobody has, and hundreds
    /// of frames of every kind that calls for an answer.
    @discardableResult
    public func flood(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try forge(liar, in: space) { forgery in
            let victims = victims(of: liar, forgery)
            let receipts = Receipts(
                read: (0..<1_000).map { _ in
                    Receipts.Progress(
                        tag: LogTag(liar.randomNumber()), places: PlaceSet(0..<2))
                })
            if let run = try forgery.run(receipts.draft(), at: wall(of: liar), naming: []) {
                try forgery.keep(run)
                for victim in victims { show(run, of: space, from: liar, to: victim) }
            }
            let texts = (0..<300).map { TextMessage(text: "flood \(now) \($0)") }
            // Whether the production core behind the lie likes it does not matter.
            _ = try? perform(.send(space, texts, replyingTo: nil), on: liar)
            for victim in victims {
                for _ in 0..<200 {
                    for frame in forgery.noise() { inject(frame, from: liar, to: victim) }
                }
            }
            return !victims.isEmpty
        }
    }

    /// Claims to hold what it does not, of others' logs and the victim's own, and to lack what
    /// it has.
    @discardableResult
    public func lieInFront(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try forge(liar, in: space) { forgery in
            let victims = victims(of: liar, forgery)
            let logs = try liar.store.logs(in: forgery.space.number)
            let claims = logs.filter { $0.end > 0 }.map {
                Frontier.Entry(
                    tag: $0.tag, sequence: $0.end + 1_000,
                    check: Check(high: liar.randomNumber(), low: liar.randomNumber()))
            }
            for victim in victims {
                inject(
                    .frontier(
                        Frontier(
                            space: space, isComplete: true, asksForMissing: false,
                            entries: claims)), from: liar, to: victim)
                inject(
                    .frontier(
                        Frontier(
                            space: space, isComplete: true, asksForMissing: true, entries: [])),
                    from: liar, to: victim)
            }
            return !victims.isEmpty
        }
    }

    // MARK: Bytes that change on their way

    /// The next frame from one node to another arrives with one bit turned over.
    ///
    /// In half of the cases it happens below the sealing, where the record no longer opens: both
    /// see the link end, and the frame is lost. In the other half it happens above it, as in a
    /// peer whose memory is bad: the core gets the wrong frame, and it is as authentic as any.
    ///
    /// - Parameters:
    ///   - source: who sends it.
    ///   - target: whom it is for.
    ///   - bit: counted from the first of the frame; begins anew behind the last.
    public func flip(from source: SimulatedNode, to target: SimulatedNode, bit: Int) {
        flips[Way(source: source.index, target: target.index)] = bit
    }

    // MARK: How a lie is told

    func publish(
        _ liar: SimulatedNode, in space: SpaceID, _ text: String, at clock: UInt64,
        naming causes: ((Forgery) throws -> [OperationReference])? = nil
    ) throws -> Bool {
        try forge(liar, in: space) { forgery in
            let named = try causes?(forgery) ?? forgery.causes(of: .content)
            guard let run = try forgery.run(forgery.text(text, now), at: clock, naming: named)
            else { return false }
            try forgery.keep(run)
            let victims = victims(of: liar, forgery)
            for victim in victims { show(run, of: space, from: liar, to: victim) }
            return !victims.isEmpty
        }
    }

    func forge(
        _ liar: SimulatedNode, in space: SpaceID, _ lie: (Forgery) throws -> Bool
    ) throws -> Bool {
        guard !liar.isDown else { return false }
        // A failure of the store that is planned for a step is not meant for a lie.
        return try observe {
            guard let forgery = try Forgery(liar, in: space) else { return false }
            liar.isHonest = false
            return try lie(forgery)
        }
    }

    func victims(of liar: SimulatedNode, _ forgery: Forgery) -> [SimulatedNode] {
        let linked = wires.keys.sorted().compactMap { link -> Int? in
            guard let wire = wires[link], wire.near.link == link else { return nil }
            let ends = [wire.near.node, wire.far.node]
            guard ends.contains(liar.index) else { return nil }
            return ends.first { $0 != liar.index }
        }
        return Set(linked).sorted().map { nodes[$0] }
    }

    func show(
        _ run: Run, of space: SpaceID, from liar: SimulatedNode, to victim: SimulatedNode
    ) {
        inject(
            .operations(Operations(space: space, endsAnswer: false, runs: [run])), from: liar,
            to: victim)
    }

    /// What the wall clock of a node shows, in Unix milliseconds.
    public func wall(of node: SimulatedNode) -> UInt64 { moment(of: node).wall }
}
