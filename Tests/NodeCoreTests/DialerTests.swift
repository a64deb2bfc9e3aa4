import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("Dialling")
struct DialerTests {
    private static func device(_ byte: UInt8) throws -> DeviceID {
        try #require(DeviceID(Array(repeating: byte, count: 32)))
    }

    private static func person(_ byte: UInt8) throws -> PersonID {
        try #require(PersonID(Array(repeating: byte, count: 32)))
    }

    /// A dialler that looks for device 1 of person 9, after these events.
    private static func dialer(after events: [Dialer.Event]) throws -> Dialer {
        var dialer = Dialer()
        dialer.restart(try device(1), of: try person(9))
        for event in events { dialer.note(event, of: try device(1)) }
        return dialer
    }

    private static func delay(after events: [Dialer.Event]) throws -> UInt64 {
        var random = Zeros()
        return try #require(
            try dialer(after: events).delay(before: device(1), using: &random))
    }

    /// Draws no jitter.
    private struct Zeros: RandomNumberGenerator {
        mutating func next() -> UInt64 { 0 }
    }

    @Test(
        "attempts that fail follow each other more and more slowly",
        arguments: zip(
            [0, 1, 2, 8, 9, 100], [1_000, 2_000, 4_000, 256_000, 300_000, 300_000] as [UInt64]))
    func backoff(count: Int, delay: UInt64) throws {
        #expect(try Self.delay(after: Array(repeating: .failed, count: count)) == delay)
    }

    @Test("two nodes do not keep step")
    func jitter() throws {
        let dialer = try Self.dialer(after: [])
        var random = SeededRandom(seed: 7, purpose: "jitter")
        let delays = try (0..<100).compactMap { _ in
            dialer.delay(before: try Self.device(1), using: &random)
        }
        #expect(Set(delays).count > 50)
        #expect(delays.allSatisfy { (1_000..<1_250).contains($0) })
    }

    @Test(
        "what became of a link decides how soon the device is dialled again",
        arguments: [
            ([.linked], 2_000), ([.linked, .welcomed], 1_000),
            ([.linked, .welcomed, .turnedAway], 2_000),
            ([.linked, .welcomed, .settled, .turnedAway], 1_000),
            ([.failed, .failed, .linked, .welcomed, .turnedAway], 8_000),
            ([.failed, .lost], 2_000),
        ] as [([Dialer.Event], UInt64)])
    func links(events: [Dialer.Event], delay: UInt64) throws {
        #expect(try Self.delay(after: events) == delay)
    }

    @Test(
        "a device is being dialled until something came of it",
        arguments: [.failed, .linked, .lost] as [Dialer.Event])
    func underway(event: Dialer.Event) throws {
        var dialer = try Self.dialer(after: [.begun])
        let device = try Self.device(1)
        #expect(dialer.isUnderway(device) && dialer.underwayCount == 1)
        dialer.note(event, of: device)
        #expect(!dialer.isUnderway(device) && dialer.underwayCount == 0)
    }

    @Test("a device that moves is dialled soon, and may move once a minute")
    func moves() throws {
        var dialer = try Self.dialer(after: [.failed, .failed])
        let device = try Self.device(1)
        let isBelieved = [5, 60_004, 60_005].map { dialer.move(device, at: $0) }
        #expect(isBelieved == [true, false, true])
        var random = Zeros()
        #expect(dialer.delay(before: device, using: &random) == 1_000)
        let isUnknownBelieved = dialer.move(try Self.device(2), at: 5)
        #expect(!isUnknownBelieved)
    }

    @Test("what is not looked for any more leaves nothing behind")
    func drops() throws {
        var dialer = try Self.dialer(after: [.failed])
        dialer.restart(try Self.device(3), of: try Self.person(9))
        dialer.restart(try Self.device(2), of: try Self.person(8))
        #expect(dialer.devices == [try Self.device(1), try Self.device(2), try Self.device(3)])
        dialer.dropDevices(of: try Self.person(9))
        #expect(dialer.devices == [try Self.device(2)])
        let last = try Self.device(2)
        dialer.drop(last)
        dialer.note(.failed, of: last)
        #expect(dialer.devices.isEmpty && dialer.person(of: last) == nil)
        var random = Zeros()
        #expect(dialer.delay(before: last, using: &random) == nil)
    }
}

@Suite("Neighbours")
struct NeighboursTests {
    private static func device(_ byte: UInt8) throws -> DeviceID {
        try #require(DeviceID(Array(repeating: byte, count: 32)))
    }

    @Test("a place is untried until it is dialled, and another one is again")
    func tries() throws {
        let device = try Self.device(1)
        var neighbours = Neighbours()
        let first = neighbours.note(device, at: "a:1", 0)
        let second = neighbours.note(device, at: "a:1", 1)
        #expect(first == true && second == true && neighbours.isUntried(device))
        neighbours.noteTry(of: device)
        let same = neighbours.note(device, at: "a:1", 2)
        #expect(same == false && !neighbours.isUntried(device))
        let other = neighbours.note(device, at: "b:1", 3)
        #expect(other == true && neighbours.isUntried(device))
    }

    @Test("a place holds for ten minutes")
    func lifetime() throws {
        let device = try Self.device(1)
        var neighbours = Neighbours()
        _ = neighbours.note(device, at: "a:1", 5)
        #expect(neighbours.address(of: device, at: 600_004) == "a:1")
        #expect(neighbours.address(of: device, at: 600_005) == nil)
        #expect(neighbours.wasSeen(device))
        neighbours.forgetAll()
        #expect(!neighbours.wasSeen(device) && neighbours.address(of: device, at: 5) == nil)
    }

    @Test("no more devices are remembered than fit")
    func bound() throws {
        var neighbours = Neighbours()
        for number in 0..<300 {
            let bytes = [UInt8(number / 256), UInt8(number % 256)] + Array(repeating: 0, count: 30)
            let device = try #require(DeviceID(bytes))
            let isUntried = neighbours.note(device, at: "a:1", 0)
            #expect(isUntried == (number < Neighbours.countMax ? true : nil))
        }
        let known = neighbours.note(try Self.device(0), at: "b:1", 0)
        #expect(known == true)
    }
}
