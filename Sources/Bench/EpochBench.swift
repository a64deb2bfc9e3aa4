import Parley
import ParleySealing
import ParleyWire

/// The cost of an epoch with ever more devices: its bytes, making it, and opening it as one of
/// them.
///
/// No node and no disk: this is what a change of members adds to what any operation costs. The
/// budgets were estimated before any of it was built.
enum EpochBench {
    /// Devices, and the bytes and seconds that were reckoned for them.
    private static let sizes: [(devices: Int, bytes: Double, make: Double)] = [
        (2, 500, 0.16e-3), (10, 1_000, 0.4e-3), (100, 6_000, 2.9e-3), (1_000, 56_500, 28e-3),
    ]
    /// Reckoned for opening, however many devices there are.
    private static let openBudget = 1e-3

    static func figures() throws -> [Figure] {
        try sizes.flatMap { size in
            let cast = EpochCast(deviceCount: size.devices)
            let samples = try (0..<(size.devices > 100 ? 20 : 100)).map { _ in try cast.sample() }
            return [
                Figure(
                    "epoch-bytes-\(size.devices)", samples: samples.map(\.bytes), unit: "bytes",
                    budget: size.bytes,
                    note: "the payload of the operation, \(size.devices) devices"),
                Figure(
                    "epoch-make-\(size.devices)", samples: samples.map(\.make), unit: "s",
                    budget: size.make, note: "a fresh seed sealed to each other device, and signed"),
                Figure(
                    "epoch-open-\(size.devices)", samples: samples.map(\.open), unit: "s",
                    budget: openBudget, note: "the payload read, and the seed opened by one of them"
                ),
            ]
        }
    }
}

/// Devices that share a space, with a leaf each.
private struct EpochCast {
    let author: DeviceSigningKey
    let hedge: Secret
    let reader: (device: DeviceID, leaf: PrivateLeaf)
    let recipients: [EpochRecipient]

    init(deviceCount: Int) {
        var random = SystemRandom()
        author = .generate(using: &random)
        hedge = .random(using: &random)
        let others = (1..<deviceCount).map { _ in
            (DeviceSigningKey.generate(using: &random).device, PrivateLeaf.generate(using: &random))
        }
        reader = others[others.count / 2]
        recipients = others.map { EpochRecipient(device: $0.0, leaf: $0.1.publicKey) }
            .sorted { $0.device < $1.device }
    }

    /// One epoch: its bytes, and the seconds that making and opening it took.
    func sample() throws -> (bytes: Double, make: Double, open: Double) {
        var random = SystemRandom()
        let place = EpochPlace(
            space: .random(using: &random), author: author.device, sequence: 7,
            previous: .random(using: &random), dependencies: [])
        let roster: Digest = .random(using: &random)
        let start = seconds()
        let minted = try EpochBody.mint(
            at: place, roster: roster, recipients: recipients, hedge: hedge, using: &random)
        let bytes = minted.body.bytes
        _ = author.sign(.head, bytes.suffix(32))
        let made = seconds()
        _ = try EpochBody(bytes: bytes).open(at: place, as: reader.device, with: reader.leaf)
        return (Double(bytes.count), made - start, seconds() - made)
    }
}

extension Identifier {
    fileprivate static func random(using random: inout SystemRandom) -> Self {
        Self(filling: { buffer in
            for word in 0..<4 {
                buffer.storeBytes(of: random.next(), toByteOffset: word * 8, as: UInt64.self)
            }
        })
    }
}
