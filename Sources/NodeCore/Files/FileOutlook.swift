import ParleyFiles
public import ParleyWire

/// Who can deliver a wanted file, and what prevents it.
public struct FileOutlook: Equatable, Sendable {
    /// Reachable persons who say that they hold some of it.
    public var holders: Set<PersonID> = []
    /// Reachable persons who say that they hold nothing of it.
    public var others: Set<PersonID> = []
    /// Reachable persons who were asked and have not answered yet.
    public var asked: Set<PersonID> = []
    /// Whether the disk of this device did not take it when it was last tried.
    public var isRefusedByDisk = false
}

extension NodeCore {
    /// Who can deliver a file now.
    public func outlook(for blob: BlobID) -> FileOutlook {
        var outlook = FileOutlook(isRefusedByDisk: fileDesk.isRefused(blob))
        for (link, holdsSome) in fileDesk.fetcher.answers(about: blob) {
            guard let person = peers.links[link]?.peer.person else { continue }
            switch holdsSome {
            case true?: outlook.holders.insert(person)
            case false?: outlook.others.insert(person)
            case nil: outlook.asked.insert(person)
            }
        }
        // Another device of theirs may not have answered, or hold nothing.
        outlook.asked.subtract(outlook.holders)
        outlook.others.subtract(outlook.holders.union(outlook.asked))
        return outlook
    }
}
