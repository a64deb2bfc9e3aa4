import Glibc
public import ParleyFiles
public import ParleyWire

extension BlobFolder {
    /// Writes the map of a blob again from its chunks, if all of them are there. Returns whether they
    /// are: their hashes have to lead to the blob's name, so that nothing else has to be believed.
    public func rebuildMap(of blob: BlobID, _ shape: BlobShape) throws(HomeError) -> Bool {
        let place = "\(path)/\(blob)"
        guard let data = try SparseFile(place, makes: false),
            data.byteCount == shape.sealedByteCount
        else { return false }
        var leaves: [Digest] = []
        leaves.reserveCapacity(shape.chunkCount)
        for number in 0..<shape.chunkCount {
            let index = ChunkIndex(clamping: UInt64(number))
            leaves.append(
                BlobHash.leaf(
                    try data.read(shape.byteCount(of: index), at: shape.offset(of: index))))
        }
        guard BlobMap.name(shape, leaves) == blob else { return false }
        close(blob)
        // Where this is interrupted, the next start removes what was begun.
        let begun = "\(path)/\(BlobWriter.prefix)\(blob).map"
        unlink(begun)
        guard let file = try SparseFile(begun, makes: true) else { return false }
        _ = try BlobMap(shape, in: file).write(whole: leaves)
        try file.synchronize()
        guard rename(begun, place + ".map") == 0 else {
            throw HomeError(errno: errno, path: place)
        }
        try MachineDisk().synchronizeFolder(of: place)
        return true
    }
}

extension BlobMap {
    /// The hashes of a blob's sections, given those of its chunks.
    private static func sections(_ shape: BlobShape, _ leaves: [Digest]) -> [Digest] {
        (0..<shape.sectionCount).map {
            BlobHash.section(leaves[shape.chunks(of: SectionIndex(clamping: UInt64($0)))])
        }
    }

    /// The name of a blob, given the hashes of its chunks.
    static func name(_ shape: BlobShape, _ leaves: [Digest]) -> BlobID {
        BlobHash.blob(shape.size, sections(shape, leaves))
    }

    /// Writes down that all chunks are held, and their hashes. Returns the blob's name.
    func write(whole leaves: [Digest]) throws(HomeError) -> BlobID {
        let sections = Self.sections(shape, leaves)
        let blob = BlobHash.blob(shape.size, sections)
        for number in 0..<shape.sectionCount {
            let index = SectionIndex(clamping: UInt64(number))
            try write(
                BlobSection(
                    blob: blob, size: shape.size, sections: sections, index: index,
                    leaves: Array(leaves[shape.chunks(of: index)])))
        }
        let all = ChunkSet.all(of: shape.chunkCount)
        for chunk in stride(from: 0, to: shape.chunkCount, by: 8) {
            try write(all, around: chunk)
        }
        return blob
    }
}
