import ParleySealing

/// Where new keys come from: the generator that the shell chose, shared by all who make keys.
final class RandomSource: RandomNumberGenerator {
    private var generator: any RandomNumberGenerator

    init(_ generator: any RandomNumberGenerator) {
        self.generator = generator
    }

    func next() -> UInt64 { generator.next() }

    func secret() -> Secret {
        var source = self
        return Secret.random(using: &source)
    }
}
