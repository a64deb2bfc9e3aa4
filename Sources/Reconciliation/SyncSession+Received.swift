import ParleyLedger
import ParleySealing
import ParleyWire

/// What the frames about spaces lead to.
extension SyncSession {
    /// Takes the number of logs that were walked for the peer since it was last taken: that is what looking at
    /// a frame about spaces costs, whatever its size.
    public mutating func takeWalkedCount() -> UInt64 {
        var count: UInt64 = 0
        for (number, exchange) in shared where exchange.walkedCount > 0 {
            // A sum is the same in any order.
            count += shared[number]?.takeWalkedCount() ?? 0
        }
        return count
    }

    mutating func summary(_ store: some LogStore) throws(StoreError) -> Spaces {
        var entries: [Spaces.Entry] = []
        for number in shared.keys.sorted() {
            guard let id = shared[number]?.space.id,
                let digests = try shared[number]?.digests(store: store)
            else { continue }
            entries.append(Spaces.Entry(hash: Self.hash(id, salt: salt), digests: digests))
        }
        entries.sort { $0.hash < $1.hash }
        return Spaces(salt: salt, entries: Array(entries.prefix(Limits.spaceCountMax)))
    }

    private static func hash(_ space: SpaceID, salt: UInt64) -> UInt64 {
        var hash = LabelledHash(.spaces)
        hash.update(salt)
        hash.update(space)
        let digest: Digest = hash.finalize()
        return digest.prefix
    }

    mutating func root(_ store: some LogStore) throws(StoreError) -> Digest {
        var hash = LabelledHash(.spaces)
        // Spaces that one of the two was removed from stay out: it may have forgotten them.
        let exchanges = shared.values.filter(\.scope.isEverything)
        for space in exchanges.map(\.space).sorted(by: { $0.id < $1.id }) {
            guard let digests = try shared[space.number]?.digests(store: store) else { continue }
            hash.update(space.id)
            for check in [digests.control, digests.content, digests.receipts] {
                hash.update(check.high)
                hash.update(check.low)
            }
        }
        return hash.finalize()
    }

    mutating func received(
        _ spaces: Spaces, store: some LogStore
    ) throws(StoreError) -> [SessionOutput] {
        var outputs: [SessionOutput] = []
        let listed = Dictionary(
            spaces.entries.map { ($0.hash, $0.digests) }, uniquingKeysWith: { first, _ in first })
        for number in shared.keys.sorted() {
            guard let exchange = shared[number],
                let own = try shared[number]?.digests(store: store)
            else { continue }
            guard let theirs = listed[Self.hash(exchange.space.id, salt: spaces.salt)] else {
                guard exchange.scope.isMutual else { continue }
                // A peer that does not accept a space is offered it ever more rarely: it is sent
                // whole.
                let count = unlisted[number, default: 0] + 1
                unlisted[number] = count
                if count & (count - 1) == 0 { outputs.append(.introduceSpace(number)) }
                continue
            }
            unlisted[number] = nil
            shared[number]?.noteTaken()
            if theirs == own {
                outputs += try foundEqual(number, store: store)
                if try store.agreedLogs(in: number).contains(where: { !$0.isWhole }) {
                    outputs.append(.missing(number, isNews: false))
                }
            } else {
                let count = shared[number]?.noteDifference(showing: theirs)
                if count == 2, theirs.control != own.control {
                    try shared[number]?.sendControl(store: store)
                }
                outputs.append(.missing(number, isNews: count == 1))
            }
        }
        return outputs
    }

    /// The peer's digests of a space are our own.
    mutating func foundEqual(
        _ space: SpaceNumber, store: some LogStore
    ) throws(StoreError) -> [SessionOutput] {
        let isNew = shared[space]?.hasOwnNews == true
        try shared[space]?.noteEqual(store: store)
        return isNew && shared[space] != nil ? [.equal(space)] : []
    }

    mutating func received(
        _ frontier: Frontier, store: some LogStore
    ) throws(StoreError) -> [SessionOutput] {
        guard let space = try store.space(frontier.space),
            shared[space.number] != nil
        else { return [] }
        let lack = try shared[space.number]?.received(frontier, store: store)
        let questions = nextForkQuestion(space.number)
        if let lack { return questions + [.missing(space.number, isNews: lack == .news)] }
        // Digests that were equal here and not there: the peer must know as well what to send.
        return questions + (frontier.isComplete ? try tell(space.number, store: store) : [])
    }

    mutating func received(
        _ want: Want, store: some LogStore
    ) throws(StoreError) -> [SessionOutput] {
        guard let space = try store.space(want.space) else { return [] }
        shared[space.number]?.received(want)
        return []
    }

    mutating func received(
        _ operations: Operations, store: some LogStore
    ) throws(StoreError) -> [SessionOutput] {
        guard let space = try store.space(operations.space) else { return [.ingest(operations)] }
        shared[space.number]?.receivedOperations()
        let isEmpty = operations.runs.isEmpty
        var operations = operations
        var outputs: [SessionOutput] = []
        let proof = try shared[space.number]?.takeAnswers(in: &operations, store: store)
        if let proof { outputs.append(.forked(proof)) }
        outputs.append(.ingest(operations))
        guard operations.endsAnswer else { return outputs }
        if shared[space.number]?.answered(isEmpty: isEmpty) == true {
            outputs.append(.answered(space.number))
        }
        return outputs + nextForkQuestion(space.number)
    }
}
