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

    @Test("gives a handshake back whose peer turned out to be known, and no other")
    func success() throws {
        var admission = admission { $0.handshakeCountMax = 1 }
        for _ in 0..<5 {
            let ticket = try admission.admit(ada, at: start).ticket
            admission.authenticated(ticket)
            admission.known(ticket)
            admission.ended(ticket)
        }
        #expect(admission.openCount == 0)
        #expect(admission.unauthenticatedCount == 0 && admission.guestCount == 0)
        let ticket = try admission.admit(ada, at: start).ticket
        admission.authenticated(ticket)
        admission.ended(ticket)
        #expect(admission.openCount == 0 && admission.guestCount == 0)
        #expect(throws: Refusal.handshakeRate) { try admission.admit(ada, at: start) }
    }

    @Test("Attack 10: admission bounds what is open, and what strangers hold of it")
    func counts() throws {
        var admission = admission {
            $0.connectionCountMax = 2
            $0.unauthenticatedCountMax = 1
        }
        let first = try admission.admit(ada, at: start).ticket
        #expect(throws: Refusal.tooManyUnauthenticated) { try admission.admit(ben, at: start) }
        admission.authenticated(first)
        let second = try admission.admit(ben, at: start).ticket
        admission.authenticated(second)
        #expect(throws: Refusal.tooManyConnections) { try admission.admit(ben, at: start) }
        admission.ended(second)
        _ = try admission.admit(ben, at: start)
    }

    @Test("Attack 66: strangers who shake hands hold no more places than those who do not")
    func strangers() throws {
        var admission = admission {
            $0.guestCountMax = 4
            $0.guestOfOriginCountMax = 2
        }
        let tickets = try (0..<2).map { _ in
            let ticket = try admission.admit(ada, at: start).ticket
            admission.authenticated(ticket)
            return ticket
        }
        #expect(throws: Refusal.tooManyStrangers) { try admission.admit(ada, at: start) }
        for number in 3..<5 as Range<UInt8> {
            let origin = Origin(prefix: [192, 0, 2, number])
            admission.authenticated(try admission.admit(origin, at: start).ticket)
        }
        #expect(throws: Refusal.tooManyStrangers) { try admission.admit(ben, at: start) }
        // Whoever is known stands in nobody's way.
        admission.known(tickets[0])
        admission.known(try admission.admit(ben, at: start).ticket)
        #expect(admission.openCount == 5 && admission.guestCount == 3)
    }

    @Test("lets the oldest guest give way once it had its time, to whoever comes then")
    func displaces() throws {
        var admission = admission { $0.unauthenticatedCountMax = 2 }
        let first = try admission.admit(ada, at: start).ticket
        let second = try admission.admit(ada, at: start + .seconds(1)).ticket
        #expect(throws: Refusal.tooManyUnauthenticated) {
            try admission.admit(ben, at: start + .milliseconds(1_999))
        }
        let (third, displaced) = try admission.admit(ben, at: start + .seconds(2))
        #expect(displaced == first && admission.unauthenticatedCount == 2)
        let next = try admission.admit(ben, at: start + .seconds(3)).displaced
        #expect(next == second)
        // That it is told its end later counts nothing twice.
        admission.ended(first)
        admission.known(third)
        admission.ended(second)
        #expect(admission.openCount == 2 && admission.unauthenticatedCount == 1)
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
