import ParleyFiles
import ParleySealing
import ParleyWire

/// What ciphers and hashes cost on one core, in seconds a byte: nothing that does them is faster.
struct FileCeiling {
    /// A file's cipher, the hash of its chunks and that of its content.
    let sealing: Double
    /// The dearer side of a link: the link's cipher and the hash of a chunk.
    let sending: Double
    /// A file's cipher and the hash of its chunks.
    let opening: Double

    private static let chunkCount = 1024

    static func measured() throws -> FileCeiling {
        var random = SystemRandom()
        var (here, there) = try linked(using: &random)
        let plain = random.bytes(Limits.plainChunkByteCount)
        guard let size = BlobSize(exactly: UInt64(plain.count)), let shape = BlobShape(size),
            let seal = FileSeal(key: random.bytes(FileSeal.keyByteCount), shape: shape)
        else { preconditionFailure("a chunk has a shape, and its key is one") }
        let chunk = seal.seal(plain, as: 0)
        let hash = cost { _ in _ = BlobHash.leaf(chunk) }
        let cipher = cost { _ in _ = seal.seal(plain, as: 0) }
        let opening = cost { _ in _ = seal.open(chunk, as: 0) }
        var records: [[UInt8]] = []
        let sending = cost { _ in records.append(here.seal([chunk])) }
        let receiving = try cost { place in _ = try there.receive(records[place]) }
        return FileCeiling(
            sealing: cipher + 2 * hash, sending: hash + max(sending, receiving),
            opening: opening + hash)
    }

    private static func cost(_ body: (Int) throws -> Void) rethrows -> Double {
        let start = seconds()
        for place in 0..<chunkCount { try body(place) }
        return (seconds() - start) / Double(chunkCount * Limits.plainChunkByteCount)
    }

    /// Two ends of a link.
    private static func linked(using random: inout SystemRandom) throws -> (Link, Link) {
        let (caller, callee) = (
            try credentials(using: &random), try credentials(using: &random)
        )
        var here = Link(
            initiatorTo: callee.noiseKey.publicKey, expecting: nil, credentials: caller,
            network: .main, using: &random)
        var there = Link(responder: callee, network: .main, using: &random)
        var (bytes, isForThere) = (here.start(), true)
        while !bytes.isEmpty {
            let events = isForThere ? try there.receive(bytes) : try here.receive(bytes)
            bytes = events.reduce([]) { bytes, event in
                if case .send(let more) = event { bytes + more } else { bytes }
            }
            isForThere.toggle()
        }
        return (here, there)
    }

    private static func credentials(
        using random: inout SystemRandom
    ) throws -> LinkCredentials {
        let key = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random)
        let log = try IdentityLog.founded(
            root: RecoveryCode.generate(using: &random).rootKey, device: key,
            noiseKey: noise.publicKey, time: 0, using: &random)
        return LinkCredentials(
            person: log.person, device: key.device, noiseKey: noise, identity: log.encoded)
    }
}
