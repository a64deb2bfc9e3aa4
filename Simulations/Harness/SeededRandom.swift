/// A reproducible stream of random numbers (SplitMix64): the same seed gives the same numbers in
/// every process. Never for keys outside a simulation.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The stream of this seed.
    public init(seed: UInt64) { state = seed }

    /// The stream of one purpose under this seed, as "node 3, keys".
    ///
    /// Whoever draws more or less from one stream does not shift any other, so a run in which one
    /// fault is left out stays the same run in all else.
    public init(seed: UInt64, purpose: String) {
        var hash = 0xcbf2_9ce4_8422_2325 ^ seed
        for byte in purpose.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        state = hash
        // One round apart, so that purposes that differ in one letter do not begin alike.
        state = next()
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Whether something that happens once in `count` times happens now; never where it is 0.
    public mutating func happens(onceIn count: UInt64) -> Bool {
        count > 0 && next() % count == 0
    }
}
