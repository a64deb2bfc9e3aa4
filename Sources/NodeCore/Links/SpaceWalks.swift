import ParleyLedger

/// Walks through all spaces, some spaces a step: a node with very many spaces must not stand still
/// for one of them.
///
/// Owns how far each walk is. A walk that is not underway begins at the first space.
struct SpaceWalks: Sendable {
    /// Spaces that one step looks at, where all of them are to be looked at.
    static let portionCountMax = 16
    /// How long after a portion the next one follows, in milliseconds.
    static let interval: UInt64 = 250

    /// What spaces are looked at for.
    enum Purpose: Hashable, Sendable {
        /// Keys that are old.
        case keys
        /// Own devices that a space was not told of.
        case devices
    }

    /// How many spaces a walk has behind it; none where it is not underway.
    private var positions: [Purpose: Int] = [:]

    /// Whether a walk has spaces behind it, and others before it.
    func isUnderway(_ purpose: Purpose) -> Bool { positions[purpose] != nil }

    /// Takes the next spaces of a walk.
    ///
    /// - Parameter spaces: all there are, in the same order each time.
    mutating func nextPortion(
        for purpose: Purpose, of spaces: [SpaceRecord]
    ) -> ArraySlice<SpaceRecord> {
        // Some may have gone since the last portion.
        let first = min(positions[purpose] ?? 0, spaces.count)
        let portion = spaces[first..<min(first + Self.portionCountMax, spaces.count)]
        positions[purpose] = portion.endIndex < spaces.count ? portion.endIndex : nil
        return portion
    }
}
