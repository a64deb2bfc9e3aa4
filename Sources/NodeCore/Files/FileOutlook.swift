import ParleyFiles
public import ParleyWire

/// Who can deliver a wanted file, and what prevents it.
public struct FileOutlook: Equatable, Sendable {
    /// Reachable persons who say that they hold some of it.
    public var holders: Set<PersonID> = []
    /// Reachable persons who were asked and have not said so.
    public var others: Set<PersonID> = []
    /// Whether the disk of this device did not take it when it was last tried.
    public var isRefusedByDisk = false
}

extension NodeCore {
    /// Who can deliver a file now.
    public func outlook(for blob: BlobID) -> FileOutlook {
        var outlook = FileOutlook(isRefusedByDisk: fileDesk.isRefused(blob))
        for (link, holdsSome) in fileDesk.fetcher.answers(about: blob) {
            guard let person = links[link]?.peer.person else { continue }
            if holdsSome { outlook.holders.insert(person) } else { outlook.others.insert(person) }
        }
        outlook.others.subtract(outlook.holders)
        return outlook
    }
}
