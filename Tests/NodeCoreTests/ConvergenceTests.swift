import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

@Suite("Nodes converge")
struct ConvergenceTests {
    @Test("two people meet by an invite and talk")
    func talk() throws {
        let world = World(seed: 1)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        try world.type("are you there?", on: ann, in: space)
        world.run(for: 1_000)
        try world.type("hello!", on: ben, in: space)
        world.run(for: 1_000)
        #expect(try ann.texts(in: space) == ["are you there?", "hello!"])
        #expect(try ben.texts(in: space) == ann.texts(in: space))
        #expect(try ann.digest(of: space) == ben.digest(of: space))
        #expect(try ann.messages(in: space)[0].state == .delivered)
    }

    @Test("two who write apart have the same conversation once they meet again")
    func apart() throws {
        let world = World(seed: 2)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        world.partition([ann], [ben])
        for count in 0..<50 {
            try world.type("ann \(count)", on: ann, in: space)
            try world.type("ben \(count)", on: ben, in: space)
            world.run(for: 700)
        }
        #expect(try ann.texts(in: space).count == 50)
        #expect(try ann.messages(in: space).allSatisfy { $0.state == .saved })
        world.heal()
        world.run(for: 400_000)
        #expect(try ann.texts(in: space).count == 100)
        #expect(try ann.digest(of: space) == ben.digest(of: space))
    }
}
