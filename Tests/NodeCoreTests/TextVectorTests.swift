import ParleyRoster
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// The vectors of texts that people pass on: invites, links into groups, links of devices.
@Suite("Text vectors")
struct TextVectorTests {
    struct File<Fields: Decodable>: Decodable {
        let cases: [Case<Fields>]
    }

    /// A text, with its fields or the reason why it is none.
    struct Case<Fields: Decodable>: Decodable {
        enum Key: CodingKey { case why, text, refusal }

        let why, text: String
        let refusal: String?
        let fields: Fields?

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            why = try container.decode(String.self, forKey: .why)
            text = try container.decode(String.self, forKey: .text)
            refusal = try container.decodeIfPresent(String.self, forKey: .refusal)
            fields = refusal == nil ? try Fields(from: decoder) : nil
        }

        /// Reads the text, and compares a refusal with the one that is expected.
        func read<Value>(
            _ decode: (String) throws(DecodingFailure) -> Value
        ) -> (value: Value, fields: Fields)? {
            do {
                let value = try decode(text)
                if fields == nil { Issue.record("\(why): not refused") }
                return fields.map { (value, $0) }
            } catch {
                #expect(name(of: error) == refusal, "\(why)")
                return nil
            }
        }

        private func name(of failure: DecodingFailure) -> String {
            switch failure {
            case .truncated: "truncated"
            case .trailingBytes: "trailingBytes"
            case .overlongNumber: "overlongNumber"
            case .numberTooLarge: "numberTooLarge"
            case .tooLarge: "tooLarge"
            case .unknownFlags: "unknownFlags"
            case .unknownVersion: "unknownVersion"
            case .forbidden: "forbidden"
            case .unsorted: "unsorted"
            }
        }
    }

    struct InviteFields: Decodable {
        let person, secret, handshake, guest: Hex
        let device, linkKey, relay, card, sealed: Hex?
        let expires: UInt64
        let addresses: [String]
        let number, proof: String
        let mailbox: String?

        func place() throws -> Invite.Place {
            if let relay { return .relay(try relay.identifier(), addresses: addresses) }
            return .device(
                try #require(device).identifier(), try #require(linkKey).identifier(),
                addresses: addresses)
        }
    }

    @Test("invites are read, written, named and redeemed as the vectors say")
    func invites() throws {
        for vector in try Vectors.read("identity/invites", as: File<InviteFields>.self).cases {
            let reading = vector.read { text throws(DecodingFailure) in try Invite(link: text) }
            guard let (invite, fields) = reading else { continue }
            let expected = Invite(
                person: try fields.person.identifier(), secret: fields.secret.bytes,
                expires: fields.expires, place: try fields.place())
            #expect(invite == expected, "\(vector.why)")
            #expect(invite.link == vector.text.filter { !$0.isWhitespace }, "\(vector.why)")
            #expect(LogTag(Invite.hash(of: invite.secret)).description == fields.number)
            let proof = Invite.proof(
                secret: invite.secret, handshakeHash: fields.handshake.bytes,
                device: try fields.guest.identifier())
            #expect(proof?.description == fields.proof, "\(vector.why)")
            guard let relay = fields.relay else { continue }
            let mailbox = InviteMailbox(
                secret: invite.secret, relay: try relay.identifier())
            #expect(mailbox.id.description == fields.mailbox, "\(vector.why)")
            let sealed = try #require(fields.sealed).bytes
            #expect(mailbox.card(in: sealed) == fields.card?.bytes, "\(vector.why)")
            var flipped = sealed
            flipped[30] ^= 1
            #expect(mailbox.card(in: flipped) == nil)
        }
    }

    struct GroupFields: Decodable {
        let space, invite, secret, card, guest, device: Hex
        let expires: UInt64
        let name, key, signature: String
    }

    @Test("links into groups are read and written, and their keys sign, as the vectors say")
    func groupLinks() throws {
        for vector in try Vectors.read("identity/group-links", as: File<GroupFields>.self).cases {
            let reading = vector.read { text throws(DecodingFailure) in try GroupLink(link: text) }
            guard let (link, fields) = reading else { continue }
            let expected = GroupLink(
                space: try fields.space.identifier(), invite: try fields.invite.identifier(),
                secret: fields.secret.bytes, expires: fields.expires, name: fields.name,
                card: fields.card.bytes)
            #expect(link == expected, "\(vector.why)")
            #expect(link.link == vector.text.filter { !$0.isWhitespace }, "\(vector.why)")
            let key = GroupLink.key(of: link.secret)
            #expect(key.device.description == fields.key, "\(vector.why)")
            let signature = Redeem.signature(
                to: link.invite, in: link.space, for: try fields.guest.identifier(),
                try fields.device.identifier(), with: key)
            #expect(hex(signature.bytes) == fields.signature, "\(vector.why)")
        }
    }

    struct DeviceFields: Decodable {
        let person, linkKey, secret: Hex
        let expires: UInt64
        let addresses: [String]
    }

    @Test("texts that link a device are read and written as the vectors say")
    func deviceTexts() throws {
        for vector in try Vectors.read("links/device-texts", as: File<DeviceFields>.self).cases {
            let reading = vector.read { text throws(DecodingFailure) in try DeviceOffer(text: text)
            }
            guard let (offer, fields) = reading else { continue }
            let expected = DeviceOffer(
                person: try fields.person.identifier(), noiseKey: try fields.linkKey.identifier(),
                secret: fields.secret.bytes, expires: fields.expires, addresses: fields.addresses)
            #expect(offer == expected, "\(vector.why)")
            #expect(offer.text == vector.text.filter { !$0.isWhitespace }, "\(vector.why)")
        }
    }
}
