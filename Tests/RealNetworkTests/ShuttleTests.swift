import ParleyReal
import Testing

@Suite("Shuttle")
struct ShuttleTests {
    /// An IPv4 packet to a place, with one byte to know it by.
    static func packet(to place: Int, mark: UInt8 = 0, byteCount: Int = 40) -> [UInt8] {
        var packet = [UInt8](repeating: 0, count: byteCount)
        packet[0] = 0x45
        packet.replaceSubrange(16..<20, with: [10, 77, 0, UInt8(place + 1)])
        packet[byteCount - 1] = mark
        return packet
    }

    /// Everything that arrives, as it arrives.
    static func all(_ shuttle: inout Shuttle) -> [(at: UInt64, to: Int, mark: UInt8)] {
        var found: [(UInt64, Int, UInt8)] = []
        while let due = shuttle.nextDue, let (to, packet) = shuttle.arrived(by: due) {
            found.append((due, to, packet.last ?? 0))
        }
        return found
    }

    @Test("a packet comes out at the place of its address, once its delay is over")
    func delay() throws {
        var shuttle = Shuttle(placeCount: 3, seed: 1)
        shuttle[0, 2].delay = 500...500
        shuttle.take(Self.packet(to: 2, mark: 9), from: 0, at: 1_000)
        #expect(shuttle.nextDue == 1_500)
        #expect(shuttle.arrived(by: 1_499) == nil)
        let arrived = shuttle.arrived(by: 1_500)
        let (to, packet) = try #require(arrived)
        #expect(to == 2)
        #expect(packet == Self.packet(to: 2, mark: 9))
        #expect(shuttle.nextDue == nil)
        #expect(shuttle.deliveredCount == 1)
    }

    @Test("packets with equal delays keep their order, with unequal ones they overtake each other")
    func order() {
        var even = Shuttle(placeCount: 2, seed: 1)
        even[0, 1].delay = 200...200
        var uneven = Shuttle(placeCount: 2, seed: 1)
        uneven[0, 1].delay = 150_000...250_000
        for mark in UInt8(0)..<100 {
            even.take(Self.packet(to: 1, mark: mark), from: 0, at: UInt64(mark))
            uneven.take(Self.packet(to: 1, mark: mark), from: 0, at: UInt64(mark))
        }
        #expect(Self.all(&even).map(\.mark) == Array(0..<100))
        let found = Self.all(&uneven)
        #expect(found.map(\.mark).sorted() == Array(0..<100))
        #expect(found.map(\.mark) != Array(0..<100))
        #expect(found.map(\.at) == found.map(\.at).sorted())
        #expect(found.allSatisfy { (150_000...250_099).contains($0.at) })
    }

    @Test("what is lost and what comes twice is as many as was asked for")
    func lossAndRepeats() {
        var shuttle = Shuttle(placeCount: 2, seed: 3)
        shuttle[0, 1].lossPerMille = 100
        shuttle[0, 1].repeatPerMille = 50
        for _ in 0..<10_000 { shuttle.take(Self.packet(to: 1), from: 0, at: 0) }
        #expect((900...1_100).contains(shuttle.lostCount))
        let arrived = Self.all(&shuttle).count
        let repeated = arrived - (10_000 - shuttle.lostCount)
        #expect((350...550).contains(repeated))
    }

    @Test("a cut line carries nothing, and the other direction all")
    func cut() {
        var shuttle = Shuttle(placeCount: 2, seed: 1)
        shuttle[0, 1].isCut = true
        shuttle.take(Self.packet(to: 1), from: 0, at: 0)
        shuttle.take(Self.packet(to: 0), from: 1, at: 0)
        #expect(Self.all(&shuttle).map(\.to) == [0])
        #expect(shuttle.lostCount == 1)
    }

    @Test("a slow line sends one packet after the other, and loses what would wait too long")
    func rate() {
        var shuttle = Shuttle(placeCount: 2, seed: 1)
        shuttle[0, 1].bytesPerSecond = 10_000
        for mark in UInt8(0)..<30 {
            shuttle.take(Self.packet(to: 1, mark: mark, byteCount: 1_000), from: 0, at: 0)
        }
        let found = Self.all(&shuttle)
        #expect(found.prefix(3).map(\.at) == [100_000, 200_000, 300_000])
        #expect(found.count == 11)
        #expect(shuttle.lostCount == 19)
    }

    @Test("what waits is bounded in bytes")
    func bound() {
        var shuttle = Shuttle(placeCount: 2, seed: 1)
        shuttle[0, 1].delay = 1_000_000...1_000_000
        let packet = Self.packet(to: 1, byteCount: 60_000)
        for _ in 0..<600 { shuttle.take(packet, from: 0, at: 0) }
        #expect(Self.all(&shuttle).count == Shuttle.byteCountMax / 60_000)
    }

    @Test("what is no IPv4 packet to another place goes nowhere", arguments: [0, 1, 2, 3, 4])
    func strangers(kind: Int) {
        var shuttle = Shuttle(placeCount: 2, seed: 1)
        var packet = Self.packet(to: kind == 4 ? 0 : 1)
        switch kind {
        case 0: packet[0] = 0x60
        case 1: packet = []
        case 2: packet[19] = 3
        case 3: packet[19] = 0
        default: break
        }
        shuttle.take(packet, from: 0, at: 0)
        #expect(shuttle.nextDue == nil)
    }

    @Test("the same seed gives the same fates")
    func seeds() {
        func fates(_ seed: UInt64) -> [UInt64] {
            var shuttle = Shuttle(placeCount: 2, seed: seed)
            shuttle[0, 1].delay = 0...1_000_000
            shuttle[0, 1].lossPerMille = 300
            for mark in UInt8(0)..<50 {
                shuttle.take(Self.packet(to: 1, mark: mark), from: 0, at: 0)
            }
            return Self.all(&shuttle).flatMap { [$0.at, UInt64($0.mark)] }
        }
        #expect(fates(1) == fates(1))
        #expect(fates(1) != fates(2))
    }
}
