import Foundation
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying

@Suite("A relay's transcript, byte for byte")
struct RelayTranscriptTests {
    struct Case: Decodable {
        let network: String
        let relayKey, clientEphemeral, relayEphemeral, mailboxSeed: String
        let writers: [String]
        let ticket, envelope, mailbox, ticketHash, envelopeHash: String
        let day: UInt64
        let newest, expires, counter: UInt64
        let starts: [[UInt64]]
        let opening, answer, handshakeHash: String
        let requests, answers: [String]
        let requestRecord, answerRecord: String
    }

    struct File: Decodable { let cases: [Case] }

    /// Randomness that was written down before.
    struct FixedRandom: RandomNumberGenerator {
        var bytes: ArraySlice<UInt8>

        mutating func next() -> UInt64 {
            (0..<8).reduce(0) { word, place in
                word | UInt64(bytes.popFirst() ?? 0) << UInt64(8 * place)
            }
        }
    }

    private func hex(_ text: String) throws -> [UInt8] {
        let decoded = ParleyWire.bytes(hex: text)
        return try #require(decoded)
    }

    private func load() throws -> Case {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let url = root.appendingPathComponent("Protocol/Vectors/relay/transcript.json")
        let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
        return try #require(file.cases.first)
    }

    @Test("both ends say what another program computed, and understand it")
    func transcript() throws {
        let test = try load()
        let key = DeviceNoiseKey(scalar: Secret(try hex(test.relayKey)))
        let network = NetworkID(named: test.network)
        let welcome = RelayWelcome(
            day: RelayDay(clamping: test.day), newest: test.newest, needsTicket: true,
            starts: test.starts.map { RelayStart(id: $0[0], newest: $0[1]) })
        var fixed = FixedRandom(bytes: try hex(test.clientEphemeral)[...])
        var client = RelayClient(to: key.publicKey, network: network, at: 0, using: &fixed)
        fixed = FixedRandom(bytes: try hex(test.relayEphemeral)[...])
        var door = RelayDoor(key: key, welcome: welcome, network: network, using: &fixed)

        let opening = client.output()
        #expect(opening == (try hex(test.opening)))
        let greeting = try door.receive(opening[...])
        guard case .send(let answer) = try #require(greeting.first) else { return }
        #expect(answer == (try hex(test.answer)))
        #expect(try client.receive(answer[...], at: 0) == [.opened(welcome)])
        #expect(client.handshakeHash == (try hex(test.handshakeHash)))

        try ask(&client, test)
        let record = client.output()
        #expect(record == (try hex(test.requestRecord)))
        let heard = try door.receive(record[...])
        #expect(heard.count == test.requests.count)
        let requests = heard.compactMap { event in
            if case .request(let request) = event { request } else { nil }
        }
        #expect(requests.map(\.counter) == [1, 2, 3])
        #expect(
            requests.allSatisfy {
                $0.right.isOwner && $0.request.mailbox.description == test.mailbox
            })

        let reply = door.seal(try test.answers.map(hex), at: 0)
        #expect(reply == (try hex(test.answerRecord)))
        let entry = RelayEntry(counter: test.counter, envelope: try hex(test.envelope))
        #expect(
            try client.receive(reply[...], at: 0) == [
                .answered(1, .opened(expires: test.expires, byteCountMax: 64 << 20)),
                .answered(2, .stored(counter: test.counter)),
                .answered(3, .entries([entry], hasMore: false, newest: test.counter)),
                .arrived(requests[0].request.mailbox, entry),
            ])
    }

    private func ask(_ client: inout RelayClient, _ test: Case) throws {
        let access = MailboxAccess(
            inbox: DeviceSigningKey(seed: Secret(try hex(test.mailboxSeed))))
        try client.tick(at: RelayClient.pingInterval)
        client.ask(
            .open(
                writers: try test.writers.map { try #require(WriterID(try hex($0))) },
                ticket: try hex(test.ticket)),
            as: access)
        client.ask(.put(envelope: try hex(test.envelope)), as: access)
        client.ask(
            .get(RelayRange(after: 300, isNewestFirst: true, byteCountMax: 131_072)), as: access)
    }

    @Test("tickets and envelopes are told apart by the hashes that another program computed")
    func hashes() throws {
        let test = try load()
        let ticket: Digest = digest(.relayTicket, try hex(test.ticket))
        let envelope: Digest = digest(.relayBlob, try hex(test.envelope))
        #expect(ticket.description == test.ticketHash)
        #expect(envelope.description == test.envelopeHash)
    }
}
