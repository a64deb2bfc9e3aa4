import ParleyConversation
import ParleyNodeCore
import ParleySignalling
import ParleyWire
import Testing

@testable import ParleyCheckers
@testable import ParleyLedger
@testable import ParleySimulation

extension CheckersCanFailTests {
    private static let call = CallID(Check(high: 1, low: 2))

    private func called(_ node: SimulatedNode, in space: SpaceID, _ world: World) throws -> CallID {
        guard case .call(let call) = try world.perform(.call(space, .microphone), on: node) else {
            throw CommandRefusal.unchanged
        }
        return call
    }

    @Test("NoCallRingsForEver: a shell that was told to ring is not told to stop")
    func ringsForEver() throws {
        let trial = try Trial(of: "I19")
        let ring = Calls.Output(call: Self.call, space: trial.trip, order: .ring)
        trial.world.onStep?(
            StepReport(
                node: trial.ben, input: .networkChanged, effects: [.call(ring)], isLost: false))
        trial.world.run(for: 60_000)
        try trial.jury.verify()
        trial.world.run(for: 60_000)
        trial.isBroken(isSettled: false)
    }

    @Test("OneDeviceAnswers: the host lets in two devices of one person")
    func twoDevices() throws {
        let trial = try Trial(of: "I20")
        let world = trial.world
        let space = try #require(try world.conversation(of: trial.ann, and: trial.ben))
        let phone = try world.addDevice("phone", of: trial.ben)
        world.run(for: 60_000)
        let call = try called(trial.ann, in: space, world)
        world.run(for: 2_000)
        _ = try world.perform(.act(call, .answer([])), on: trial.ben)
        world.run(for: 2_000)
        try trial.jury.verify()
        // Its list says so, and the telephone is answered as well.
        let all = [trial.ann, trial.ben, phone].map(\.identity.device).sorted()
        let list = Signal(
            space: space, stamp: Stamp(world.moment(of: trial.ann).wall << 16),
            body: .call(call, .members(all)))
        _ = try world.perform(.act(call, .answer([])), on: phone)
        let link = try #require(
            world.wires.keys.sorted().first { id in
                phone.connections[id] != nil && trial.ann.connections[id] != nil
            })
        world.offer(.frame(link, Frame.signal(list.encoded()).encoded()), to: phone.index)
        trial.isBroken(isSettled: false)
    }

    @Test("CallsEndAlike: somebody has lost the record of a call")
    func lostRecord() throws {
        let trial = try Trial(of: "I21")
        let call = try called(trial.ann, in: trial.trip, trial.world)
        trial.world.run(for: 2_000)
        _ = try trial.world.perform(.act(call, .hangUp), on: trial.ann)
        trial.world.run(for: 5_000)
        try trial.jury.verify(isSettled: true)
        try trial.meddle(with: trial.ann) { store, space in
            let entries = try store.entries(
                about: .space, in: space.number, field: EntryField(rawValue: 10))
            #expect(entries.count == 1)
            for entry in entries { try store.remove(entry) }
        }
        trial.isBroken()
    }

    @Test("NothingVolatileOnDisk: a description of a connection is kept")
    func keptDescription() throws {
        let trial = try Trial(of: "I22")
        let text = World.description(of: Self.call)
        let news = CallAct.news(trial.ben.identity.device, .offer(text))
        trial.world.onStep?(
            StepReport(
                node: trial.ann, input: .command(CommandID(1), .act(Self.call, news)),
                effects: [], isLost: false))
        try trial.jury.verify(isSettled: true)
        try trial.meddle(with: trial.ben) { store, _ in
            try store.setValue(Array("kept: \(text)".utf8), .profile, [1])
        }
        trial.isBroken()
    }
}
