import Glibc
public import ParleyFiles
public import ParleyLedger
public import ParleyWire

/// The sealed files of a home: of each a file of chunks, each at its place, and a map of them.
///
/// Their names are those of the blobs. Nothing here is secret from a person without a message that
/// names it.
public final class BlobFolder: BlobStore {
    /// Blobs whose files are kept open.
    static let openCountMax = 32
    /// Sections whose hashes are kept in memory, over all blobs: 128 KiB each.
    static let sectionCountMax = 16

    private final class OpenBlob {
        let data: SparseFile
        let map: BlobMap
        var chunks: ChunkSet
        var lastUse: UInt64 = 0
        var isDurable = true

        init(data: SparseFile, map: BlobMap, chunks: ChunkSet) {
            self.data = data
            self.map = map
            self.chunks = chunks
        }

        /// The remaining bytes, at most. A file that will not fit is not begun: half of one is of
        /// use to nobody, and takes space.
        var missingByteCount: Int {
            min(
                map.shape.sealedByteCount,
                (chunks.chunkCount - chunks.count) * Limits.chunkByteCount)
        }
    }

    private struct SectionKey: Hashable {
        var blob: BlobID
        var index: SectionIndex
    }

    /// The folder.
    public let path: String
    private var opened: [BlobID: OpenBlob] = [:]
    private var sections: [SectionKey: (section: BlobSection, lastUse: UInt64)] = [:]
    private var useCount: UInt64 = 0

    /// The sealed files in this folder, which need not exist yet.
    public init(_ path: String) { self.path = path }

    private func dataFile(_ blob: BlobID) -> String { "\(path)/\(blob)" }
    private func mapFile(_ blob: BlobID) -> String { "\(path)/\(blob).map" }

    // MARK: Blobs

    /// What is held of a blob; nil if nothing was begun.
    public func heldBlob(_ blob: BlobID) throws(StoreError) -> HeldBlob? {
        try open(blob).map { HeldBlob(shape: $0.map.shape, chunks: $0.chunks) }
    }

    /// Creates a blob's files, if there are none.
    public func beginBlob(_ blob: BlobID, _ shape: BlobShape) throws(StoreError) {
        if try open(blob) != nil { return }
        try trying("making room for a file") { () throws(HomeError) in
            try MachineDisk().makeFolder(path)
            guard let data = try SparseFile(dataFile(blob), makes: true),
                let map = try SparseFile(mapFile(blob), makes: true)
            else { return }
            // A map that cannot be read says nothing: none of its bits may count later.
            try map.setByteCount(0)
            try data.setByteCount(shape.sealedByteCount)
            keep(
                OpenBlob(
                    data: data, map: try BlobMap(shape, in: map),
                    chunks: ChunkSet(of: shape.chunkCount)), as: blob)
        }
    }

    /// Makes a blob survive a crash of the machine.
    public func makeDurable(_ blob: BlobID) throws(StoreError) {
        guard let open = try open(blob), !open.isDurable else { return }
        try trying("keeping a file") { () throws(HomeError) in
            try open.data.synchronize()
            try open.map.synchronize()
            try MachineDisk().synchronizeFolder(of: dataFile(blob))
        }
        open.isDurable = true
    }

    /// Removes all that is held of a blob.
    public func removeBlob(_ blob: BlobID) throws(StoreError) {
        close(blob)
        // The map goes first: chunks without one are leftovers of a crash.
        for file in [mapFile(blob), dataFile(blob)] where unlink(file) != 0 && errno != ENOENT {
            throw StoreError(HomeError(errno: errno, path: file), "removing a file")
        }
    }

    /// All blobs of which something is held, ascending.
    public func blobs() throws(StoreError) -> [BlobID] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var blobs: Set<BlobID> = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { place in
                place.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let bytes = bytes(hex: name.prefix(64)), let blob = BlobID(bytes) else {
                continue
            }
            blobs.insert(blob)
        }
        return blobs.sorted()
    }

    // MARK: Pieces

    /// The hashes of a section's chunks, if they are held.
    public func section(
        _ index: SectionIndex, of blob: BlobID
    ) throws(StoreError) -> BlobSection? {
        let key = SectionKey(blob: blob, index: index)
        useCount += 1
        if sections[key] != nil {
            sections[key]?.lastUse = useCount
            return sections[key]?.section
        }
        guard let open = try open(blob), index.value < UInt64(open.map.shape.sectionCount) else {
            return nil
        }
        let found = try trying("reading the hashes of a file") { () throws(HomeError) in
            try open.map.section(index, of: blob)
        }
        if let found { remember(found) }
        return found
    }

    /// Keeps the hashes of a section's chunks.
    public func keep(_ section: BlobSection) throws(StoreError) {
        guard let open = try open(section.blob) else { throw Self.gone }
        try trying("keeping the hashes of a file") { () throws(HomeError) in
            try open.data.requireRoom(for: open.missingByteCount)
            try open.map.write(section)
        }
        open.isDurable = false
        remember(section)
    }

    /// The bytes of a chunk, if it is held.
    public func chunk(_ index: ChunkIndex, of blob: BlobID) throws(StoreError) -> [UInt8]? {
        guard let open = try open(blob), open.chunks.contains(Int(index.value)) else { return nil }
        return try trying("reading a file") { () throws(HomeError) in
            try open.data.read(
                open.map.shape.byteCount(of: index), at: open.map.shape.offset(of: index))
        }
    }

    /// Keeps a chunk.
    public func keep(_ chunk: BlobChunk) throws(StoreError) {
        guard let open = try open(chunk.blob), open.map.shape.contains(chunk.index) else {
            throw Self.gone
        }
        try trying("keeping a part of a file") { () throws(HomeError) in
            try open.data.requireRoom(for: open.missingByteCount)
            try open.data.write(chunk.bytes, at: open.map.shape.offset(of: chunk.index))
            open.isDurable = false
            guard open.chunks.insert(Int(chunk.index.value)) else { return }
            do throws(HomeError) {
                try open.map.write(open.chunks, around: Int(chunk.index.value))
            } catch {
                open.chunks.remove(Int(chunk.index.value))
                throw error
            }
        }
    }

    /// A chunk is damaged: it is no longer held.
    public func loseChunk(_ index: ChunkIndex, of blob: BlobID) throws(StoreError) {
        guard let open = try open(blob) else { return }
        open.chunks.remove(Int(index.value))
        try trying("forgetting a part of a file") { () throws(HomeError) in
            try open.map.write(open.chunks, around: Int(index.value))
        }
    }

    /// Somebody removed it while it was being fetched.
    private static let gone = StoreError(
        .other, attempt: "keeping a part of a file", detail: "there is no such file")

    // MARK: What is open

    private func open(_ blob: BlobID) throws(StoreError) -> OpenBlob? {
        useCount += 1
        if let open = opened[blob] {
            open.lastUse = useCount
            return open
        }
        return try trying("opening a file") { () throws(HomeError) in
            guard let mapFile = try SparseFile(mapFile(blob), makes: false),
                let map = try BlobMap(reading: mapFile),
                let data = try SparseFile(dataFile(blob), makes: false),
                data.byteCount == map.shape.sealedByteCount
            else { return nil }
            let open = OpenBlob(data: data, map: map, chunks: try map.chunks())
            // A process that died may have written what the machine has not on its disk yet.
            open.isDurable = false
            keep(open, as: blob)
            return open
        }
    }

    /// Forgets the cached state of a blob: another instance has changed it.
    public func reread(_ blob: BlobID) { close(blob) }

    func close(_ blob: BlobID) {
        opened[blob] = nil
        sections = sections.filter { $0.key.blob != blob }
    }

    private func keep(_ open: OpenBlob, as blob: BlobID) {
        if opened.count >= Self.openCountMax,
            let oldest = opened.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            opened[oldest.key] = nil
        }
        open.lastUse = useCount
        opened[blob] = open
    }

    private func remember(_ section: BlobSection) {
        if sections.count >= Self.sectionCountMax,
            let oldest = sections.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            sections[oldest.key] = nil
        }
        sections[SectionKey(blob: section.blob, index: section.index)] = (section, useCount)
    }

    private func trying<R>(
        _ attempt: String, _ body: () throws(HomeError) -> R
    ) throws(StoreError) -> R {
        do throws(HomeError) { return try body() } catch { throw StoreError(error, attempt) }
    }
}

extension StoreError {
    /// What the file system refused.
    fileprivate init(_ error: HomeError, _ attempt: String) {
        let code: Code =
            switch error.code {
            case .diskFull: .full
            case .readOnly: .readOnly
            default: .inputOutput
            }
        self.init(code, attempt: attempt, detail: error.detail)
    }
}
