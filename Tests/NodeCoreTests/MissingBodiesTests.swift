import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

/// Places whose payloads are missing, as they are remembered.
@Suite("Missing payloads")
struct MissingBodiesTests {
    @Test("are ranges that say what a set of places says", arguments: 0..<20)
    func set(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed), purpose: "places")
        var (missing, places) = (MissingBodies(), Set<UInt64>())
        for _ in 0..<600 {
            let place = UInt64.random(in: 0..<200, using: &random)
            if UInt64.random(in: 0..<20, using: &random) < 12 {
                missing.insert(place)
                places.insert(place)
            } else {
                missing.remove(place)
                places.remove(place)
            }
            #expect(Set(missing.ranges.joined()) == places)
            let touches = zip(missing.ranges, missing.ranges.dropFirst()).contains {
                $0.upperBound + 1 >= $1.lowerBound
            }
            #expect(!touches)
            #expect(MissingBodies(missing.bytes) == missing)
        }
    }

    @Test("Attack 151: beyond so many ranges nothing is remembered, and a run is one range")
    func bounded() {
        var missing = MissingBodies()
        for place in 0..<10_000 as Range<UInt64> { missing.insert(place) }
        #expect(missing.ranges == [0...9_999])
        for place in 0..<10_000 as Range<UInt64> { missing.insert(20_000 + 2 * place) }
        #expect(missing.ranges.count == MissingBodies.rangeCountMax)
        #expect(missing.bytes.count == 16 * MissingBodies.rangeCountMax)
        // What joins a range is remembered all the same.
        missing.insert(10_000)
        #expect(missing.ranges[0] == 0...10_000)
    }

    @Test("at the bounds of numbers", arguments: [0, 1, Limits.placeMax - 1] as [UInt64])
    func bounds(place: UInt64) {
        var missing = MissingBodies()
        missing.insert(place)
        missing.insert(place)
        #expect(missing.ranges == [place...place])
        #expect(MissingBodies(missing.bytes) == missing)
        missing.remove(place)
        #expect(missing.ranges.isEmpty)
    }

    @Test("that do not read are none", arguments: [[1], [UInt8](repeating: 255, count: 16)])
    func broken(bytes: [UInt8]) {
        #expect(MissingBodies(bytes).ranges.isEmpty)
    }
}
