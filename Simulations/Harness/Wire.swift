import ParleyNodeCore

/// A connection between two nodes: the same for both of its ends, and known to each until it has
/// hung up.
final class Wire {
    /// One end.
    struct End {
        var node: Int
        var link: LinkID
    }

    /// One direction: what leaves at one end and arrives at the other.
    struct Direction {
        /// When the last frame arrives.
        var lastArrival: UInt64
        /// When the way is free for the next frame.
        var freeFrom: UInt64 = 0
        /// Bytes under way.
        var inFlight = 0
        /// Frames that are blocked: sent again and again until they pass.
        var held: [[UInt8]] = []
        /// Whether the sender is to be told once these have passed.
        var awaitsRoom = false
    }

    /// Who dialled.
    let near: End
    /// Who was dialled.
    let far: End
    /// The relay that it runs through, by its place; nil for none.
    let relay: Int?
    private var outward: Direction
    private var homeward: Direction

    init(near: End, far: End, arrival: UInt64, relay: Int? = nil) {
        self.near = near
        self.far = far
        self.relay = relay
        outward = Direction(lastArrival: arrival)
        homeward = Direction(lastArrival: arrival)
    }

    /// Whether anything is under way.
    var isCarrying: Bool { outward.inFlight != 0 || homeward.inFlight != 0 }

    /// The end that this one leads to.
    func end(opposite link: LinkID) -> End { link == near.link ? far : near }

    /// What leaves at this end.
    subscript(from link: LinkID) -> Direction {
        get { link == near.link ? outward : homeward }
        _modify {
            if link == near.link { yield &outward } else { yield &homeward }
        }
    }
}

/// A way from one node to another, by their places in the world.
struct Way: Hashable {
    let source: Int
    let target: Int

    /// Both directions, by one name.
    static func between(_ one: Int, _ other: Int) -> Way {
        Way(source: min(one, other), target: max(one, other))
    }
}
