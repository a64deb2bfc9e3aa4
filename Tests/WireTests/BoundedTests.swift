import ParleyWire
import Testing

@Suite("Bounded numbers")
struct BoundedTests {
    private static let end: UInt64 = 1 << 43
    private static let some: [UInt64] = [
        0, 1, 2, end / 2, end - 2, end - 1, end, end << 19, end << 20, .max - 1, .max,
    ]

    @Test("no operation leaves the range", arguments: some)
    func saturates(amount: UInt64) {
        for start in Self.some.map({ WallTime(clamping: $0) }) {
            let (up, down) = (start.raised(by: amount), start.lowered(by: amount))
            #expect(up >= start && up <= .greatest && down <= start)
            let fits = amount <= WallTime.greatest.value - start.value
            #expect(up.value == (fits ? start.value + amount : WallTime.greatest.value))
            #expect(down.value == (amount <= start.value ? start.value - amount : 0))
            let other = WallTime(clamping: amount)
            #expect(start.distance(to: other) == other.distance(to: start))
            #expect(
                start.distance(to: other) == start.excess(over: other) + other.excess(over: start))
        }
        #expect(WallTime.greatest.next == .greatest && WallTime.zero.previous == .zero)
    }

    @Test("the numbers from one through another are those between, at both ends of the range")
    func through() {
        func days(_ first: RelayDay, _ last: RelayDay) -> [UInt64] {
            first.through(last).map(\.value)
        }
        let top = RelayDay.greatest
        #expect(days(3, 6) == [3, 4, 5, 6])
        #expect(days(0, 0) == [0])
        #expect(days(1, 0) == [])
        #expect(days(top, 0) == [])
        #expect(days(top.previous, top.next) == [top.value - 1, top.value])
    }

    @Test("a decoder refuses what lies outside of the range, in every spelling", arguments: some)
    func refuses(value: UInt64) throws {
        var writer = ByteWriter()
        writer.number(value)
        writer.uint64(value)
        var reader = ByteReader(writer.bytes)
        if value < Self.end {
            #expect(try reader.bounded(as: WallTime.self).value == value)
            #expect(try reader.bounded64(as: WallTime.self).value == value)
        } else {
            let refusal = DecodingFailure.forbidden(field: "time")
            #expect(throws: refusal) { try reader.bounded(as: WallTime.self) }
            #expect(throws: refusal) { try reader.bounded64(as: WallTime.self) }
        }
    }

    @Test("a card's next version exceeds all that an honest clock may have given, and no others")
    func cardVersions() {
        let now: UInt64 = 1_767_225_600_000
        #expect(CardVersion.next(after: nil, besides: [], at: now).value == now + 1)
        #expect(CardVersion.next(after: 9, besides: [7], at: 3).value == 10)
        let ahead = CardVersion(clamping: Self.end - 1)
        #expect(CardVersion.next(after: 9, besides: [ahead], at: now).value == Self.end)
        #expect(CardVersion.next(after: 9, besides: [ahead.next], at: now).value == now + 1)
        #expect(CardVersion.next(after: ahead.next, besides: [.greatest], at: .max) > ahead.next)
    }
}
