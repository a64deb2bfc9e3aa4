import ParleyWire

/// What files take, and which of those that are wanted do not fit.
struct FileRoom: Sendable {
    /// Bytes in use, by the records.
    private(set) var byteCount = 0
    private var blobs: Set<BlobID> = []

    /// Those that do not fit, ascending.
    var lacking: [BlobID] { blobs.sorted() }
    /// Whether everything fits.
    var isEnough: Bool { blobs.isEmpty }

    /// Whether a file does not fit.
    func isLacking(for blob: BlobID) -> Bool { blobs.contains(blob) }

    /// So many bytes are taken after a start.
    mutating func begin(with count: Int) { byteCount = count }

    /// So many bytes more are taken.
    mutating func take(_ count: Int) { byteCount += count }

    /// So many bytes are free again.
    mutating func free(_ count: Int) { byteCount -= count }

    /// A file does not fit.
    mutating func lack(_ blob: BlobID) { blobs.insert(blob) }

    /// It may fit by now.
    mutating func tryAgain(_ blob: BlobID) { blobs.remove(blob) }
}
