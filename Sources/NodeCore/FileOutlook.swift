import ParleyFiles
public import ParleyWire

/// From whom a file that is wanted can come, and what keeps it.
public struct FileOutlook: Equatable, Sendable {
    /// Persons who are reached and say that they hold some of it.
    public var holders: Set<PersonID> = []
    /// Persons who are reached, were asked, and have not said so.
    public var others: Set<PersonID> = []
    /// Whether the disk of this device did not take it when it was last tried.
    public var isRefusedByDisk = false
}

extension NodeCore {
    /// From whom a file can come now.
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
