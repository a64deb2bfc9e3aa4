import NIOCore
import Testing

@testable import ParleyTransport

@Suite("Admission")
struct AdmissionTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private let ada = Origin(prefix: [192, 0, 2, 1])
    private let ben = Origin(prefix: [192, 0, 2, 2])

    private func admission(_ change: (inout TransportLimits) -> Void) -> Admission {
        var limits = TransportLimits()
        change(&limits)
        return Admission(limits: limits)
    }

    @Test("lets an address begin so many handshakes in a window, and others as many")
    func rate() throws {
        var admission = admission { $0.handshakeCountMax = 2 }
        try admission.admit(ada, at: start)
        try admission.admit(ada, at: start + .seconds(30))
        let late = start + .seconds(59)
        #expect(throws: Refusal.handshakeRate) { try admission.admit(ada, at: late) }
        try admission.admit(ben, at: late)
        try admission.admit(ada, at: start + .seconds(60))
        #expect(throws: Refusal.handshakeRate) {
            try admission.admit(ada, at: start + .seconds(60))
        }
        #expect(admission.openCount == 4)
    }

    @Test("gives a handshake back that succeeded")
    func success() throws {
        var admission = admission { $0.handshakeCountMax = 1 }
        for _ in 0..<5 {
            try admission.admit(ada, at: start)
            admission.authenticated(ada)
            admission.ended(wasAuthenticated: true)
        }
        #expect(admission.openCount == 0)
        #expect(admission.unauthenticatedCount == 0)
    }

    @Test("Attack 10: admission bounds what is open, and what strangers hold of it")
    func counts() throws {
        var admission = admission {
            $0.connectionCountMax = 2
            $0.unauthenticatedCountMax = 1
        }
        try admission.admit(ada, at: start)
        #expect(throws: Refusal.tooManyUnauthenticated) { try admission.admit(ben, at: start) }
        admission.authenticated(ada)
        try admission.admit(ben, at: start)
        admission.authenticated(ben)
        #expect(throws: Refusal.tooManyConnections) { try admission.admit(ben, at: start) }
        admission.ended(wasAuthenticated: true)
        try admission.admit(ben, at: start)
    }

    @Test("tells IPv6 addresses apart by their /64 alone")
    func prefixes() throws {
        func origin(_ text: String) throws -> Origin? {
            Origin(try SocketAddress(ipAddress: text, port: 1))
        }
        #expect(try origin("2001:db8::1") == origin("2001:db8::ffff:2"))
        #expect(try origin("2001:db8::1") != origin("2001:db8:0:1::1"))
        #expect(try origin("192.0.2.1") != origin("192.0.2.2"))
    }
}
