import ParleyConversation
import ParleySimulation
import ParleyWire
import Testing

@Suite("Sets of places")
struct PlaceSetTests {
    private static func set(_ ranges: [Range<UInt64>]) -> PlaceSet {
        var set = PlaceSet()
        for range in ranges { set.insert(range) }
        return set
    }

    @Test("hold what a set of numbers holds", arguments: 1...20 as ClosedRange<UInt64>)
    func model(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var model: Set<UInt64> = []
        var set = PlaceSet()
        for _ in 0..<200 {
            let first = random.next() % 400
            let range = first..<first + random.next() % 6
            model.formUnion(range)
            set.insert(range)
        }
        #expect(Set(set.ranges.flatMap { $0 }) == model)
        #expect(
            zip(set.ranges, set.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        #expect((0..<410).allSatisfy { set.contains($0) == model.contains($0) })
        #expect(Set(set.gaps(in: 0..<410).flatMap { $0 }) == Set(0..<410).subtracting(model))
        #expect(
            Set(set.clamped(to: 50..<90).ranges.flatMap { $0 }) == model.filter { 50..<90 ~= $0 })
        if set.ranges.count <= PlaceSet.rangeCountMax {
            #expect(PlaceSet(counts: set.counts) == set)
        }
    }

    @Test(
        "are numbers in turn",
        arguments: [
            ([0..<1], [1]), ([3..<9], [0, 3, 6]), ([0..<2, 4..<5], [2, 2, 1]),
            ([Limits.placeMax - 1..<Limits.placeMax], [0, Limits.placeMax - 1, 1]),
        ] as [([Range<UInt64>], [UInt64])])
    func counts(ranges: [Range<UInt64>], counts: [UInt64]) {
        #expect(Self.set(ranges).counts == counts)
        #expect(PlaceSet(counts: counts) == Self.set(ranges))
    }

    @Test(
        "that no set gives are refused",
        arguments: [
            [], [0], [1, 1], [0, 0, 1], [1, 0, 1], [1, 1, 0], [Limits.placeMax + 1],
            [Limits.placeMax, 1, 1], [.max, .max, .max],
            [UInt64](repeating: 1, count: 2 * PlaceSet.rangeCountMax + 1),
        ] as [[UInt64]])
    func refused(counts: [UInt64]) { #expect(PlaceSet(counts: counts) == nil) }

    @Test("tell no more than a receipt may, take nothing back, and invent nothing")
    func bound() {
        var told = Self.set((0..<64).map { $0 * 4 + 2..<$0 * 4 + 3 })
        let before = told
        told.tell(PlaceSet(1000..<1001))
        #expect(told == before, "the sixty-fifth is not told")
        told.tell(Self.set([0..<1, 7..<9, 1000..<1001]))
        #expect(told.ranges.count == 64)
        #expect(told.contains(before) && told.contains(7) && told.contains(8))
        #expect(!told.contains(0) && !told.contains(1000))
        told.tell(Self.set([3..<6, 1000..<1001, 2000..<2001]))
        #expect(told.contains(1000), "a gap closed, so there is room for the lowest")
        #expect(!told.contains(2000) && told.ranges.count == 64)
    }
}
