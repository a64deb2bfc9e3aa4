import ParleyWire
import Testing

@testable import ParleyTransport

@Suite("Neighbours")
struct NeighbourhoodTests {
    private static func name(_ byte: UInt8) throws -> LocalName {
        try #require(
            LocalName(
                salt: [UInt8](repeating: byte, count: 8),
                tag: [UInt8](repeating: byte + 1, count: 8)))
    }

    private static func sent(_ events: [Neighbourhood.Event]) -> [DNSMessage] {
        events.compactMap { if case .send(let message) = $0 { message } else { nil } }
    }

    private static func heard(_ events: [Neighbourhood.Event]) -> [Neighbour] {
        events.compactMap { if case .heard(let neighbour) = $0 { neighbour } else { nil } }
    }

    @Test("of whom one asks, the other hears at once; and the other way round")
    func meet() throws {
        var ann = Neighbourhood(port: 1, name: try Self.name(1), at: 0)
        let first = Self.sent(ann.tick(at: 0))
        #expect(first.map(\.isResponse) == [false, true])
        // Ben comes later: what ann said before is not heard by him.
        var ben = Neighbourhood(port: 2, name: try Self.name(3), at: 5_000)
        var annHears: [Neighbour] = []
        for message in Self.sent(ben.tick(at: 5_000)) {
            annHears += Self.heard(ann.receive(message, at: 5_000))
        }
        #expect(annHears == [Neighbour(name: try Self.name(3), port: 2)])
        #expect(ann.nextDue <= 5_000)
        var benHears: [Neighbour] = []
        for message in Self.sent(ann.tick(at: 5_000)) {
            benHears += Self.heard(ben.receive(message, at: 5_000))
        }
        #expect(benHears == [Neighbour(name: try Self.name(1), port: 1)])
    }

    @Test("who listens nowhere asks, hears, and tells nothing")
    func silent() throws {
        var ann = Neighbourhood(port: nil, name: try Self.name(1), at: 0)
        let first = Self.sent(ann.tick(at: 0))
        #expect(first.map(\.isResponse) == [false])
        var ben = Neighbourhood(port: 2, name: try Self.name(3), at: 0)
        var heard: [Neighbour] = []
        for message in Self.sent(ben.tick(at: 0)) {
            heard += Self.heard(ann.receive(message, at: 0))
        }
        #expect(heard == [Neighbour(name: try Self.name(3), port: 2)])
        // Neither when asked, nor on another network, nor by another name, nor at the end.
        ann.moved(at: 10)
        var told = Self.sent(ann.tick(at: 10)) + Self.sent(ann.rename(try Self.name(5), at: 20))
        told += Self.sent(ann.tick(at: 5_000)) + Self.sent(ann.farewell())
        #expect(told.allSatisfy { !$0.isResponse })
    }

    @Test("ask ever more rarely, and tell at most once a second")
    func pace() throws {
        var ann = Neighbourhood(port: 1, name: try Self.name(1), at: 0)
        var questions = 0
        var answers = 0
        let question = DNSMessage(
            isResponse: false, questions: [.init(Neighbourhood.service, type: 12)])
        for now in stride(from: UInt64(0), to: 600_000, by: 100) {
            if now < 10_000 { _ = ann.receive(question, at: now) }
            for message in Self.sent(ann.tick(at: now)) {
                if message.isResponse { answers += 1 } else { questions += 1 }
            }
        }
        // 0, 1, 3, 7 … 255 s, then after 256 s and 300 s.
        #expect(questions == 10)
        #expect((9...11).contains(answers))
    }

    @Test("take a name back when they are called otherwise, and when they end")
    func names() throws {
        var ann = Neighbourhood(port: 1, name: try Self.name(1), at: 0)
        _ = ann.tick(at: 0)
        let goodbye = Self.sent(ann.rename(try Self.name(5), at: 900_000))
        #expect(goodbye.flatMap(\.records).allSatisfy { $0.lifetime == 0 })
        #expect(goodbye.flatMap(\.records).contains { "\($0.name)".hasPrefix("0101010101010101.") })
        var ben = Neighbourhood(port: 2, name: try Self.name(3), at: 0)
        #expect(goodbye.flatMap { ben.receive($0, at: 900_000) }.isEmpty)
        let hello = Self.sent(ann.tick(at: 900_000)).filter(\.isResponse)
        let heard = hello.flatMap { Self.heard(ben.receive($0, at: 900_000)) }
        #expect(heard == [Neighbour(name: try Self.name(5), port: 1)])
        let end = Self.sent(ann.farewell()).flatMap(\.records)
        #expect(!end.isEmpty && end.allSatisfy { $0.lifetime == 0 })
    }

    @Test("who are made up by the hundred are not told of")
    func flood() throws {
        var ben = Neighbourhood(port: 2, name: try Self.name(3), at: 0)
        var heard = 0
        for number in 0..<200 {
            let salt = (0..<8).map { UInt8(truncatingIfNeeded: number >> $0) }
            let name = LocalName(salt: salt, tag: [UInt8](repeating: UInt8(number), count: 8))
            var one = Neighbourhood(port: 9, name: try #require(name), at: 0)
            for message in Self.sent(one.tick(at: 0)) {
                heard += ben.receive(message, at: UInt64(number)).count
                // Again and again is once.
                heard += ben.receive(message, at: UInt64(number)).count
            }
        }
        #expect(heard == Neighbourhood.neighbourCountMax)
    }

    @Test("hear nothing in what says too little")
    func incomplete() throws {
        var ben = Neighbourhood(port: 2, name: try Self.name(3), at: 0)
        var ann = Neighbourhood(port: 1, name: try Self.name(1), at: 0)
        let whole = try #require(Self.sent(ann.tick(at: 0)).last)
        for index in 0..<3 {
            var part = whole
            part.records.remove(at: index)
            #expect(ben.receive(part, at: 0).isEmpty)
        }
        #expect(ben.receive(whole, at: 0).count == 1)
        #expect(ann.receive(whole, at: 0).isEmpty)
    }
}
