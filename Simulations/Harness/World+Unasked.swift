import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyWire

/// What somebody can do with a group to those who were put into it and have not accepted.
extension World {
    /// How many operations a flood has, and how many bytes each: more together than anybody keeps of
    /// a control log before they accept.
    private static let unaskedFlood = (count: 48, byteCount: 40_000)
    private static let unaskedFloodCountMax = 2

    /// Founds a group with somebody who wants to be asked; then writes more into its control log than
    /// anybody need keep who has not accepted.
    ///
    /// - Returns: whether there was somebody to do it to.
    @discardableResult
    public func floodUnasked(_ liar: SimulatedNode) throws -> Bool {
        guard let unasked = liar.disguise.unasked else { return try foundUnasked(by: liar) }
        guard unasked.floodCount < Self.unaskedFloodCountMax else { return false }
        return try forge(liar, in: unasked.group) { forgery in
            liar.disguise.unasked?.floodCount += 1
            // Nobody knows this kind: it changes no roster.
            let kind = OperationKind(rawValue: 31)
            var isShown = false
            for _ in 0..<Self.unaskedFlood.count {
                let draft = Draft(
                    kind: kind, lane: .control,
                    payload: liar.randomBytes(Self.unaskedFlood.byteCount), isErasable: false)
                let run = try forgery.run(draft, at: wall(of: liar), naming: [])
                isShown = try show(run, by: forgery, in: unasked.group)
            }
            return isShown
        }
    }

    private func foundUnasked(by liar: SimulatedNode) throws -> Bool {
        guard !liar.isDown else { return false }
        let victim = try observe {
            try nodes.first { node in
                guard node.isHonest, !node.isDown, let own = node.core.ownSpace,
                    node.identity.person != liar.identity.person
                else { return false }
                return try Overview.additionPolicy(ownSpace: own.number, in: node.store) == .ask
            }
        }
        guard let victim else { return false }
        liar.isHonest = false
        let command = Command.createGroup(
            name: "for you", members: [victim.identity.person])
        // Whom the liar does not know it cannot put anywhere.
        guard case .space(let number)? = try? perform(command, on: liar),
            let space = try observe({ try liar.store.space(number) })
        else { return false }
        liar.disguise.unasked = (space.id, 0)
        return true
    }
}
