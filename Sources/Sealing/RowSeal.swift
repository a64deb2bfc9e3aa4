import ParleyWire

/// How much longer a sealed row is than its content: the nonce and the tag.
public let sealedRowOverhead = XChaCha.nonceByteCount + XChaCha.tagByteCount

/// A value sealed for one place in the database: `nonce[24] ‖ ciphertext ‖ tag[16]`.
///
/// The place (table, row, column, key generation) is authenticated: a value that somebody moved
/// to another place does not open there. The nonce is derived from key, place and content, never
/// counted: a copied or restored database can only ever seal the same content again under the
/// same nonce. So two equal values at one place give equal bytes; nothing else can be compared.
/// The key has 32 bytes. Source: `Protocol/05-identity.md`, "Rows at rest".
public func sealRow(
    key: Secret, table: UInt8, row: Int64, column: UInt8, generation: UInt32,
    content: UnsafeRawBufferPointer
) -> [UInt8] {
    let place = RowPlace(table: table, row: row, column: column, generation: generation)
    let count = content.count + sealedRowOverhead
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        let output = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
        let nonce = UnsafeMutableRawBufferPointer(rebasing: output[..<XChaCha.nonceByteCount])
        let ciphertext = UnsafeMutableRawBufferPointer(
            rebasing: output[XChaCha.nonceByteCount...])
        place.withBytes { place in
            deriveNonce(key: key, place: place, content: content, into: nonce)
            XChaCha.seal(
                content, key: key, nonce: UnsafeRawBufferPointer(nonce), authenticating: place,
                into: ciphertext)
        }
        initialized = count
    }
}

/// The same of content in an array.
public func sealRow(
    key: Secret, table: UInt8, row: Int64, column: UInt8, generation: UInt32, content: [UInt8]
) -> [UInt8] {
    content.withUnsafeBytes {
        sealRow(
            key: key, table: table, row: row, column: column, generation: generation, content: $0)
    }
}

/// The content of a sealed row, or nil where key, place or bytes are not those of the sealing.
public func openRow(
    key: Secret, table: UInt8, row: Int64, column: UInt8, generation: UInt32,
    sealed: UnsafeRawBufferPointer
) -> [UInt8]? {
    guard sealed.count >= sealedRowOverhead else { return nil }
    let place = RowPlace(table: table, row: row, column: column, generation: generation)
    let nonce = UnsafeRawBufferPointer(rebasing: sealed[..<XChaCha.nonceByteCount])
    let ciphertext = UnsafeRawBufferPointer(rebasing: sealed[XChaCha.nonceByteCount...])
    let count = sealed.count - sealedRowOverhead
    var isGenuine = false
    let content = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        let output = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
        isGenuine = place.withBytes { place in
            XChaCha.open(ciphertext, key: key, nonce: nonce, authenticating: place, into: output)
        }
        initialized = isGenuine ? count : 0
    }
    return isGenuine ? content : nil
}

/// The same of a sealed row in an array.
public func openRow(
    key: Secret, table: UInt8, row: Int64, column: UInt8, generation: UInt32, sealed: [UInt8]
) -> [UInt8]? {
    sealed.withUnsafeBytes {
        openRow(
            key: key, table: table, row: row, column: column, generation: generation, sealed: $0)
    }
}

/// Where a value lies, in the order it is authenticated in.
private struct RowPlace {
    static let byteCount = 14
    let table: UInt8
    let row: Int64
    let column: UInt8
    let generation: UInt32

    /// `u8 table ‖ i64 row ‖ u8 column ‖ u32 generation`, big-endian, on the stack.
    @inline(__always)
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { bytes in
            bytes.storeBytes(of: table, as: UInt8.self)
            bytes.storeBytes(of: row.bigEndian, toByteOffset: 1, as: Int64.self)
            bytes.storeBytes(of: column, toByteOffset: 9, as: UInt8.self)
            bytes.storeBytes(of: generation.bigEndian, toByteOffset: 10, as: UInt32.self)
            return body(UnsafeRawBufferPointer(bytes))
        }
    }
}

/// Content up to here stands in the derivation as it is: a context's length must fit two bytes.
private let directContentByteCountMax = 60_000

/// `KDF(key, "lp1/ks/nonce", place ‖ content, 24)`. Longer content is hashed first and has a
/// label of its own, so that no short content can be made to share its nonce:
/// `KDF(key, "lp1/ks/content", place ‖ H("lp1/ks/content", content), 24)`.
private func deriveNonce(
    key: Secret, place: UnsafeRawBufferPointer, content: UnsafeRawBufferPointer,
    into nonce: UnsafeMutableRawBufferPointer
) {
    guard content.count > directContentByteCountMax else {
        return derive(key: key, .rowNonce, contextParts: (place, content), into: nonce)
    }
    let name: Digest = digest(.rowContent, content)
    name.withUnsafeBytes { name in
        derive(key: key, .rowContent, contextParts: (place, name), into: nonce)
    }
}
