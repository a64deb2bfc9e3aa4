import ParleyLedger
import ParleySealing
import ParleyWire

@testable import ParleyNodeCore

extension Decoder {
    static let node: [Decoder] = [
        Decoder(
            name: "runs and forks", sources: [:], hasOneSpelling: false, inputs: { try frames() },
            decode: { verified($0) ? $0 : nil }),
        Decoder(
            name: "invite", sources: ["Sources/NodeCore/Invite.swift": 1], hasOneSpelling: false,
            inputs: {
                let invite = Invite(
                    person: PersonID { $0[0] = 1 }, card: [UInt8](repeating: 2, count: 300),
                    secret: [UInt8](repeating: 3, count: 32), expires: 1 << 40)
                return [Array(invite.link.utf8)]
            },
            decode: { relinked($0) }),
    ]

    private static func relinked(_ bytes: [UInt8]) -> [UInt8]? {
        let invite = try? Invite(link: String(decoding: bytes, as: UTF8.self))
        return invite.map { Array($0.link.utf8) }
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
