import ParleyWire

@testable import FilesTests
@testable import ParleyFiles

extension Decoder {
    static let files: [Decoder] =
        [
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
        ] + MediaForm.Container.allCases.map(Decoder.form)

    /// Reads the form of a picture, a video or sound, and cleans it.
    private static func form(of container: MediaForm.Container) -> Decoder {
        Decoder(
            name: "form of \(container.rawValue)", sources: [:], hasOneSpelling: false,
            inputs: {
                MediaSamples.all.filter { $0.container == container }.flatMap { sample in
                    [sample.bytes, cleaned(sample.bytes, as: container) ?? []]
                }
            },
            decode: { cleaned($0, as: container) })
    }
}
