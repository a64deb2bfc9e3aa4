import ParleyWire

@testable import WireTests

extension Decoder {
    static let relay: [Decoder] = [
        Decoder(
            name: "frame of a relay's client", sources: ["Sources/Wire/RelayFrame+Codec.swift": 3],
            inputs: { RelayFrames.ofClients().map { $0.encoded() } },
            decode: { bytes in (try? RelayClientFrame.decode(bytes))??.encoded() }),
        Decoder(
            name: "frame of a relay", sources: [:],
            inputs: { RelayFrames.ofRelays().map { $0.encoded() } },
            decode: { bytes in (try? RelayServerFrame.decode(bytes))??.encoded() }),
        Decoder(
            name: "welcome of a relay", sources: [:],
            inputs: {
                [true, false].map {
                    RelayWelcome(day: 20_000, generation: 1, newest: .max, needsTicket: $0).encoded
                }
            },
            decode: { bytes in (try? RelayWelcome(bytes: bytes))?.encoded }),
    ]
}
