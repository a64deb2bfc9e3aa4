import ParleyWire

/// The devices that this one is linked to or dials.
struct Peers: Sendable {
    var links: [LinkID: CoreLink] = [:]
    /// What everybody may still cost.
    var allowances = Allowances()
    /// Who breaks the protocol on links that they open.
    var breaches = Breaches()
    /// The state of reaching devices.
    var dialer = Dialer()
    /// Where devices were seen on the local network.
    var neighbours = Neighbours()
    /// Which clocks differ.
    var clocks = ClockWatch()
    /// Looks at all spaces that are under way.
    var walks = SpaceWalks()
    /// What peers have shown since the start.
    var confirmations = Confirmations()
}
