import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

/// Ben was in a group, went and came back: of before nobody gives him anything any more, but one of his
/// devices was there.
@Suite("Own devices know the same: what was said before one went and came back")
struct EarlierHistoryTests {
    private func comeBack(_ village: Village, saying text: String) throws {
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        try village.perform(.leave(village.group), ben)
        world.run(for: 3_000)
        try village.type("without ben", ann)
        world.run(for: 3_000)
        try village.add(ben, by: ann)
        world.run(for: 10_000)
        try village.type(text, ben)
        try village.type("welcome", ann)
        world.run(for: 5_000)
    }

    private func talk(_ count: Int, _ village: Village) throws {
        for (index, node) in [village.ann, village.ben, village.cara].enumerated() {
            let texts = (0..<count).map { TextMessage(text: "\(node.name) \($0)") }
            try village.perform(.send(village.group, texts, replyingTo: nil), node)
            village.world.run(for: 100 * UInt64(index + 1))
        }
        village.world.run(for: 3_000)
    }

    @Test("a new device is given it by the one that holds it, in its order, and by nobody else")
    func given() throws {
        let village = try Village(seed: 931)
        let (world, ben, dora) = (village.world, village.ben, village.dora)
        // More than one answer holds, and more than one frame of each log.
        try talk(1_500, village)
        world.pass(days: 50)
        try talk(3, village)
        try comeBack(village, saying: "back")
        try village.remove(dora, by: village.ann)
        world.run(for: 3_000)
        try village.add(dora, by: village.ann)
        world.run(for: 3_000)
        let phone = try world.addDevice("phone", of: ben)
        world.run(for: 60_000)
        let held = try village.texts(ben)
        #expect(held.count == 4_511)
        #expect(try village.texts(phone) == held)
        #expect(!held.contains("without ben"))
        #expect(try phone.digest(of: village.group) == ben.digest(of: village.group))
        // What others may have is as before.
        let tablet = try world.addDevice("tablet", of: dora)
        world.run(for: 60_000)
        #expect(try village.texts(tablet).isEmpty)
        try village.type("from the phone", phone)
        world.run(for: 5_000)
        #expect(try village.texts(ben).last == "from the phone")
        #expect(try ben.store.forks().isEmpty)
    }

    @Test("twice, with holes between that nobody fills, and after the link was cut")
    func twice() throws {
        let village = try Village(seed: 932)
        let (world, ben) = (village.world, village.ben)
        try talk(40, village)
        try comeBack(village, saying: "back")
        try comeBack(village, saying: "back again")
        world.partition([ben], [village.ann, village.cara, village.dora])
        let phone = try world.addDevice("phone", of: ben)
        world.run(for: 100)
        world.cut(ben, phone)
        world.run(for: 200_000)
        village.settle()
        #expect(try village.texts(phone) == village.texts(ben))
        #expect(try village.texts(ben).count == 124)
        world.restart(phone)
        world.run(for: 60_000)
        #expect(try phone.digest(of: village.group) == ben.digest(of: village.group))
    }

    @Test("not to a device on which it was deleted")
    func deleted() throws {
        let village = try Village(seed: 933)
        let (world, ben) = (village.world, village.ben)
        try talk(5, village)
        let phone = try world.addDevice("phone", of: ben)
        world.run(for: 20_000)
        #expect(try village.texts(phone) == village.texts(ben))
        try village.type("seen by both", village.ann)
        world.run(for: 5_000)
        try village.perform(.leave(village.group), ben)
        world.run(for: 5_000)
        try village.perform(.deleteConversation(village.group), phone)
        world.run(for: 5_000)
        try village.add(ben, by: village.ann)
        world.run(for: 10_000)
        try village.type("welcome", village.ann)
        village.settle()
        #expect(try village.texts(ben).last == "welcome")
        #expect(try village.texts(phone) == ["welcome"])
    }
}
