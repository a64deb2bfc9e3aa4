import ParleyWire

@testable import ParleyFiles

extension Decoder {
    static let files: [Decoder] = [
        Decoder(
            name: "part of what lies on a shelf", sources: ["Sources/Files/ShelfPart.swift": 1],
            // Zeros may follow.
            hasOneSpelling: false,
            inputs: {
                let wholes: [ShelfPart.Whole] = [.section(0), .section(16), .chunk(65_551)]
                return wholes.flatMap { whole in
                    [[], [1, 2, 3], [UInt8](repeating: 7, count: 300)].map {
                        ShelfPart(of: whole, $0, from: 0).encoded + [0, 0, 0]
                    }
                }
            },
            decode: { (try? ShelfPart(decoding: $0))?.encoded })
    ]
}
