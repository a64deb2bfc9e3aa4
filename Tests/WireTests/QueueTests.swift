import ParleyWire
import Testing

@Suite("A queue")
struct QueueTests {
    @Test("gives back what it was given, in order, as an array would", arguments: 0..<20 as Range)
    func order(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var queue: Queue<Int> = []
        var model: [Int] = []
        for number in 0..<2_000 {
            switch random.next() % 8 {
            case 0...2:
                queue.append(number)
                model.append(number)
            case 3:
                queue.append(contentsOf: [number, -number])
                model += [number, -number]
            case 4:
                queue.prepend(number)
                model = [number] + model
            case 5:
                let count = Int(random.next() % 6)
                queue.dropOldest(count)
                model = Array(model.dropFirst(count))
            case 6 where random.next() % 16 == 0:
                queue.removeAll { $0 % 3 == 0 }
                model.removeAll { $0 % 3 == 0 }
            default:
                let taken = queue.popFirst()
                #expect(taken == model.first)
                model = Array(model.dropFirst())
            }
            #expect(queue.count == model.count && queue.first == model.first)
        }
        #expect(Array(queue) == model && queue == Queue(model))
    }

    @Test("lets go of a million that wait in the time that a million take to come")
    func linear() {
        var queue = Queue(0..<1_000_000)
        var sum = 0
        // With an array this would move half a million million times.
        while let next = queue.popFirst() { sum += next }
        #expect(sum == 499_999_500_000 && queue.isEmpty)
    }
}

/// The same numbers for the same seed.
private struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        let mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        return mixed ^ mixed >> 31
    }
}
