import ParleyWire
import Testing

@testable import ParleySignalling

@Suite("Calls over a bad network")
struct CallChaosTests {
    /// People call, answer, decline, mute and hang up at random; signals are late, lost and out of
    /// order; devices go away and crash.
    @Test("nothing rings for ever, and no device talks with two devices of one person")
    func chaos() throws {
        var rings = 0
        var talks = 0
        for seed in UInt64(1)...150 {
            var stage = Stage(["a1", "a2", "b1", "b2", "c1", "d1", "e1"], seed: seed)
            var random = SeededRandom(seed: seed &* 77)
            stage.delay = 1...UInt64.random(in: 1...1_500, using: &random)
            stage.lossPercent = UInt64.random(in: 0...30, using: &random)
            for _ in 0..<60 {
                try step(&stage, &random)
                for name in stage.names { check(stage, name, seed) }
            }
            rings += stage.lines.filter { $0.order == .ring }.count
            talks += stage.lines.filter { $0.order == .established }.count
            stage.lossPercent = 0
            stage.away = []
            for name in stage.names {
                for call in stage.calls[name]?.all ?? [] { stage.act(name, .hangUp, call.id) }
            }
            stage.run(for: 2 * Call.ringTime)
            for name in stage.names {
                #expect(stage.phases(name).isEmpty, "seed \(seed), \(name)")
            }
        }
        // What is drawn has to come to something.
        #expect(rings > 300)
        #expect(talks > 100)
    }

    private func step(_ stage: inout Stage, _ random: inout SeededRandom) throws {
        let name = stage.names[Int.random(in: 0..<stage.names.count, using: &random)]
        let known = stage.calls[name]?.all ?? []
        let call = known.randomElement(using: &random)?.id
        switch (UInt64.random(in: 0..<12, using: &random), call) {
        case (0, nil), (1, nil):
            // What goes on there already, or is busy, is refused; that is tested elsewhere.
            _ = try? stage.call(name, named: random.next())
        case (0...4, let call?): stage.act(name, .answer(.microphone), call)
        case (5, let call?): stage.act(name, .decline, call)
        case (6, let call?): stage.act(name, .hangUp, call)
        case (7, let call?): stage.act(name, .setMedia(.camera), call)
        case (8, _): stage.crash(name)
        case (9, _): stage.away.formSymmetricDifference([name])
        default: stage.run(for: UInt64.random(in: 1...8_000, using: &random))
        }
    }

    private func check(_ stage: Stage, _ name: String, _ seed: UInt64) {
        let calls = stage.calls[name]?.all ?? []
        #expect(calls.count <= Calls.callCountMax)
        for call in calls {
            #expect(call.members.count <= Limits.callDeviceCountMax)
            let persons = call.legs.keys.compactMap { device in
                call.members.first { $0.device == device }?.person
            }
            #expect(Set(persons).count == call.legs.count, "seed \(seed), \(name)")
            if call.phase == .ringing {
                #expect(call.deadline ?? .max <= stage.now + Call.ringTime, "seed \(seed)")
            }
            // Nothing waits without an end, and no time that has passed is waited for.
            #expect(call.deadline ?? 0 >= stage.now, "seed \(seed), \(name) \(call.phase)")
            #expect(call.deadline != nil, "seed \(seed), \(name) \(call.phase)")
        }
        let current = calls.filter { [.calling, .joining, .talking].contains($0.phase) }
        #expect(current.count < 2, "seed \(seed), \(name)")
    }
}
