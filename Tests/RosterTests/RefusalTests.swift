import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

/// Who was let in by what does not hold takes themself for a member until they hear why not.
@Suite("Devices that only what does not hold let in")
struct RefusalTests {
    private func expect(
        _ village: Village, _ person: Int, _ device: DeviceID? = nil, hears places: [Int],
        in order: [Int]
    ) {
        let villager = village.people[person]
        let device = device ?? villager.devices[0].device
        var graph = village.graph(order)
        #expect(graph.roster().person(of: device) == nil)
        var told: [LogTag: UInt64] = [:]
        for place in places.flatMap({ village.pasts[$0] }) {
            let one = village.written[place].operation
            told[one.tag] = max(told[one.tag] ?? 0, one.sequence)
        }
        let found = graph.refusal(of: device, villager.person)
        #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.tag, $0.sequence) }) == told)
    }

    @Test("a device that its person added unaware of their removal hears of the removal")
    func furtherDevice() throws {
        var village = try Village(seed: 501, people: 3)
        village.write(village.add(1), by: 0)
        village.write(village.add(2), by: 0)
        let seen = Set(village.written.indices)
        let removal = village.write(village.remove(1), by: 0)
        let device = try village.people[1].addDevice(&village.draws).device
        let one = village.people[1]
        let addition = Ident(
            person: one.person, identity: one.log.encoded, prekeys: one.prekeys, change: .add)
        village.write(addition.draft(), by: 1, seen: seen)
        // What came after is none of its business.
        village.write(village.set(2, .admin), by: 0)
        for order in village.orders() {
            expect(village, 1, device, hears: [removal], in: order)
        }
    }

    @Test("who was added by somebody who was added by a removed admin hears of that removal")
    func chain() throws {
        var village = try Village(seed: 502, people: 4)
        village.write(village.add(1, .owner), by: 0)
        let seen = Set(village.written.indices)
        let removal = village.write(village.remove(1), by: 0)
        let second = village.write(village.add(2, .admin), by: 1, seen: seen)
        village.write(village.add(3), by: 2, seen: seen.union([second]))
        for order in village.orders() {
            expect(village, 2, hears: [removal], in: order)
            expect(village, 3, hears: [removal], in: order)
        }
    }

    @Test("who was never let in hears nothing")
    func stranger() throws {
        var village = try Village(seed: 503, people: 3)
        village.write(village.add(1), by: 0)
        // A member may not let anybody in: that never was an admission.
        village.write(village.add(2), by: 1)
        for order in village.orders() { expect(village, 2, hears: [], in: order) }
    }
}
