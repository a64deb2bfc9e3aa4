import ParleySealing

/// Where new keys come from: the generator that the shell chose.
final class RandomSource {
    private var generator: any RandomNumberGenerator

    init(_ generator: any RandomNumberGenerator) {
        self.generator = generator
    }

    func bytes(_ count: Int) -> [UInt8] { generator.bytes(count) }

    func secret() -> Secret {
        Secret(byteCount: 32) { buffer in
            var bytes = generator.bytes(32)
            buffer.copyBytes(from: bytes)
            bytes.wipe()
        }
    }
}
