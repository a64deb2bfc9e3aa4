import Glibc
public import ParleyFiles
import ParleySealing
public import ParleyWire

/// Seals a file into the folder of a home, chunk by chunk, before its name is known.
///
/// It works beside the node and shares nothing with its ``BlobFolder``: when it is done, the folder
/// takes over the result. The next start removes unfinished ones.
public final class BlobWriter {
    /// What the files are called until then.
    static let prefix = "new-"

    /// A file that was sealed and is not taken in.
    public struct Finished: Sendable {
        /// Its name.
        public let blob: BlobID
        /// How it is cut.
        public let shape: BlobShape
        /// The key that opens it.
        public let key: [UInt8]
        /// The hash of its content, by which the same file is known again.
        public let content: Digest
        let data: String
        let map: String
    }

    private let seal: FileSeal
    private let key: [UInt8]
    private let data: SparseFile
    private let map: SparseFile
    private let path: String
    private var leaves: [Digest] = []
    private var content = LabelledHash(.ownFile)
    private var isFinished = false

    /// Begins with a file of so many bytes.
    ///
    /// - Parameters:
    ///   - folder: where sealed files lie.
    ///   - name: tells this one from others that are being written: random.
    ///   - key: drawn for this file.
    public init(
        into folder: String, named name: UInt64, _ shape: BlobShape, key: [UInt8]
    ) throws(HomeError) {
        path = "\(folder)/\(Self.prefix)\(String(name, radix: 16))"
        self.key = key
        try MachineDisk().makeFolder(folder)
        guard let seal = FileSeal(key: key, shape: shape),
            let data = try SparseFile(path, makes: true),
            let map = try SparseFile(path + ".map", makes: true)
        else { throw HomeError(.other, path: path, detail: "it is not a key") }
        (self.seal, self.data, self.map) = (seal, data, map)
    }

    deinit {
        guard !isFinished else { return }
        unlink(path)
        unlink(path + ".map")
    }

    /// How many bytes the next chunk takes; 0 after the last.
    public var nextByteCount: Int { seal.shape.plainByteCount(of: next) }

    private var next: ChunkIndex { ChunkIndex(clamping: UInt64(leaves.count)) }

    /// Seals the next chunk, of exactly ``nextByteCount`` bytes.
    public func add(_ plaintext: [UInt8]) throws(HomeError) {
        content.update(plaintext)
        let chunk = seal.seal(plaintext, as: next)
        try data.requireRoom(for: chunk.count)
        try data.write(chunk, at: seal.shape.offset(of: next))
        leaves.append(BlobHash.leaf(chunk))
    }

    /// All chunks were added.
    public func finish() throws(HomeError) -> Finished {
        let shape = seal.shape
        guard leaves.count == shape.chunkCount else {
            throw HomeError(.other, path: path, detail: "the file became shorter")
        }
        let blob = try BlobMap(shape, in: map).write(whole: leaves)
        try data.synchronize()
        try map.synchronize()
        isFinished = true
        return Finished(
            blob: blob, shape: shape, key: key, content: content.finalize(), data: path,
            map: path + ".map")
    }
}

extension BlobWriter.Finished {
    /// The same file, sealed with another key. This one goes.
    ///
    /// - Parameters:
    ///   - key: one that was drawn for this content before.
    ///   - folder: where sealed files lie.
    ///   - name: as for ``BlobWriter/init(into:named:_:key:)``.
    public func sealed(
        with key: [UInt8], into folder: String, named name: UInt64
    ) throws(HomeError) -> Self {
        defer { BlobFolder.drop(self) }
        let writer = try BlobWriter(into: folder, named: name, shape, key: key)
        guard let seal = FileSeal(key: self.key, shape: shape),
            let source = try SparseFile(data, makes: false)
        else { throw HomeError(.other, path: data, detail: "it is gone") }
        for number in 0..<shape.chunkCount {
            let index = ChunkIndex(clamping: UInt64(number))
            let sealed = try source.read(shape.byteCount(of: index), at: shape.offset(of: index))
            guard let plain = seal.open(sealed, as: index) else {
                throw HomeError(.other, path: data, detail: "it is damaged")
            }
            try writer.add(plain)
        }
        return try writer.finish()
    }
}

extension BlobFolder {
    /// Takes in a file that was sealed beside it. One that is here as a whole stays as it is.
    public func take(_ finished: BlobWriter.Finished) throws(HomeError) {
        let (data, map) = ("\(path)/\(finished.blob)", "\(path)/\(finished.blob).map")
        close(finished.blob)
        for (file, place) in [(finished.data, data), (finished.map, map)]
        where rename(file, place) != 0 {
            throw HomeError(errno: errno, path: place)
        }
        try MachineDisk().synchronizeFolder(of: data)
    }

    /// Removes a file that was sealed beside it and is not needed.
    public static func drop(_ finished: BlobWriter.Finished) {
        unlink(finished.data)
        unlink(finished.map)
    }

    /// Removes what those left that were being sealed when a process ended.
    public func removeUnfinished() {
        guard let folder = opendir(path) else { return }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { place in
                    place.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        for name in names where name.hasPrefix(BlobWriter.prefix) { unlink("\(path)/\(name)") }
    }
}
