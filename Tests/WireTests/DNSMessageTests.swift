import ParleyWire
import Testing

@Suite("A message of multicast DNS")
struct DNSMessageTests {
    static let samples: [DNSMessage] = {
        let service = DNSMessage.Name("_parley._tcp.local")
        let host = DNSMessage.Name("0a1b.local")
        let instance = DNSMessage.Name(labels: [Array("0a1b".utf8)] + service.labels)
        return [
            DNSMessage(isResponse: false, questions: [.init(service, type: 12)]),
            DNSMessage(
                isResponse: true,
                records: [
                    .init(service, lifetime: 4_500, isUnique: false, .pointer(instance)),
                    .init(
                        instance, lifetime: 120, isUnique: true, .service(port: 7447, host: host)),
                    .init(instance, lifetime: 0, isUnique: true, .text([[1, 2], [3]])),
                    .init(host, lifetime: 1, isUnique: true, .address([192, 0, 2, 7])),
                ]),
        ]
    }()

    @Test("comes back as it was sent", arguments: samples)
    func roundTrip(message: DNSMessage) throws {
        #expect(try DNSMessage.decode(message.encoded) == message)
    }

    /// An answer with names that go on elsewhere, in upper case, as others write it.
    static let compressed: [UInt8] =
        [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 1]
        // _PARLEY._tcp.local, PTR of class 1, 120 s: "ab" before what stands at 12
        + [7] + Array("_PARLEY".utf8) + [4] + Array("_tcp".utf8) + [5] + Array("local".utf8) + [0]
        + [0, 12, 0, 1, 0, 0, 0, 120, 0, 5, 2] + Array("ab".utf8) + [0xc0, 12]
        // ab._PARLEY._tcp.local, SRV, unique: port 7447 at "h" before what stands at 25
        + [0xc0, 42, 0, 33, 0x80, 1, 0, 0, 0, 120, 0, 10, 0, 0, 0, 0, 0x1d, 0x17, 1]
        + Array("h".utf8) + [0xc0, 25]

    @Test("is read where its names refer to others")
    func pointers() throws {
        let message = try DNSMessage.decode(Self.compressed)
        #expect(
            message.records.map(\.content) == [
                .pointer(DNSMessage.Name("ab._parley._tcp.local")),
                .service(port: 7447, host: DNSMessage.Name("h.local")),
            ])
        #expect(
            message.records.map(\.name.description) == [
                "_parley._tcp.local", "ab._parley._tcp.local",
            ])
        #expect(message.records.map(\.isUnique) == [false, true])
    }

    @Test("is refused where names go in circles, or records are promised that are not there")
    func refusals() {
        var circle = Self.compressed
        // "ab" goes on at itself.
        circle[46] = 42
        #expect(throws: DecodingFailure.forbidden(field: "name")) {
            try DNSMessage.decode(circle)
        }
        var short = Self.compressed
        short[11] = 2
        #expect(throws: DecodingFailure.truncated) { try DNSMessage.decode(short) }
        var many = Self.compressed
        many[10] = 9
        #expect(
            throws: DecodingFailure.tooLarge(field: "records", value: 0x902, limit: 256)
        ) { try DNSMessage.decode(many) }
        let long = [UInt8](repeating: 0, count: 9_001)
        #expect(
            throws: DecodingFailure.tooLarge(field: "datagram", value: 9_001, limit: 9_000)
        ) { try DNSMessage.decode(long) }
    }
}
