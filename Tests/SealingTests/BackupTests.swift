import ParleyWire
import Testing

@testable import ParleySealing

@Suite("The sealing of backups")
struct BackupTests {
    struct Case: Decodable {
        let why: String
        let text: String
        let publicKey: Hex
        let root: Hex
        let signature: Hex
        let key: Hex
        let unit: Hex
        let count: Int
        let header: Hex
        let sealedByteCount: Int
        let digest: Hex
    }

    private let key = BackupKey(DeviceNoiseKey(scalar: Secret([UInt8](repeating: 7, count: 32))))

    /// What a backup of these bytes looks like, chunk by chunk.
    private func sealed(
        _ bytes: [UInt8], to key: BackupKey
    ) throws -> (header: [UInt8], chunks: [[UInt8]]) {
        var random = SeededRandom(3)
        var sealer = try #require(BackupSealer(to: key.publicKey, using: &random))
        let size = BackupFormat.chunkByteCount
        let starts = Array(stride(from: 0, to: max(1, bytes.count), by: size))
        return (
            sealer.header,
            starts.map { start in
                sealer.seal(
                    Array(bytes[start..<min(bytes.count, start + size)]),
                    isLast: start == starts.last)
            }
        )
    }

    private func opened(_ header: [UInt8], _ chunks: [[UInt8]]) throws -> [UInt8] {
        var opener = try BackupOpener(header, with: key)
        return try chunks.indices.flatMap { index in
            try opener.open(chunks[index], isLast: index == chunks.count - 1)
        }
    }

    @Test("keys and chunks are those of another implementation")
    func vectors() throws {
        for vector in try Vectors.cases("identity/backup.json", as: Case.self) {
            let code = try RecoveryCode(typed: vector.text)
            #expect(code.backupKey.publicKey.bytes == vector.publicKey.bytes, "\(vector.why)")
            let certificate = code.backupCertificate
            #expect(certificate.bytes == vector.publicKey.bytes + vector.signature.bytes)
            let root = try #require(DeviceID(vector.root.bytes))
            #expect(certificate.key(of: root) == code.backupKey.publicKey, "\(vector.why)")
            let plain = [UInt8]((0..<vector.count).flatMap { _ in vector.unit.bytes })
            let size = BackupFormat.chunkByteCount
            let starts = Array(stride(from: 0, to: max(1, plain.count), by: size))
            var opener = try BackupOpener(vector.header.bytes, with: code.backupKey)
            var all: [UInt8] = []
            for (index, start) in starts.enumerated() {
                let isLast = start == starts.last
                let chunk = Array(plain[start..<min(plain.count, start + size)])
                let sealed = ChaCha.seal(
                    chunk, key: vector.key.bytes,
                    nonce: BackupFormat.nonce(UInt64(index), isLast: isLast))
                all += sealed
                #expect(try opener.open(sealed, isLast: isLast) == chunk, "\(vector.why)")
            }
            #expect(all.count == vector.sealedByteCount, "\(vector.why)")
            let name: Digest = digest(.file, all)
            #expect(name.bytes == vector.digest.bytes, "\(vector.why)")
        }
    }

    @Test("the key that devices keep is nobody's but the code's, whatever is changed")
    func certificates() throws {
        var random = SeededRandom(8)
        let (code, thief) = (
            RecoveryCode.generate(using: &random), RecoveryCode.generate(using: &random)
        )
        let root = code.rootKey.device
        let bytes = code.backupCertificate.bytes
        #expect(bytes.count == BackupCertificate.byteCount)
        #expect(BackupCertificate(bytes)?.key(of: root) == code.backupKey.publicKey)
        #expect(BackupCertificate(bytes)?.key(of: thief.rootKey.device) == nil)
        #expect(thief.backupCertificate.key(of: root) == nil)
        // The thief's key with the signature of the right one.
        let mixed = thief.backupKey.publicKey.bytes + bytes[32...]
        #expect(BackupCertificate(mixed)?.key(of: root) == nil)
        // What the root signs for other purposes names no key for backups.
        let other = root.bytes + code.rootKey.sign(.proofOfPossession, root.bytes).bytes
        #expect(BackupCertificate(other)?.key(of: root) == nil)
        for place in bytes.indices {
            var flipped = bytes
            flipped[place] ^= 1
            #expect(BackupCertificate(flipped)?.key(of: root) == nil, "byte \(place)")
        }
        for count in [0, 32, 95] { #expect(BackupCertificate(Array(bytes.prefix(count))) == nil) }
        #expect(BackupCertificate(bytes + [0]) == nil)
    }

    @Test("what was sealed opens, whatever its length")
    func roundTrip() throws {
        for count in [0, 1, 65_535, 65_536, 65_537, 200_000] {
            let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let (header, chunks) = try sealed(plain, to: key)
            #expect(header.count == BackupFormat.headerByteCount)
            #expect(try opened(header, chunks) == plain, "\(count)")
        }
    }

    @Test("every byte of the header counts")
    func header() throws {
        let (header, chunks) = try sealed([1, 2, 3], to: key)
        for index in header.indices {
            var damaged = header
            damaged[index] ^= 1
            #expect(throws: BackupRejection.self, "byte \(index)") {
                try opened(damaged, chunks)
            }
        }
        for count in 0..<header.count {
            #expect(throws: BackupRejection.truncated) {
                try opened(Array(header[..<count]), chunks)
            }
        }
        #expect(throws: BackupRejection.notABackup) { try opened(Array("LPKS".utf8), chunks) }
        var newer = header
        newer[4] = 2
        #expect(throws: BackupRejection.unknownVersion(2)) { try opened(newer, chunks) }
    }

    @Test("chunks cannot be changed, moved, left out or cut off")
    func chunks() throws {
        let (header, chunks) = try sealed([UInt8](repeating: 9, count: 150_000), to: key)
        #expect(chunks.count == 3)
        #expect(throws: BackupRejection.truncated) { try opened(header, Array(chunks[..<2])) }
        #expect(throws: BackupRejection.damaged(chunk: 0)) {
            try opened(header, [chunks[1], chunks[0], chunks[2]])
        }
        #expect(throws: BackupRejection.damaged(chunk: 1)) {
            try opened(header, [chunks[0], chunks[2]])
        }
        var bad = chunks
        bad[2][100] ^= 1
        #expect(throws: BackupRejection.damaged(chunk: 2)) { try opened(header, bad) }
        bad = chunks
        bad[2].removeLast()
        #expect(throws: BackupRejection.damaged(chunk: 2)) { try opened(header, bad) }
    }

    @Test("another recovery code opens nothing, and is told apart from damage")
    func otherCode() throws {
        let other = BackupKey(
            DeviceNoiseKey(scalar: Secret([UInt8](repeating: 8, count: 32))))
        let (header, chunks) = try sealed([1], to: other)
        #expect(throws: BackupRejection.anotherCode) { try opened(header, chunks) }
    }

    @Test("a key of small order is refused")
    func smallOrder() throws {
        var random = SeededRandom(3)
        let zero = NoiseKey { _ in }
        #expect(BackupSealer(to: zero, using: &random) == nil)
    }

    @Test("nothing of the root follows from what devices keep")
    func separation() throws {
        var random = SeededRandom(5)
        let code = RecoveryCode.generate(using: &random)
        #expect(code.backupKey.publicKey.bytes != code.rootKey.device.bytes)
        #expect(code.backupKey.publicKey == code.backupKey.publicKey)
    }
}
