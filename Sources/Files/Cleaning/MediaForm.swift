/// A file that can be read at any place.
public protocol PlacedBytes: Sendable {
    /// How many bytes it has.
    var byteCount: UInt64 { get }
    /// Bytes of it: exactly so many.
    ///
    /// - Throws: where they are not there, or cannot be read.
    func bytes(at place: UInt64, count: Int) throws -> [UInt8]
}

/// Why nothing can be said of a file's form.
public enum FormFailure: Error, Equatable, Sendable {
    /// It breaks the form that its first bytes promise.
    case broken
    /// It may contain metadata that cannot be removed.
    case uncleanable
}

/// The type of a picture, a video or a recording by its container, and the changes that remove
/// metadata about where, when and with what it was made.
///
/// Nothing is decoded: containers are walked, each step is bounded, and everything not known to be
/// part of the picture is removed.
/// Source: `Protocol/13-files.md`, "Pictures, videos and sound".
public struct MediaForm: Equatable, Sendable {
    /// The containers whose form is known.
    public enum Container: String, Equatable, Sendable, CaseIterable {
        case jpeg
        case png
        case gif
        case webp
        /// HEIF, AVIF, MP4, MOV.
        case isoMedia
        /// WebM.
        case matroska
        /// Sound that says how long it is; nothing is taken out of it.
        case wav
        /// As `wav`.
        case ogg
    }

    /// In points, as it is to be shown; 0 where that is not known.
    public internal(set) var width: UInt32 = 0
    /// In points, as it is to be shown; 0 where that is not known.
    public internal(set) var height: UInt32 = 0
    /// In milliseconds; 0 for what neither sounds nor moves, and where it is not known.
    public internal(set) var duration: UInt32 = 0
    /// What has to change: ascending, and none overlaps another.
    public internal(set) var edits: [FileEdit] = []

    /// Reads the form of a file.
    ///
    /// - Parameter keepsColours: whether a colour profile stays. A preview has none.
    /// - Throws: ``FormFailure``, and what reading throws.
    public static func read(
        _ file: any PlacedBytes, as container: Container, keepsColours: Bool = true
    ) throws -> MediaForm {
        var form =
            switch container {
            case .jpeg: try JPEGForm.read(file, keepsColours: keepsColours)
            case .png: try PNGForm.read(file, keepsColours: keepsColours)
            case .gif: try GIFForm.read(file)
            case .webp: try WebPForm.read(file, keepsColours: keepsColours)
            case .isoMedia: try ISOMediaForm.read(file)
            case .matroska: try MatroskaForm.read(file)
            case .wav: try WAVForm.read(file)
            case .ogg: try OggForm.read(file)
            }
        form.edits = try FileEdit.ordered(form.edits, byteCount: file.byteCount)
        return form
    }

    mutating func drop(_ start: UInt64, _ end: UInt64) {
        if start < end { edits.append(FileEdit(start: start, end: end, with: .bytes([]))) }
    }

    mutating func replace(_ start: UInt64, _ end: UInt64, by bytes: [UInt8]) {
        edits.append(FileEdit(start: start, end: end, with: .bytes(bytes)))
    }

    mutating func blank(_ start: UInt64, _ end: UInt64) {
        if start < end { edits.append(FileEdit(start: start, end: end, with: .zeros)) }
    }

    /// Turns the measures where a picture is shown lying on its side.
    mutating func turn(by orientation: UInt8) {
        if (5...8).contains(orientation) { swap(&width, &height) }
    }
}

/// A change to a file.
public struct FileEdit: Equatable, Sendable {
    /// What takes the place of the bytes.
    public enum Replacement: Equatable, Sendable {
        case bytes([UInt8])
        /// As many zeros as there were bytes.
        case zeros
    }

    /// More are too many: a recording of an hour with places in it has some thousands.
    static let countMax = 1 << 18

    /// The first byte that changes.
    public var start: UInt64
    /// The byte after the last one that changes.
    public var end: UInt64
    /// What takes their place.
    public var with: Replacement

    /// The edits in their order, with those that touch each other as one.
    static func ordered(_ edits: [FileEdit], byteCount: UInt64) throws(FormFailure) -> [FileEdit] {
        guard edits.count <= countMax else { throw .uncleanable }
        var ordered: [FileEdit] = []
        for edit in edits.sorted(by: { ($0.start, $0.end) < ($1.start, $1.end) }) {
            guard edit.start <= edit.end, edit.end <= byteCount else { throw .broken }
            if let last = ordered.last, edit.start <= last.end, edit.with == .zeros,
                last.with == .zeros
            {
                ordered[ordered.count - 1].end = max(last.end, edit.end)
                continue
            }
            guard edit.start >= ordered.last?.end ?? 0 else { throw .broken }
            ordered.append(edit)
        }
        return ordered
    }
}

/// A file as it is once its edits were made, from its start to its end.
public struct EditedFile: Sendable {
    private enum Piece: Sendable {
        case copy(UInt64, count: UInt64)
        case bytes([UInt8])
        case zeros(UInt64)

        var count: UInt64 {
            switch self {
            case .copy(_, let count), .zeros(let count): count
            case .bytes(let bytes): UInt64(bytes.count)
            }
        }
    }

    private let file: any PlacedBytes
    private let pieces: [Piece]
    private var index = 0
    private var done: UInt64 = 0
    /// How many bytes it has then.
    public let byteCount: UInt64

    /// The file with these edits, which ``MediaForm/read(_:as:keepsColours:)`` gave.
    public init(_ file: any PlacedBytes, _ edits: [FileEdit] = []) {
        var pieces: [Piece] = []
        var place: UInt64 = 0
        for edit in edits {
            if edit.start > place { pieces.append(.copy(place, count: edit.start - place)) }
            switch edit.with {
            case .bytes(let bytes): pieces.append(.bytes(bytes))
            case .zeros: pieces.append(.zeros(edit.end - edit.start))
            }
            place = edit.end
        }
        if file.byteCount > place { pieces.append(.copy(place, count: file.byteCount - place)) }
        self.file = file
        self.pieces = pieces
        byteCount = pieces.reduce(0) { $0 + $1.count }
    }

    /// The next bytes: so many, or as many as are left.
    public mutating func next(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count, index < pieces.count {
            let piece = pieces[index]
            let taken = Int(min(UInt64(count - bytes.count), piece.count - done))
            switch piece {
            case .copy(let place, _): bytes += try file.bytes(at: place + done, count: taken)
            case .bytes(let own): bytes += own[Int(done)..<Int(done) + taken]
            case .zeros: bytes += repeatElement(0, count: taken)
            }
            done += UInt64(taken)
            if done == piece.count { (index, done) = (index + 1, 0) }
        }
        return bytes
    }
}
