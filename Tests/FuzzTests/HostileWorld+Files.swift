import ParleyConversation
import ParleyLedger
import ParleyWire

@testable import ParleyFiles
@testable import ParleyNodeCore
@testable import ParleySealing
@testable import ParleySimulation

/// Files that liars name and give; made once, because sealing them costs more than a life does.
enum HostileFiles {
    /// Of one byte, of a chunk, of one byte more, and of a few chunks.
    static let samples = [1, Limits.plainChunkByteCount, Limits.plainChunkByteCount + 1, 200_000]
        .enumerated().map { SampleFile(byteCount: $1, seed: UInt8($0)) }

    /// The hashes of the first section of the largest file there may be, and a chunk of it: both
    /// hold.
    static let greatest: (section: BlobSection, chunk: BlobChunk) = {
        let bytes = [UInt8](repeating: 7, count: Limits.chunkByteCount)
        let count = BlobShape(.greatest)?.sectionCount ?? 0
        let leaves = [Digest](repeating: BlobHash.leaf(bytes), count: Limits.sectionChunkCountMax)
        let sections = [Digest](repeating: BlobHash.section(leaves), count: count)
        let blob = BlobHash.blob(.greatest, sections)
        return (
            BlobSection(
                blob: blob, size: .greatest, sections: sections, index: .zero, leaves: leaves),
            BlobChunk(blob: blob, index: .zero, bytes: bytes)
        )
    }()

    /// All that lies on shelves of these files.
    static let shelved: [[UInt8]] = samples.flatMap { file -> [[UInt8]] in
        let blobs = MemoryBlobs()
        guard let shape = BlobShape(file.size),
            let writer = ShelfWriter(file.blob, shape, key: file.key),
            (try? file.put(into: blobs)) != nil
        else { return [] }
        return (0..<writer.pieceCount).compactMap { try? writer.envelope(at: $0, from: blobs) }
    }
}

// Files: frames about them, messages that name them, and what lies on shelves.
extension HostileWorld {
    func sample() -> SampleFile { HostileFiles.samples[random.below(HostileFiles.samples.count)] }

    /// A file that is named here and there, or any.
    func blob() -> BlobID {
        if random.happens(onceIn: 8) { return random.identifier() }
        return random.happens(onceIn: 6) ? HostileFiles.greatest.section.blob : sample().blob
    }

    func fileFrame() -> Frame {
        switch random.next() % 6 {
        case 0: .blobAsk(Set((0...random.below(4)).map { _ in blob() }).sorted())
        case 1: .blobHave(BlobHolding(blob: blob(), ranges: chunkRanges()))
        case 2, 3:
            .blobWant(
                BlobWant(
                    blob: blob(),
                    part: random.flip()
                        ? .section(random.flip() ? .zero : random.hostile())
                        : .chunks(
                            from: random.flip() ? .zero : random.hostile(),
                            count: 1 + random.below(Limits.wantedChunkCountMax))))
        case 4: .blobSection(section(of: sample()))
        default: .blobChunk(chunk(of: sample()))
        }
    }

    /// A liar names a file, says that it holds it, and gives it, or something else in its place.
    func giveFile() throws {
        let node = liar()
        let file = sample()
        if random.flip() { try name(file, by: [node, eve, ben][random.below(3)]) }
        var frames: [Frame] = [.blobAsk([file.blob]), .blobHave(whole(file))]
        frames.append(.blobSection(file.section(.zero)))
        frames += file.chunks.indices.map { .blobChunk(file.chunk($0)) }
        note("a file of \(file.size) bytes of \(node.name)")
        for frame in frames {
            say(random.happens(onceIn: 5) ? fileFrame() : frame, by: node)
            world.run(for: random.next() % 30)
        }
    }

    /// Somebody's message brings a file, which they hold, or do not.
    private func name(_ file: SampleFile, by node: SimulatedNode) throws {
        guard let space = try spaces().randomElement(using: &random) else { return }
        try? file.put(into: node.store.blobs)
        let message = TextMessage(
            text: "f", files: [random.flip() ? file.attachment : attachment()])
        note("\(node.name) names a file")
        // Whether they may is not the question.
        _ = try? world.perform(.send(space, [message], replyingTo: nil), on: node)
        world.run(for: 50)
    }

    private func whole(_ file: SampleFile) -> BlobHolding {
        let last = ChunkIndex(clamping: UInt64(file.chunks.count - 1))
        return BlobHolding(blob: file.blob, ranges: [.init(first: .zero, last: last)])
    }

    /// Ascending, with a gap between any two, as everybody has to say them.
    private func chunkRanges() -> [BlobHolding.Range] {
        if random.flip() { return [.init(first: .zero, last: random.hostile())] }
        let bounds = Set((0..<2 * random.below(4)).map { _ in random.hostile() as ChunkIndex })
        var ranges: [BlobHolding.Range] = []
        for bound in bounds.sorted() {
            guard let last = ranges.last?.last else {
                ranges.append(.init(first: bound, last: bound))
                continue
            }
            if bound.excess(over: last) >= 2 { ranges.append(.init(first: bound, last: bound)) }
        }
        return ranges
    }

    /// A section of a file, or nearly one.
    private func section(of file: SampleFile) -> BlobSection {
        var section =
            random.happens(onceIn: 6) ? HostileFiles.greatest.section : file.section(.zero)
        switch random.next() % 12 {
        case 0: section.size = random.hostile()
        case 1: section.index = random.hostile()
        case 2: section.leaves.removeLast()
        case 3: section.sections.append(random.identifier())
        case 4: section.blob = blob()
        case 5: section.leaves.append(random.identifier())
        default: break
        }
        return section
    }

    /// A chunk of a file, or nearly one.
    private func chunk(of file: SampleFile) -> BlobChunk {
        var chunk =
            random.happens(onceIn: 6)
            ? HostileFiles.greatest.chunk : file.chunk(random.below(file.chunks.count))
        switch random.next() % 12 {
        case 0: chunk.index = random.hostile()
        case 1: chunk.bytes = Array(chunk.bytes.dropLast())
        case 2: chunk.bytes[0] ^= 1
        case 3: chunk.blob = blob()
        default: break
        }
        return chunk
    }

    // MARK: Messages and shelves

    /// A file as somebody's message brings it.
    func attachment() -> Attachment {
        let file = sample()
        var made = file.attachment
        switch random.next() % 8 {
        case 0: made.size = random.hostile()
        case 1:
            made.content = .blob(HostileFiles.greatest.section.blob, key: file.key)
            made.size = .greatest
        case 2: made.content = .inline(random.bytes(atMost: 64))
        case 3: made.content = .blob(random.identifier(), key: random.bytes(32))
        default: break
        }
        made.type = ["image/png", "video/mp4", "audio/ogg", "text/plain", ""][random.below(5)]
        made.look.width = UInt32(truncatingIfNeeded: random.hostile())
        made.look.duration = UInt32(truncatingIfNeeded: random.hostile())
        made.shelf = random.flip() ? shelfOwner : nil
        return made
    }

    /// Whose shelf messages here name: nobody's but the relay's, which shows it what it likes.
    private var shelfOwner: DeviceID {
        random.happens(onceIn: 4) ? device() : eve.identity.device
    }

    /// An envelope as it lies on a shelf, or one that somebody made who can open the file.
    func shelfEnvelope() -> [UInt8] {
        guard random.happens(onceIn: 3) else {
            return HostileFiles.shelved[random.below(HostileFiles.shelved.count)]
        }
        let file = sample()
        let whole: ShelfPart.Whole =
            random.flip() ? .section(random.hostile()) : .chunk(random.hostile())
        let bytes =
            random.flip() ? Frame.blobSection(section(of: file)).encoded() : file.chunks[0]
        var part = ShelfPart(of: whole, bytes, from: 0)
        if random.flip() { part.total = Int(random.hostile() >> 1) }
        if random.flip() { part.offset = Int(random.hostile() >> 1) }
        return ShelfSeal(fileKey: file.key, blob: file.blob).seal(part)
    }

    // MARK: What happens to Ann's machine

    /// Ann's disk takes no more files, or takes them again; her process dies, or starts again.
    func disturb() {
        let files = ann.store.blobs as? MemoryBlobs
        switch random.next() % 6 {
        case 0, 1:
            files?.failure = random.flip() ? nil : .full
            note("the disk \(files?.failure == nil ? "takes" : "refuses") files")
        case 2:
            files?.byteCountMax = random.flip() ? .max : random.below(1 << 18)
            note("the disk holds \(files?.byteCountMax ?? 0) bytes of files")
        case 3:
            let isLosingPower = random.flip()
            note("Ann's node starts again, power lost: \(isLosingPower)")
            world.restart(ann, losingPower: isLosingPower)
        default:
            let points = PlannedDeath.Point.allCases
            let death = PlannedDeath(
                stepCount: 1 + random.below(20), point: points[random.below(points.count)],
                isLosingPower: random.flip(), downtime: 1 + random.next() % 1_000)
            note("Ann's node is to die: \(death)")
            ann.plannedDeath = death
        }
    }

    /// What comes from a network, and from Ann's shell about her files.
    func tellOfSurroundings() {
        switch random.next() % 6 {
        case 0: feed(.roomOn(link()), "there is room on a link")
        case 1: feed(.fileKept(blob(), isDurable: random.flip()), "a file was kept, or was not")
        case 2, 3:
            let salt = random.bytes(LocalTag.byteCount)
            let key = [phone, ben, eve][random.below(3)].identity.noiseKey
            let tag = random.flip() ? LocalTag.tag(of: key, salt: salt) : random.bytes(8)
            feed(
                .sighted(Sighting(salt: salt, tag: tag, address: "\(random.below(5))")),
                "somebody is seen")
        case 4: feed(.dialFailed(device()), "a device is not reached")
        default:
            let other = [phone, ben, eve][random.below(3)]
            note("Ann and \(other.name) are cut off, or nobody is")
            if random.flip() { world.cut(ann, other) } else { world.heal() }
        }
    }
}
