extension World {
    /// What is sent from one node to the other is held up for so many milliseconds.
    public func stall(
        from source: SimulatedNode, to target: SimulatedNode, for milliseconds: UInt64
    ) {
        let (from, to) = (place(of: source), place(of: target))
        for link in wires.keys.sorted() {
            guard var wire = wires[link], link == wire.near.link else { continue }
            let direction = wire.near.node == from ? 0 : 1
            let ends = direction == 0 ? (wire.near, wire.far) : (wire.far, wire.near)
            guard ends.0.node == from, ends.1.node == to else { continue }
            wire.freeFrom[direction] = max(wire.freeFrom[direction], now + milliseconds)
            keep(wire)
        }
    }
}
