import ParleyRelaying
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
        Decoder(
            name: "text of a relay", sources: ["Sources/Relaying/RelayText.swift": 1],
            // Spaces do not count.
            hasOneSpelling: false,
            inputs: {
                let addresses = ["relay.example.org:7448", "[2001:db8::1]:7448"]
                return [[], addresses].map {
                    Array(RelayText(key: NoiseKey { $0[0] = 1 }, addresses: $0).text.utf8)
                }
            },
            decode: { bytes in
                let read = try? RelayText(text: String(decoding: bytes, as: UTF8.self))
                return read.map { Array($0.text.utf8) }
            }),
    ]
}
