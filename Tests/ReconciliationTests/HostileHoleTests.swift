import ParleyLedger
import ParleyNodeCore
@testable import ParleyReconciliation
import ParleySimulation
import ParleyWire
import Testing

@Suite("Holes that an author made up")
struct HostileHoleTests {
    /// An author signed the place 2^61 of their log; asking for what lies below overflowed, at
    /// every start again.
    @Test("are asked for in bounded pieces, whatever their size")
    func size() throws {
        let store = MemoryStore(locatorSeed: 1)
        try store.begin(.normal)
        let id = try #require(SpaceID([UInt8](repeating: 4, count: 32)))
        let device = try #require(DeviceID([UInt8](repeating: 3, count: 32)))
        let space = try store.addSpace(id, kind: .group)
        for number in 1...3 as ClosedRange<UInt8> {
            let name = try #require(LogID([UInt8](repeating: number, count: 32)))
            var log = try store.addLog(name, device: device, lane: .content, in: space.number)
            let place: UInt64 = Limits.placeMax - 1
            let mark = OperationID(reinterpreting: name)
            log.spans = [Span(first: place, last: place, anchor: mark, tip: mark)]
            try store.update(log)
        }
        var exchange = SpaceExchange(SharedSpace(space), with: nil)
        let found = try exchange.nextWant(store: store)
        let want = try #require(found)
        #expect(want.ranges.count == 3)
        #expect(want.ranges.allSatisfy { $0.last - $0.first < 4096 })
        exchange.introduce(holdsLane0: false)
        _ = try exchange.nextOperations(store: store)
    }
}
