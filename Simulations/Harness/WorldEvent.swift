public import ParleyNodeCore

/// Something that happened in a world, for those who record it. Nodes are named by their place in
/// ``World/nodes``.
public enum WorldEvent {
    /// A node made a step, or lost it.
    case stepped(StepReport, node: Int)
    /// A frame left; it arrives where and when is told, unless its link breaks before.
    case sent(Passage, arrival: UInt64)
    /// A frame is held back by a block, and will be sent when that ends.
    case held(Passage)
    /// A frame arrived.
    case arrived(Passage)
    /// One end of a link is open; `link` is that end.
    case linkOpened(LinkID, node: Int, peer: Int)
    /// One end of a link is closed, and what is on its way to it is lost.
    case linkClosed(LinkID, node: Int, peer: Int)
    /// Who reaches whom is another: ``World/isCut(_:_:)`` and ``World/isBlocked(from:to:)`` tell.
    /// It comes once for every pair, many times at one moment.
    case reachChanged
    /// A process died.
    case died(node: Int, losingPower: Bool)
    /// A process that had died started.
    case started(node: Int)

    /// A frame between two nodes.
    public struct Passage {
        /// The end of the link at which it arrives.
        public let link: LinkID
        /// Who sent it.
        public let source: Int
        /// Whom it is for.
        public let target: Int
        /// The frame.
        public let bytes: [UInt8]
    }
}

extension World {
    /// Whether two nodes were cut off from each other.
    public func isCut(_ left: Int, _ right: Int) -> Bool {
        separated.contains(.between(left, right))
    }

    /// Whether what one node sends to another is held back.
    public func isBlocked(from source: Int, to target: Int) -> Bool {
        blocked.contains(Way(source: source, target: target))
    }

    /// Whether nothing at all is in anybody's way.
    public var isWhole: Bool { separated.isEmpty && blocked.isEmpty }
}

// MARK: How the world tells

extension World {
    func passage(
        of bytes: [UInt8], on link: LinkID, from source: Int, to target: Int
    ) -> WorldEvent.Passage {
        WorldEvent.Passage(link: link, source: source, target: target, bytes: bytes)
    }

    func tellOfArrival(_ bytes: [UInt8], on link: LinkID, of wire: Wire) {
        let source = wire.end(opposite: link)
        let target = wire.end(opposite: source.link)
        onEvent?(
            .arrived(passage(of: bytes, on: link, from: source.node, to: target.node)))
    }

    /// Tells that one end of a link closes, if it is open.
    func tellOfClosing(_ link: LinkID) {
        guard let onEvent, let wire = wires[link] else { return }
        let peer = wire.end(opposite: link)
        onEvent(
            .linkClosed(link, node: wire.end(opposite: peer.link).node, peer: peer.node))
    }
}
