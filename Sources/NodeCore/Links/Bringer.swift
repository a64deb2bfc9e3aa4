import ParleyWire

/// The device that delivers operations, with its identity proven by the handshake of a link or by
/// the signature on an envelope.
struct Bringer {
    let person: PersonID
    let device: DeviceID
    /// The link that they came on; nil for a relay.
    let link: LinkID?
    /// Whether earlier frames are still to be read, and will be.
    var isAhead = false
    /// Whether they have informed everybody who is not linked of what they deliver.
    var hasToldAll = false

    init(person: PersonID, device: DeviceID) {
        self.person = person
        self.device = device
        link = nil
    }

    init(_ peer: LinkPeer, link: LinkID) {
        person = peer.person
        device = peer.device
        self.link = link
    }
}
