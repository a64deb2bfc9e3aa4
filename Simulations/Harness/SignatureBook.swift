import ParleySealing
import ParleyWire

/// The signatures that a world has seen hold: each is computed once, not once for every node.
///
/// Bounded: of two halves the older is forgotten when the newer is full. A forgotten one is
/// computed again, and the run stays the same.
//
// Unchecked: a world's steps are made one after the other, and its book is lent to nobody else.
final class SignatureBook: KnownSignatures, @unchecked Sendable {
    /// Signatures in each half: some 40 MB at most.
    static let halfCountMax = 1 << 16

    private var newer: Set<SignatureClaim> = []
    private var older: Set<SignatureClaim> = []

    func contains(_ claim: SignatureClaim) -> Bool {
        if newer.contains(claim) { return true }
        guard older.contains(claim) else { return false }
        insert(claim)
        return true
    }

    func insert(_ claim: SignatureClaim) {
        newer.insert(claim)
        guard newer.count >= Self.halfCountMax else { return }
        older = newer
        newer = []
    }
}

extension World {
    /// Runs with the signatures that are known to hold at hand, and notes the seeds of epochs.
    func remembering<R>(_ body: () throws -> R) rethrows -> R {
        try SeedBook.$current.withValue(seedBook) {
            try SignatureMemory.$current.withValue(signatures, operation: body)
        }
    }
}
