import ParleySealing
public import ParleyWire

/// The hashes that name a blob and identify its chunks, each separately and in any order.
/// Source: `Protocol/13-files.md`, "Blobs".
public enum BlobHash {
    /// The hash of a sealed chunk.
    public static func leaf(_ chunk: [UInt8]) -> Digest { digest(.fileChunk, chunk) }

    /// The hash of a section, from those of its chunks.
    public static func section(_ leaves: some Sequence<Digest>) -> Digest {
        digest(.fileSection) { hash in
            for leaf in leaves { hash.update(leaf) }
        }
    }

    /// The name of a blob, from the hashes of its sections.
    public static func blob(_ size: BlobSize, _ sections: some Sequence<Digest>) -> BlobID {
        digest(.blob) { hash in
            hash.update(size.value)
            for section in sections { hash.update(section) }
        }
    }
}

extension BlobSection {
    /// Whether these are the hashes of a part of the blob that it names. Nothing else has to be known.
    public var isGenuine: Bool {
        guard let shape = BlobShape(size), sections.count == shape.sectionCount,
            index.value < UInt64(sections.count), leaves.count == shape.chunks(of: index).count
        else { return false }
        return BlobHash.section(leaves) == sections[Int(index.value)]
            && BlobHash.blob(size, sections) == blob
    }
}
