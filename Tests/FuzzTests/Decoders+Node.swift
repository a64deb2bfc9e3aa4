import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleySimulation
import ParleyWire

@testable import ParleyNodeCore

extension Decoder {
    static let node: [Decoder] = [
        Decoder(
            name: "runs and forks", sources: [:], hasOneSpelling: false, inputs: { try frames() },
            decode: { verified($0) ? $0 : nil }),
        Decoder(
            name: "invite", sources: ["Sources/NodeCore/People/Invite.swift": 1],
            hasOneSpelling: false,
            inputs: {
                let places: [Invite.Place] = [
                    .relay(NoiseKey { $0[0] = 2 }, addresses: ["relay.example.org:7448"]),
                    .device(
                        DeviceID { $0[0] = 2 }, NoiseKey { $0[0] = 4 },
                        addresses: ["192.0.2.1:9", "[2001:db8::1]:9"]),
                ]
                return places.map { place in
                    Array(
                        Invite(
                            person: PersonID { $0[0] = 1 },
                            secret: [UInt8](repeating: 3, count: Invite.secretByteCount),
                            expires: 1 << 40, place: place
                        ).link.utf8)
                }
            },
            decode: { relinked($0) }),
        Decoder(
            name: "offer to a device", sources: ["Sources/NodeCore/People/DeviceOffer.swift": 1],
            hasOneSpelling: false,
            inputs: {
                let offer = DeviceOffer(
                    person: PersonID { $0[0] = 1 }, noiseKey: NoiseKey { $0[0] = 2 },
                    secret: [UInt8](repeating: 3, count: 32), expires: 99,
                    addresses: ["192.0.2.1:9", "[2001:db8::1]:9"])
                return [Array(offer.text.utf8)]
            },
            decode: { reoffered($0) }),
        Decoder(
            name: "link into a group", sources: ["Sources/NodeCore/People/GroupLink.swift": 1],
            hasOneSpelling: false,
            inputs: {
                let link = GroupLink(
                    space: SpaceID { $0[0] = 1 }, invite: OperationID { $0[0] = 2 },
                    secret: [UInt8](repeating: 3, count: 32), expires: 99, name: "trip",
                    card: [UInt8](repeating: 4, count: 300))
                return [Array(link.link.utf8)]
            },
            decode: { regrouped($0) }),
        Decoder(
            name: "deletion", sources: ["Sources/NodeCore/People/NodeCore+Preferences.swift": 1],
            inputs: {
                [[], [OperationID { $0[0] = 1 }, OperationID { $0[0] = 2 }]].map {
                    Deletion(expulsions: $0).bytes
                }
            },
            decode: { Deletion($0)?.bytes }),
        Decoder(
            name: "archive", sources: ["Sources/Conversation/Features/Archive.swift": 1],
            inputs: { [Archive(stand: 1 << 59, unreadCount: 7).bytes] },
            decode: { Archive($0)?.bytes }),
        Decoder(
            name: "quiet reading", sources: ["Sources/Conversation/Features/Discretion.swift": 1],
            inputs: {
                ([[0..<3], [2..<3, 7..<900]] as [[Range<UInt64>]]).map { ranges in
                    var places = PlaceSet()
                    for range in ranges { places.insert(range) }
                    return QuietReading.bytes(places)
                }
            },
            decode: { QuietReading.places($0).map { QuietReading.bytes($0) } }),
        Decoder(
            name: "codes to compare", sources: ["Sources/NodeCore/People/Codes.swift": 1],
            hasOneSpelling: false,
            inputs: {
                var random = SeededRandom(seed: 53)
                let logs = try (0..<2).map { _ in
                    try IdentityLog.founded(
                        root: .generate(using: &random), device: .generate(using: &random),
                        noiseKey: DeviceNoiseKey.generate(using: &random).publicKey, time: 0,
                        using: &random)
                }
                let code = VerificationCode(from: logs[0], to: logs[1])
                return [Array(code.text.utf8), Array(CardText(card: [1, 2, 3]).text.utf8)]
            },
            decode: { coded($0) }),
    ]

    private static func relinked(_ bytes: [UInt8]) -> [UInt8]? {
        let invite = try? Invite(link: String(decoding: bytes, as: UTF8.self))
        return invite.map { Array($0.link.utf8) }
    }

    private static func reoffered(_ bytes: [UInt8]) -> [UInt8]? {
        let offer = try? DeviceOffer(text: String(decoding: bytes, as: UTF8.self))
        return offer.map { Array($0.text.utf8) }
    }

    private static func regrouped(_ bytes: [UInt8]) -> [UInt8]? {
        let link = try? GroupLink(link: String(decoding: bytes, as: UTF8.self))
        return link.map { Array($0.link.utf8) }
    }

    private static func coded(_ bytes: [UInt8]) -> [UInt8]? {
        let text = String(decoding: bytes, as: UTF8.self)
        let code = (try? VerificationCode(text: text))?.text ?? CardText(text)?.text
        return code.map { Array($0.utf8) }
    }

    private static func verified(_ bytes: [UInt8]) -> Bool {
        guard let frame = try? Frame.decode(bytes) else { return false }
        if case .operations(let operations) = frame {
            for run in operations.runs { verify(run, in: operations.space) }
        }
        if case .fork(let proof) = frame { _ = ForkEvidence(proof) }
        return true
    }

    /// Whatever a run says of places and signatures, against nothing held and something held.
    private static func verify(_ run: Run, in space: SpaceID) {
        let spans = [
            Span(
                first: run.first / 2, last: run.first / 2 + 3, anchor: OperationID { _ in },
                tip: OperationID { _ in })
        ]
        for held in [[], spans] {
            _ = try? OperationVerifier.verify(run, in: space, held: held)
            _ = try? OperationVerifier.verify(
                run, in: space, held: held,
                bound: LogPoint(sequence: run.first + 1, anchor: OperationID { _ in }))
        }
    }
}
