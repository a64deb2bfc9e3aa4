import ParleySignalling
import ParleyWire

@testable import SignallingTests

extension Decoder {
    static let signalling: [Decoder] = [
        Decoder(
            name: "signal", sources: ["Sources/Signalling/Signal+Codec.swift": 1],
            inputs: { Signals.bodies.map(Signals.encoded) },
            decode: { bytes in (try? Signal.decode(bytes))??.encoded() })
    ]
}
