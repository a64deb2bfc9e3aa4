import ParleySealing

/// The sealed columns; each table has one. The numbers are part of what is authenticated: never
/// reuse one.
enum SealedColumn: UInt8 {
    case operationTail = 1
    case spaceDefinition = 2
    case logDefinition = 3
    case forkEvidence = 4
    case actorContent = 5
    case valueContent = 6
    case vaultContent = 7
    case viewContent = 8
    /// The row is the operation, then the model in the lowest 8 bits.
    case embeddingContent = 9
    case eventContent = 10
}

/// Where a sealed value stands. Moved anywhere else it does not open.
struct SealedPlace {
    var column: SealedColumn
    var row: Int64
    /// Of the vault key; data under the key of a bucket has none.
    var generation: UInt32 = 0
}

extension Secret {
    /// The nonce, the ciphertext and its tag.
    func seal(_ value: [UInt8], at place: SealedPlace) -> [UInt8] {
        sealRow(
            key: self, table: place.column.rawValue, row: place.row, column: 0,
            generation: place.generation, content: value)
    }

    /// The value that was sealed at this place, or nil.
    func open(_ sealed: UnsafeRawBufferPointer, at place: SealedPlace) -> [UInt8]? {
        openRow(
            key: self, table: place.column.rawValue, row: place.row, column: 0,
            generation: place.generation, sealed: sealed)
    }
}
