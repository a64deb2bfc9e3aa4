import ParleyConversation
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

@Suite("Clocks that are years off")
struct WrongClockTests {
    private static let tenYears: Int64 = 3653 * 86_400_000

    @Test(
        "Attack 55: clocks ten years ahead and behind change no state",
        arguments: [[0, 1], [0, -1], [1, -1], [-1, 1]] as [[Int64]])
    func tenYearsOff(signs: [Int64]) throws {
        let world = World(seed: 55)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        ann.clock.skew = signs[0] * Self.tenYears
        ben.clock.skew = signs[1] * Self.tenYears
        for count in 0..<6 {
            try world.type("ann \(count)", on: ann, in: space)
            world.run(for: 1_000)
            try world.type("ben \(count)", on: ben, in: space)
            world.run(for: 1_000)
        }
        // The clock goes right again in the middle, and another goes wrong.
        swap(&ann.clock.skew, &ben.clock.skew)
        world.restart(ann)
        try world.type("ann again", on: ann, in: space)
        try world.type("ben again", on: ben, in: space)
        world.run(for: 400_000)
        #expect(try ann.texts(in: space).sorted() == ben.texts(in: space).sorted())
        #expect(try ann.texts(in: space).count == 14)
        #expect(try ann.digest(of: space) == ben.digest(of: space))
    }
}
