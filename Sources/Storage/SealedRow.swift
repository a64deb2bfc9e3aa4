import ParleySealing

/// Every column that is sealed. The numbers are part of what is authenticated: never reuse one.
enum SealedColumn: UInt8 {
    case operationTail = 1
    case spaceDefinition = 2
    case logDefinition = 3
    case forkEvidence = 4
    case actorContent = 5
    case valueContent = 6
    case vaultContent = 7
}

/// Where a sealed value stands. Moved anywhere else it does not open.
struct SealedPlace {
    var column: SealedColumn
    var row: Int64
    var generation: UInt32 = 0

    /// `column ‖ row ‖ generation`: what is authenticated with the value.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(13)
        bytes.append(column.rawValue)
        withUnsafeBytes(of: row.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: generation.bigEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }
}

extension Secret {
    /// The nonce, the ciphertext and its tag.
    func seal(_ value: [UInt8], at place: SealedPlace) -> [UInt8] {
        let extra = place.bytes
        let nonce = derive(key: self, .rowNonce, context: extra + value, byteCount: 24)
        return nonce + XChaCha.seal(value, key: self, nonce: nonce, authenticating: extra)
    }

    /// The value that was sealed at this place, or nil.
    func open(_ sealed: UnsafeRawBufferPointer, at place: SealedPlace) -> [UInt8]? {
        guard sealed.count >= 40 else { return nil }
        return XChaCha.open(
            Array(sealed[24...]), key: self, nonce: Array(sealed[..<24]),
            authenticating: place.bytes)
    }
}
