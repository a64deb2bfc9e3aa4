import ParleyWire

/// The addresses of a relay, by who names them, and how calls there went.
///
/// Nobody's word replaces another's: the addresses of each person are tried on their own, those that
/// failed least first, the more trusted first among equals. So a liar costs a try, not the relay.
/// Source: `Protocol/06-relay.md`, "Addresses".
struct RelayPlaces: Sendable {
    /// How far who names an address is trusted, the most first.
    enum Trust: Int, Comparable, Sendable {
        /// The own space says so.
        case own
        /// An accepted contact, or another device of this person.
        case contact
        /// A person who is only in a conversation with this one.
        case member

        static func < (left: Trust, right: Trust) -> Bool { left.rawValue < right.rawValue }
    }

    /// What one person says.
    private struct Source: Sendable {
        /// Nil for the own space.
        let person: PersonID?
        var trust: Trust
        var addresses: [String]
        var failureCount: UInt64 = 0
    }

    /// Persons whose word is kept for one relay.
    static let sourceCountMax = 8

    private var sources: [Source] = []
    /// Whose addresses were called last.
    private var called = 0

    /// Of a relay that the person uses: nobody else's word counts.
    init(own addresses: [String]) {
        sources = [Source(person: nil, trust: .own, addresses: addresses)]
    }

    /// Of a relay that somebody's card names.
    init(_ addresses: [String], namedBy person: PersonID, _ trust: Trust) {
        sources = [Source(person: person, trust: trust, addresses: addresses)]
    }

    /// Whether the person uses the relay.
    var isOwn: Bool { sources.first?.person == nil }

    /// Everything that is known, the most trusted first.
    var addresses: [String] {
        sources.sorted { $0.trust < $1.trust }.flatMap(\.addresses)
    }

    /// How often in a row those failed that failed least.
    var failureCount: UInt64 { sources.map(\.failureCount).min() ?? 0 }

    /// Whether this person alone names the relay.
    func isNamed(onlyBy person: PersonID) -> Bool { sources.allSatisfy { $0.person == person } }

    /// Whether nobody but members names the relay.
    var isNamedByMembersOnly: Bool { sources.allSatisfy { $0.trust == .member } }

    /// Records what a person's card says. If there is no room, a more trusted person displaces a
    /// less trusted one, and among equals nobody displaces anybody.
    mutating func note(_ addresses: [String], namedBy person: PersonID, _ trust: Trust) {
        guard !isOwn else { return }
        if let place = sources.firstIndex(where: { $0.person == person }) {
            sources[place].trust = trust
            guard sources[place].addresses != addresses else { return }
            sources[place].addresses = addresses
            sources[place].failureCount = 0
            return
        }
        let source = Source(person: person, trust: trust, addresses: addresses)
        guard sources.count >= Self.sourceCountMax else { return sources.append(source) }
        let least = sources.indices.max {
            (sources[$0].trust, $0) < (sources[$1].trust, $1)
        }
        guard let least, trust < sources[least].trust else { return }
        sources[least] = source
    }

    /// The addresses to call now: of one person.
    mutating func next() -> [String] {
        let best = sources.indices.min { left, right in
            let (one, other) = (sources[left], sources[right])
            return (one.failureCount, one.trust, left) < (other.failureCount, other.trust, right)
        }
        guard let best else { return [] }
        called = best
        return sources[best].addresses
    }

    /// Nobody answered where it was called last.
    mutating func fail() {
        guard sources.indices.contains(called) else { return }
        sources[called].failureCount += 1
    }

    /// The relay is where it was called last, and proved its key.
    mutating func succeed() {
        guard sources.indices.contains(called) else { return }
        sources[called].failureCount = 0
    }

    /// The network changed: how it went before says nothing.
    mutating func forgive() {
        for place in sources.indices { sources[place].failureCount = 0 }
    }
}
