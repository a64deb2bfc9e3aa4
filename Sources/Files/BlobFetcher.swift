public import ParleyLedger
public import ParleyWire

/// Fetches blobs from all peers that hold some of them, piece by piece.
///
/// Nothing is requested from two peers at once, nothing is kept that does not match its hash, and
/// from a peer that sent anything else nothing more of that blob is requested. What an ended link
/// still owed is requested from others.
/// Source: `Protocol/13-files.md`, "Fetching".
public struct BlobFetcher<Link: Hashable & Comparable & Sendable>: Sendable {
    /// What fetching leads to.
    public enum Output: Equatable, Sendable {
        /// A frame goes to a peer.
        case send(Link, Frame)
        /// All of a blob is held.
        case completed(BlobID)
        /// A peer sent data that does not belong to a blob, or that was not requested from it.
        case refused(Link, Refusal)
        /// The disk does not take a blob; its fetch has ended.
        case failed(BlobID, StoreError)
    }

    /// Why something that a peer gave is not kept.
    public enum Refusal: Equatable, Sendable {
        /// It is not what its hash says.
        case wrong
        /// It was not asked for.
        case unasked
    }

    /// Blobs that are fetched at a time, even if nobody has them yet.
    public static var fetchCountMax: Int { 256 }
    /// A peer that owes something and delivers nothing for this long, in milliseconds, is asked for
    /// nothing more until it reports again what it holds.
    public static var patience: UInt64 { 30_000 }

    private struct Source: Sendable {
        /// What it reports to hold; nothing of a blob that it was asked about and has not answered.
        var holdings: [BlobID: ChunkSet] = [:]
        /// Blobs of which it said what it holds, since it was asked.
        var answered: Set<BlobID> = []
        /// Blobs of which it gave something wrong.
        var barred: Set<BlobID> = []
        /// How many pieces it may owe.
        var pace = BlobPace()
        var owedCount = 0
        var lastGave: UInt64

        /// It does not owe so many pieces any more.
        mutating func release(_ count: Int) {
            guard count > 0 else { return }
            owedCount -= count
            pace.lost()
        }
    }

    private var fetches: [BlobID: BlobFetch<Link>] = [:]
    /// The blobs in the order in which they were wanted.
    private var order: [BlobID] = []
    private var sources: [Link: Source] = [:]

    /// Fetches nothing yet.
    public init() {}

    // MARK: Blobs

    /// The blobs that are being fetched, in the order in which they were wanted.
    public var blobs: [BlobID] { order }

    /// How a blob that is being fetched is cut; nil of others.
    public func shape(of blob: BlobID) -> BlobShape? { fetches[blob]?.shape }

    /// Whether a peer says that it holds some of a blob.
    public func isHeld(_ blob: BlobID) -> Bool {
        sources.values.contains { $0.holdings[blob].map { $0.count > 0 } ?? false }
    }

    /// Peers that were asked about a blob, ascending: whether each said that it holds some of it; nil for one
    /// that has not answered yet.
    public func answers(about blob: BlobID) -> [(link: Link, holdsSome: Bool?)] {
        sources.keys.sorted().compactMap { link in
            guard let source = sources[link], let holding = source.holdings[blob] else {
                return nil
            }
            return (link, source.answered.contains(blob) ? holding.count > 0 : nil)
        }
    }

    /// Begins to fetch a blob. What is held already is not requested, and nothing takes space on
    /// the disk before something arrived.
    public mutating func fetch(
        _ blob: BlobID, _ shape: BlobShape, into store: some BlobStore
    ) throws(StoreError) -> [Output] {
        guard fetches[blob] == nil else { return [] }
        let chunks = try store.heldBlob(blob)?.chunks ?? ChunkSet(of: shape.chunkCount)
        fetches[blob] = BlobFetch(shape, holding: chunks)
        order.append(blob)
        return chunks.isWhole ? complete(blob) : []
    }

    /// Ends a fetch. What is held of it stays.
    public mutating func stop(_ blob: BlobID) {
        guard let fetch = fetches.removeValue(forKey: blob) else { return }
        order.removeAll { $0 == blob }
        // Each by itself: no order can be seen.
        for link in sources.keys {
            let count = fetch.owedCount(by: link)
            if count > 0 { sources[link]?.release(count) }
            sources[link]?.holdings[blob] = nil
            sources[link]?.answered.remove(blob)
            sources[link]?.barred.remove(blob)
        }
    }

    /// Whether a peer owes something that it was asked for.
    public func isOwed(by link: Link) -> Bool { sources[link].map { $0.owedCount > 0 } ?? false }

    /// Whether a peer owes this very piece.
    public func isOwed(_ piece: BlobPiece, by link: Link) -> Bool {
        fetches[piece.blob]?.isOwed(piece, by: link) ?? false
    }

    // MARK: Peers

    /// Asks a peer that may hold these blobs what it holds of them, if it has not been asked.
    public mutating func ask(_ blobs: [BlobID], on link: Link, at now: UInt64) -> [Output] {
        let source = sources[link] ?? Source(lastGave: now)
        sources[link] = source
        var asked: [BlobID] = []
        for blob in blobs.sorted() {
            guard let fetch = fetches[blob], source.holdings[blob] == nil,
                !source.barred.contains(blob)
            else { continue }
            sources[link]?.holdings[blob] = ChunkSet(of: fetch.shape.chunkCount)
            asked.append(blob)
        }
        return asked.isEmpty ? [] : [.send(link, .blobAsk(asked))]
    }

    /// The link is gone: its pending requests go to others.
    public mutating func close(
        _ link: Link, at now: UInt64, in store: some BlobStore
    ) throws(StoreError) -> [Output] {
        guard sources.removeValue(forKey: link) != nil else { return [] }
        for blob in order { _ = fetches[blob]?.release(link) }
        return try askAll(at: now, in: store)
    }

    /// Drops peers that owe something and deliver nothing: they are to be asked again what they
    /// hold.
    public mutating func endWaiting(
        at now: UInt64, in store: some BlobStore
    ) throws(StoreError) -> [Output] {
        for (link, source) in sources
        where source.owedCount > 0 && now >= source.lastGave + Self.patience {
            sources[link] = Source(barred: source.barred, lastGave: now)
            for blob in order { _ = fetches[blob]?.release(link) }
        }
        return try askAll(at: now, in: store)
    }

    // MARK: Frames

    /// A peer reported what it holds of a blob. One that was not asked is ignored.
    public mutating func learn(
        _ holding: BlobHolding, on link: Link, at now: UInt64, in store: some BlobStore
    ) throws(StoreError) -> [Output] {
        guard let fetch = fetches[holding.blob], sources[link]?.holdings[holding.blob] != nil else {
            return []
        }
        var chunks = ChunkSet(of: fetch.shape.chunkCount)
        chunks.insert(holding.ranges)
        sources[link]?.holdings[holding.blob] = chunks
        sources[link]?.answered.insert(holding.blob)
        // It may have lost what it was asked for: then it may owe more of others.
        let lostCount = fetches[holding.blob]?.release(link, besides: chunks) ?? 0
        sources[link]?.release(lostCount)
        return try ask(link, for: lostCount == 0 ? holding.blob : nil, at: now, in: store)
    }

    /// A peer gave the hashes of a section.
    public mutating func take(
        _ section: BlobSection, on link: Link, at now: UInt64, in store: some BlobStore
    ) throws(StoreError) -> [Output] {
        guard fetches[section.blob]?.settle(section.index, by: link) == true else {
            return [.refused(link, .unasked)]
        }
        gave(link, at: now)
        guard let shape = fetches[section.blob]?.shape, section.size == shape.size,
            section.isGenuine
        else {
            return try bar(link, from: section.blob, at: now, in: store)
        }
        return try keep(section, shape, at: now, in: store)
    }

    /// A peer gave a chunk.
    public mutating func take(
        _ chunk: BlobChunk, on link: Link, at now: UInt64, in store: some BlobStore
    ) throws(StoreError) -> [Output] {
        guard fetches[chunk.blob]?.settle(chunk.index, by: link) == true else {
            return [.refused(link, .unasked)]
        }
        gave(link, at: now)
        guard fetches[chunk.blob]?.isGenuine(chunk) == true else {
            return try bar(link, from: chunk.blob, at: now, in: store)
        }
        do throws(StoreError) { try store.keep(chunk) } catch { return fail(chunk.blob, error) }
        fetches[chunk.blob]?.note(chunk.index)
        let isWhole = fetches[chunk.blob]?.chunks.isWhole == true
        let ended = isWhole ? complete(chunk.blob) : []
        return try ended + ask(link, at: now, in: store)
    }

    // MARK: Shelves

    /// A shelf at a relay brought the hashes of a section, which are genuine.
    public mutating func takeShelved(
        _ section: BlobSection, at now: UInt64, in store: some BlobStore
    ) throws(StoreError) -> [Output] {
        guard let shape = fetches[section.blob]?.shape else { return [] }
        return try keep(section, shape, at: now, in: store)
    }

    private mutating func keep(
        _ section: BlobSection, _ shape: BlobShape, at now: UInt64, in store: some BlobStore
    ) throws(StoreError) -> [Output] {
        do throws(StoreError) {
            try store.beginBlob(section.blob, shape)
            try store.keep(section)
        } catch {
            return fail(section.blob, error)
        }
        fetches[section.blob]?.note(section)
        // Others may hold chunks whose hashes are known now.
        return try askAll(at: now, in: store)
    }

    /// A shelf at a relay brought a chunk, which is what its hash says.
    public mutating func takeShelved(
        _ chunk: BlobChunk, in store: some BlobStore
    ) throws(StoreError) -> [Output] {
        guard let fetch = fetches[chunk.blob], !fetch.chunks.contains(Int(chunk.index.value)) else {
            return []
        }
        do throws(StoreError) { try store.keep(chunk) } catch { return fail(chunk.blob, error) }
        fetches[chunk.blob]?.note(chunk.index)
        let isWhole = fetches[chunk.blob]?.chunks.isWhole == true
        return isWhole ? complete(chunk.blob) : []
    }

    private mutating func gave(_ link: Link, at now: UInt64) {
        sources[link]?.owedCount -= 1
        sources[link]?.lastGave = now
        sources[link]?.pace.gave(at: now)
    }

    // MARK: What is asked

    /// Asks every peer for as much as it may owe.
    private mutating func askAll(
        at now: UInt64, in store: some BlobStore
    ) throws(StoreError) -> [Output] {
        var outputs: [Output] = []
        for link in sources.keys.sorted() { outputs += try ask(link, at: now, in: store) }
        return outputs
    }

    /// Asks one peer for as much as it may owe, once there is enough of that to be worth a frame.
    ///
    /// - Parameter only: the blob that it told of; nil for all.
    private mutating func ask(
        _ link: Link, for only: BlobID? = nil, at now: UInt64, in store: some BlobStore
    ) throws(StoreError) -> [Output] {
        guard let source = sources[link],
            source.owedCount + source.pace.batchCount <= source.pace.window
        else { return [] }
        if source.owedCount == 0 { sources[link]?.lastGave = now }
        var outputs: [Output] = []
        var room = source.pace.window - source.owedCount
        for blob in only.map({ [$0] }) ?? order {
            guard room > 0 else { break }
            guard let holding = source.holdings[blob], holding.count > 0 else { continue }
            while room > 0,
                let next = try fetches[blob]?.next(
                    of: blob, from: holding, on: link, atMost: room, in: store)
            {
                sources[link]?.pace.asked(
                    next.count, besides: source.pace.window - room, at: now)
                room -= next.count
                outputs.append(.send(link, .blobWant(BlobWant(blob: blob, part: next.part))))
            }
        }
        sources[link]?.owedCount = source.pace.window - room
        return outputs
    }

    // MARK: Ends

    private mutating func complete(_ blob: BlobID) -> [Output] {
        stop(blob)
        return [.completed(blob)]
    }

    /// The disk does not accept the data: the fetch ends, the link does not.
    private mutating func fail(_ blob: BlobID, _ error: StoreError) -> [Output] {
        stop(blob)
        return [.failed(blob, error)]
    }

    /// A peer gave something wrong: nothing more of that blob is wanted from it.
    private mutating func bar(
        _ link: Link, from blob: BlobID, at now: UInt64, in store: some BlobStore
    ) throws(StoreError) -> [Output] {
        sources[link]?.barred.insert(blob)
        sources[link]?.holdings[blob] = nil
        sources[link]?.answered.remove(blob)
        sources[link]?.release(fetches[blob]?.release(link) ?? 0)
        return try [.refused(link, .wrong)] + askAll(at: now, in: store)
    }
}
