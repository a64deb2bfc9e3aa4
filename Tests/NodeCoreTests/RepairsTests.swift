import ParleyLedger
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("What is repaired, and who is asked")
struct RepairsTests {
    private static let space = SpaceNumber(1)

    private static func device(_ byte: UInt8) throws -> DeviceID {
        try #require(DeviceID(Array(repeating: byte, count: 32)))
    }

    @Test(
        "rounds follow each other more and more slowly",
        arguments: zip(
            [0, 1, 2, 3, 7, 8, 40],
            [2_000, 30_000, 60_000, 120_000, 1_920_000, 3_600_000, 3_600_000] as [UInt64]))
    func delays(rounds: Int, delay: UInt64) {
        var repair = Repair()
        for _ in 0..<rounds { repair.endRound() }
        #expect(repair.delay == delay)
    }

    @Test("who said it last is asked first, alone, and others besides once that was in vain")
    func holders() throws {
        let devices = try (0..<6).map(Self.device)
        var repair = Repair()
        repair.addHolder(devices[1])
        repair.addHolder(devices[2])
        repair.addHolder(devices[1])
        #expect(repair.holders == [devices[2], devices[1]])
        #expect(repair.devices(among: devices) == [devices[1]])
        repair.endRound()
        #expect(repair.devices(among: devices) == [devices[1], devices[2], devices[3]])
        #expect(repair.devices(among: []) == [devices[1]])
        repair.removeHolders([devices[1]])
        #expect(repair.holders == [devices[2]])
    }

    @Test("where nobody is known to hold it, three are asked, others each time")
    func everybody() throws {
        let devices = try (0..<5).map(Self.device)
        var repair = Repair()
        #expect(repair.devices(among: devices) == Array(devices[0..<3]))
        repair.endRound()
        #expect(repair.devices(among: devices) == Array(devices[1..<4]))
        for _ in 0..<3 { repair.endRound() }
        #expect(repair.devices(among: devices) == [devices[4], devices[0], devices[1]])
        #expect(Repair().devices(among: []).isEmpty)
    }

    @Test("one question to everybody is enough, and nine to a holder")
    func exhausted() throws {
        var repair = Repair()
        #expect(repair.isExhausted)
        repair.addHolder(try Self.device(1))
        let exhausted = (0..<10).filter { _ in
            repair.endRound()
            return repair.isExhausted
        }
        #expect(exhausted == [8, 9])
    }

    @Test("no more holders are known than fit, and the farthest ends")
    func bounds() throws {
        var repair = Repair()
        let devices = try (0..<12).map(Self.device)
        for device in devices { repair.addHolder(device) }
        #expect(repair.holders == Array(devices.suffix(Repair.holderCountMax)))
        repair.extend(to: [LogTag(1): 5, LogTag(2): 7])
        repair.extend(to: [LogTag(1): 9, LogTag(2): 3])
        #expect(repair.ends == [LogTag(1): 9, LogTag(2): 7])
    }

    @Test("the store is written only where the last holder is another")
    func stored() throws {
        var repairs = Repairs()
        var repair = Repair()
        var hasChanged = [nil, repair].map { repairs.keep($0, of: Self.space) }
        repair.endRound()
        hasChanged.append(repairs.keep(repair, of: Self.space))
        repair.addHolder(try Self.device(1))
        hasChanged.append(repairs.keep(repair, of: Self.space))
        #expect(repairs.repair(of: Self.space)?.roundCount == 1)
        hasChanged.append(repairs.keep(nil, of: Self.space))
        #expect(hasChanged == [false, true, false, true, true])
        #expect(repairs.repair(of: Self.space) == nil)
        _ = repairs.keep(repair, of: Self.space)
        repairs.forget(Self.space)
        #expect(repairs.repair(of: Self.space) == nil)
    }
}
