import ParleySignalling
import ParleyWire

@testable import SignallingTests

extension Decoder {
    static let signalling: [Decoder] = [
        Decoder(
            name: "signal", sources: ["Sources/Signalling/Signal+Codec.swift": 1],
            inputs: { Signals.bodies.map(Signals.encoded) },
            decode: { bytes in (try? Signal.decode(bytes))??.encoded() }),
        Decoder(
            name: "what a server knows", sources: ["Sources/Signalling/TurnServer+Bytes.swift": 1],
            inputs: {
                let accesses: [TurnServer.Access] = [
                    .open, .fixed(name: "ada", password: "schlüssel"), .secret("north"),
                ]
                return accesses.compactMap {
                    TurnServer(address: "turn:t.example:3478", access: $0)?.bytes
                }
            },
            decode: { TurnServer(address: "turn:t.example:3478", bytes: $0)?.bytes }),
    ]
}
