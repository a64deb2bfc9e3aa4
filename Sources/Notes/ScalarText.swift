/// A text of Unicode scalars that is edited anywhere: pieces of bounded size, of which the one that was
/// edited last is found at once.
public struct ScalarText: Equatable, Sendable {
    private static let pieceCountMax = 1_024

    private var pieces: [[Unicode.Scalar]] = []
    /// How many scalars it has.
    public private(set) var count = 0
    /// The piece that was found last, and how many scalars stand before it.
    private var last = (piece: 0, start: 0)

    /// An empty text.
    public init() {}

    /// A text of these scalars.
    public init(_ scalars: some Sequence<Unicode.Scalar>) {
        insert(Array(scalars)[...], at: 0)
    }

    /// The text as a string.
    public var string: String {
        var string = String.UnicodeScalarView()
        for piece in pieces { string.append(contentsOf: piece) }
        return String(string)
    }

    /// All scalars in their order.
    public var scalars: [Unicode.Scalar] { Array(pieces.joined()) }

    /// Whether both have the same scalars, in whatever pieces.
    public static func == (one: ScalarText, other: ScalarText) -> Bool {
        one.count == other.count && one.scalars == other.scalars
    }

    /// Inserts scalars, the first at `position` (at most ``count``).
    public mutating func insert(_ scalars: ArraySlice<Unicode.Scalar>, at position: Int) {
        if scalars.isEmpty { return }
        precondition(position >= 0 && position <= count, "an insertion lies within the text")
        if pieces.isEmpty { pieces.append([]) }
        seek(position)
        let (piece, start) = last
        pieces[piece].insert(contentsOf: scalars, at: position - start)
        count += scalars.count
        if pieces[piece].count > Self.pieceCountMax { divide(piece) }
    }

    /// Removes scalars from `position` on.
    public mutating func remove(_ length: Int, at position: Int) {
        precondition(position >= 0 && position + length <= count, "a deletion lies within the text")
        var left = length
        while left > 0 {
            seek(position)
            let first = position - last.start
            // What begins where a piece ends is in the next one.
            guard first < pieces[last.piece].count else {
                last = (last.piece + 1, last.start + pieces[last.piece].count)
                continue
            }
            let taken = min(left, pieces[last.piece].count - first)
            pieces[last.piece].removeSubrange(first..<first + taken)
            left -= taken
            count -= taken
            if pieces[last.piece].isEmpty, pieces.count > 1 {
                pieces.remove(at: last.piece)
                last = (0, 0)
            }
        }
    }

    /// Makes the piece the last one in which a position lies, or at whose end.
    private mutating func seek(_ position: Int) {
        var (piece, start) = last
        while position < start {
            piece -= 1
            start -= pieces[piece].count
        }
        while position > start + pieces[piece].count {
            start += pieces[piece].count
            piece += 1
        }
        last = (piece, start)
    }

    private mutating func divide(_ place: Int) {
        let whole = pieces[place]
        let size = Self.pieceCountMax / 2
        let parts = stride(from: 0, to: whole.count, by: size).map { first in
            Array(whole[first..<min(first + size, whole.count)])
        }
        pieces.replaceSubrange(place...place, with: parts)
    }
}
