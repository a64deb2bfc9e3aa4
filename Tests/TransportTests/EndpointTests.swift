import ParleyTransport
import Testing

@Suite("An endpoint")
struct EndpointTests {
    @Test(
        "has one spelling",
        arguments: [
            ("127.0.0.1:4711", "127.0.0.1:4711"), ("Host-1.Example:1", "host-1.example:1"),
            ("[::1]:65535", "[::1]:65535"), ("[2001:DB8:0:0::1]:80", "[2001:db8::1]:80"),
            ("*:0", "*:0"),
        ])
    func spelling(text: String, canonical: String) throws {
        let endpoint = try Endpoint(text)
        #expect(endpoint.description == canonical)
        #expect(try Endpoint(canonical) == endpoint)
    }

    @Test(
        "refuses everything else, and says why",
        arguments: [
            ("", Endpoint.Rejection.missingPort), ("host", .missingPort), ("[::1]", .missingPort),
            ("host:", .badPort("")), ("host:+1", .badPort("+1")), ("host:080", .badPort("080")),
            ("host:65536", .badPort("65536")), (":80", .emptyHost), ("::1:80", .unbracketed),
            ("[fe80::1%eth0]:80", .badIPv6("fe80::1%eth0")), ("[host]:80", .badIPv6("host")),
            ("1.2.3:80", .badHost("1.2.3")), ("1.2.3.256:80", .badHost("1.2.3.256")),
            ("01.2.3.4:80", .badHost("01.2.3.4")), ("a b:80", .badHost("a b")),
            ("-a:80", .badHost("-a")), ("a..b:80", .badHost("a..b")), ("é:80", .badHost("é")),
        ])
    func refusals(text: String, rejection: Endpoint.Rejection) {
        #expect(throws: rejection) { try Endpoint(text) }
    }
}
