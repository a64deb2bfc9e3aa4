import ParleyLedger
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

@Suite("The end of a control log")
struct ControlRoomTests {
    /// The device can write on, and leave; who is in the group others can change.
    @Test("a device that has written almost all it may changes nothing more, and says so")
    func fullLog() throws {
        let village = try Village(seed: 2_970, memberCount: 3)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        try village.perform(.setRole(village.group, ben.identity.person, .admin), ann)
        village.settle()
        let space = try #require(try ann.store.space(village.group))
        let name = OperationHash.log(
            space: space.id, device: ann.identity.device, lane: .control)
        let author = LogAuthor(
            key: ann.core.identity.key, space: space, authority: 0, wallClock: world.wall(of: ann))
        try ann.store.begin(.full)
        while try ann.store.log(LogTag(name), in: space.number)?.end ?? 0 < 3_800 {
            _ = try author.append(.acknowledgement, to: ann.store) { _ in [1] }
        }
        try ann.store.commit()
        world.restart(ann)
        let limit = Limits.controlOperationCountMax
        #expect(
            village.refusal(.setRole(village.group, ben.identity.person, .member), ann)
                == .tooManyChanges(limit: limit))
        try village.type("still here", ann)
        try village.type("and I", ben)
        try village.add(village.dora, by: ben)
        village.settle()
        try village.remove(village.dora, by: ann)
        village.settle()
        try village.perform(.leave(village.group, anyway: true), ann)
        village.settle()
        #expect(try village.texts(ben) == ["still here", "and I"])
        #expect(try village.texts(village.cara) == ["still here", "and I"])
        #expect(try village.members(ben) == ["ben", "cara"])
    }

    @Test(
        "Attack 348: answers make epochs ever more rarely, the longer a device's own log is",
        arguments: [(end: 3, epochCount: 20...31), (1_100, 6...11), (2_100, 0...2), (3_100, 0...0)])
    func answers(end: UInt64, epochCount: ClosedRange<Int>) throws {
        let village = try Village(seed: 2_971, memberCount: 2)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        village.settle()
        let space = try #require(try ann.store.space(village.group))
        let name = OperationHash.log(
            space: space.id, device: ann.identity.device, lane: .control)
        // Ben, who asks, makes no epochs for it.
        for (node, end) in [(ann, end), (ben, 3_100)] {
            let own = try #require(try node.store.space(village.group))
            let log = OperationHash.log(
                space: own.id, device: node.identity.device, lane: .control)
            let author = LogAuthor(
                key: node.core.identity.key, space: own, authority: 0,
                wallClock: world.wall(of: node))
            try node.store.begin(.full)
            while try node.store.log(LogTag(log), in: own.number)?.end ?? 0 < end {
                _ = try author.append(.acknowledgement, to: node.store) { _ in [1] }
            }
            try node.store.commit()
            world.restart(node)
        }
        village.settle()
        func ownEpochCount() throws -> Int {
            let log = try #require(try ann.store.log(LogTag(name), in: space.number))
            return try ann.store.operations(in: log.number, 0...UInt64.max, limit: .max)
                .count { $0.operation.header.kind == .epoch }
        }
        let before = try ownEpochCount()
        for round in 0..<30 {
            try village.type("question \(round)", ben)
            world.run(for: 5_000)
            try village.type("answer \(round)", ann)
            world.run(for: 1_195_000)
        }
        let made = try ownEpochCount() - before
        #expect(epochCount.contains(made), "\(made)")
        #expect(try village.texts(ben).count == 60)
    }

    @Test("Attack 347: faults are one an hour about a person, and a few a day about all")
    func faults() {
        var pace = FaultPace()
        let persons = (0..<12 as Range<UInt8>).map { byte in
            PersonID { bytes in for index in bytes.indices { bytes[index] = byte } }
        }
        #expect(pace.allows(about: persons[0], at: 0))
        pace.note(about: persons[0], at: 0)
        #expect(!pace.allows(about: persons[0], at: 3_599_999))
        #expect(pace.allows(about: persons[0], at: 3_600_000))
        for person in persons[1..<8] { pace.note(about: person, at: 1_000) }
        #expect(!pace.allows(about: persons[9], at: 86_399_999))
        #expect(pace.allows(about: persons[9], at: 86_400_000))
        #expect(!ControlPace.hasRoomForFault(at: 2_048))
        #expect(ControlPace.epochInterval(at: 3_072) == 3_600_000)
    }
}
