import ParleySimulation

/// Something that people do every now and then, drawn from a stream of its own.
protocol Occupation {
    /// Milliseconds between two acts, on average; 0 for none.
    var pause: UInt64 { get }
    /// What is drawn from.
    var random: SeededRandom { get set }

    /// Draws what is done next, and on which node.
    mutating func act() -> (by: String, deed: Deed)
}

extension Occupation {
    /// What they do in this stretch of the run.
    mutating func acts(from start: UInt64, to end: UInt64) -> [Act] {
        var acts: [Act] = []
        var time = start
        while pause > 0 {
            time += 1 + random.next() % (2 * pause)
            if time >= end { break }
            let (user, deed) = act()
            acts.append(Act(at: .milliseconds(time), node: user, do: deed))
        }
        return acts
    }
}
