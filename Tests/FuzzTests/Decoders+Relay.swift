import ParleyRelaying
import ParleySealing
import ParleyWire

@testable import ParleyNodeCore
@testable import WireTests

extension Decoder {
    static let relay: [Decoder] = [
        Decoder(
            name: "frame of a relay's client", sources: ["Sources/Wire/RelayFrame+Codec.swift": 4],
            inputs: { RelayFrames.ofClients().map { $0.encoded() } },
            decode: { bytes in
                _ = RelayClientFrame.counter(ofRequest: bytes)
                return (try? RelayClientFrame.decode(bytes))??.encoded()
            }),
        Decoder(
            name: "frame of a relay", sources: [:],
            inputs: { RelayFrames.ofRelays().map { $0.encoded() } },
            decode: { bytes in (try? RelayServerFrame.decode(bytes))??.encoded() }),
        Decoder(
            name: "welcome of a relay", sources: [:],
            inputs: {
                [true, false].map {
                    RelayWelcome(
                        day: 20_000, newest: .max, needsTicket: $0,
                        starts: [RelayStart(id: 1, newest: 0)]
                    ).encoded
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
        Decoder(
            name: "letter", sources: ["Sources/Sealing/Epochs/Letter.swift": 1],
            inputs: { try [letter([]), letter([UInt8](repeating: 9, count: 700))] },
            decode: { bytes in
                let opened = try? Letter.open(bytes, in: inbox, with: [prekey])
                return opened == nil ? nil : bytes
            }),
        Decoder(
            name: "signals that pass",
            sources: ["Sources/NodeCore/Relays/NodeCore+Passing.swift": 1],
            inputs: {
                [[], [UInt8](repeating: 4, count: 90)].map {
                    PassingContent(
                        sent: 1_795_218_600_000, person: PersonID { $0[0] = 1 }, signal: $0
                    )
                    .bytes
                }
            },
            decode: { bytes in PassingContent(bytes)?.bytes }),
        Decoder(
            name: "what letters say", sources: ["Sources/NodeCore/Relays/LetterBook.swift": 1],
            // What only newer versions know is left out.
            hasOneSpelling: false,
            inputs: {
                [0, 1, .greatest].compactMap {
                    LetterContent.encode([.credit(7), .bye], number: $0)
                }
            },
            decode: { bytes in
                LetterContent(bytes).flatMap { letter in
                    var reader = letter.frames
                    return all(&reader).map {
                        LetterContent.encode($0, number: letter.number) ?? bytes
                    }
                }
            }),
        Decoder(
            name: "what envelopes carry", sources: ["Sources/NodeCore/Relays/Parcel.swift": 1],
            // What only newer versions know is left out.
            hasOneSpelling: false,
            inputs: {
                var parcel = Parcel(byteCountMax: 10_000)
                parcel.add(.credit(7))
                parcel.add(.bye)
                return [parcel.bytes]
            },
            decode: { bytes in
                guard var reader = ParcelReader(bytes) else { return nil }
                return all(&reader).map { frames in
                    var parcel = Parcel(byteCountMax: 1 << 20)
                    for frame in frames { parcel.add(frame) }
                    return parcel.bytes
                }
            }),
    ]

    /// All frames of a parcel, or nil where one of them does not read.
    private static func all(_ reader: inout ParcelReader) -> [Frame]? {
        var frames: [Frame] = []
        while let frame = reader.next() { frames.append(frame) }
        return reader.isWhole ? frames : nil
    }

    private static let prekey = PrivateLeaf(scalar: Secret([UInt8](repeating: 0x22, count: 32)))
    private static let inbox = MailboxID { $0[0] = 1 }

    private static func letter(_ content: [UInt8]) throws -> [UInt8] {
        var random = SystemRandom()
        let letter = Letter.seal(
            content, to: prekey.publicKey, inbox: inbox, by: .generate(using: &random),
            using: &random)
        guard let letter else { throw EnvelopeRejection.malformed }
        return letter
    }
}
