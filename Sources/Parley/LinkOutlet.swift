import ParleyNodeCore
import ParleySealing
import ParleyWire

/// What the running node hands to the network.
protocol LinkOutlet: AnyObject, Sendable {
    /// Sends frames on a link, in order.
    func send(_ frames: [[UInt8]], on link: LinkID)
    /// Offers ``Input/roomOn(_:)`` once next to nothing of a link's output waits.
    func tellRoom(on link: LinkID)
    /// Ends a link after the pending output was sent, and drops received frames that still wait.
    func hangUp(_ link: LinkID)
    /// The peer of a link is a person whom this node serves.
    func markKnown(_ link: LinkID)
    /// Ends everything, and makes no new links.
    func leaveAll()
    /// There is room again for a sender's inputs.
    func resume(_ sender: NodeInbox.Sender)
    /// Shows this identity log on new links.
    func renewIdentity(_ operations: [[UInt8]])
    /// Tries to reach a device; answers with `linkOpened` or `dialFailed`.
    func dial(_ target: DialTarget)
    /// Connects to a relay, in place of an existing connection.
    func callRelay(_ relay: NoiseKey, at addresses: [String])
    /// Asks a relay something.
    func askRelay(_ relay: NoiseKey, _ request: MailboxRequest)
    /// Ends the connection to a relay, and reports nothing.
    func leaveRelay(_ relay: NoiseKey)
    /// Ends the connection to a relay, and tells that it is gone.
    func loseRelay(_ relay: NoiseKey)
}
