public import ParleySealing
public import ParleyWire

// Unchecked: a world's steps are made one after the other, and its book is lent to nobody else.

/// The seeds of all epochs that nodes with stores in memory ever kept: with them whoever looks on
/// opens every envelope, also after the nodes have erased what could.
///
/// A node never sees the book.
public final class SeedBook: @unchecked Sendable {
    /// The seeds, by the operation of their epoch.
    public private(set) var seeds: [OperationID: EpochSeed] = [:]

    @TaskLocal static var current: SeedBook?

    init() {}

    func note(_ seed: EpochSeed, of epoch: OperationID) { seeds[epoch] = seed }
}
