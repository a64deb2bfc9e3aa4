extension World {
    /// What is sent from one node to the other is held up for so many milliseconds.
    public func stall(
        from source: SimulatedNode, to target: SimulatedNode, for milliseconds: UInt64
    ) {
        let (from, to) = (place(of: source), place(of: target))
        guard let from, let to else { return }
        for wire in wires(of: from) {
            let end = wire.near.node == from ? wire.near : wire.far
            guard wire.end(opposite: end.link).node == to else { continue }
            let freeFrom = wire[from: end.link].freeFrom
            wire[from: end.link].freeFrom = max(freeFrom, now + milliseconds)
        }
    }
}
