import ParleyWire
import Testing

@testable import ParleySignalling

@Suite("Calls between devices")
struct CallStoryTests {
    @Test("two talk, whichever of them makes the offer", arguments: [["a1", "b1"], ["b1", "a1"]])
    func two(names: [String]) throws {
        var stage = Stage(names)
        let call = try stage.call(names[0])
        stage.run(for: 100)
        #expect(stage.ringing() == [names[1]])
        stage.act(names[1], .answer(.microphone), call)
        stage.run(for: 100)
        #expect(stage.talksTo(names[0]) == [names[1]])
        #expect(stage.talksTo(names[1]) == [names[0]])
        for name in names { #expect(stage.count(.established, at: name) == 1) }
        stage.act(names[0], .hangUp, call)
        stage.run(for: 100)
        let first = Cast.device(names[0]).person
        #expect(stage.ends(names[0]) == [.hungUp])
        #expect(stage.ends(names[1]) == [.hungUpBy(first)])
    }

    @Test("a ring reaches all devices of a person, and the first answer stops the others")
    func threeDevices() throws {
        var stage = Stage(["a1", "a2", "b1", "b2", "b3"])
        let call = try stage.call("a1")
        stage.run(for: 50)
        #expect(stage.ringing() == ["b1", "b2", "b3"])
        let answeredAt = stage.now
        stage.act("b2", .answer(.microphone), call)
        stage.run(for: 200)
        #expect(stage.ringing().isEmpty)
        #expect(stage.talksTo("a1") == ["b2"])
        for name in ["b1", "b3"] {
            let stop = stage.lines.first {
                $0.device == name && $0.order == .stopRinging(.answeredElsewhere)
            }
            #expect(try #require(stop).at == answeredAt + 5)
        }
        #expect(stage.count(.ring, at: "a2") == 0)
    }

    @Test("where two devices of one person answer at once, one is in and the other is told")
    func twoAnswers() throws {
        for seed in UInt64(1)...20 {
            var stage = Stage(["a1", "b1", "b2"], seed: seed)
            stage.delay = 5...60
            let call = try stage.call("a1")
            stage.run(for: 100)
            stage.act("b1", .answer(.microphone), call)
            stage.act("b2", .answer(.microphone), call)
            stage.run(for: 1_000)
            #expect(stage.talksTo("a1").count == 1)
            let winner = stage.talksTo("a1")[0]
            let loser = winner == "b1" ? "b2" : "b1"
            #expect(stage.ends(loser) == [.answeredElsewhere])
            #expect(stage.ends(winner).isEmpty)
        }
    }

    @Test("two that call each other at once talk, and nothing rings")
    func glare() throws {
        for (first, second) in [("a1", "b1"), ("b1", "a1")] {
            var stage = Stage(["a1", "b1", "b2", "a2"])
            try stage.call(first, named: 7)
            try stage.call(second, named: 3)
            stage.run(for: 500)
            #expect(stage.talksTo("a1") == ["b1"])
            #expect(stage.talksTo("b1") == ["a1"])
            for name in ["a1", "b1"] { #expect(stage.count(.ring, at: name) == 0) }
            #expect(stage.ends(first) == [.replaced])
            #expect(stage.ringing().isEmpty)
        }
    }

    @Test("Attack 160: in a group nobody takes a call over by one of a lesser name")
    func takeover() throws {
        var stage = Stage(["a1", "b1", "c1"])
        let call = try stage.call("a1", named: 7)
        let other = try stage.call("c1", named: 0)
        stage.run(for: 500)
        #expect(stage.talksTo("a1").isEmpty)
        #expect(stage.ends("a1").isEmpty)
        #expect(stage.phases("a1") == [.ringing, .calling])
        stage.act("b1", .answer(.microphone), call)
        stage.run(for: 500)
        #expect(stage.talksTo("a1") == ["b1"])
        // Who is in a call with somebody answers no other one.
        stage.act("a1", .answer(.microphone), other)
        stage.run(for: 500)
        #expect(stage.talksTo("a1") == ["b1"])
    }

    @Test("in a group whoever answers another's call gives up their own that nobody answered")
    func answersOther() throws {
        var stage = Stage(["a1", "b1", "c1"])
        try stage.call("a1", named: 7)
        let other = try stage.call("c1", named: 9)
        stage.run(for: 500)
        stage.act("a1", .answer(.microphone), other)
        stage.run(for: 500)
        #expect(stage.ends("a1") == [.replaced])
        #expect(stage.talksTo("a1") == ["c1"])
        #expect(stage.talksTo("c1") == ["a1"])
        #expect(stage.phases("b1") == [.ringing])
    }

    @Test("who does not answer rings for a minute, and then knows of a missed call")
    func unanswered() throws {
        var stage = Stage(["a1", "b1"])
        try stage.call("a1")
        stage.run(for: Call.ringTime - 1_000)
        #expect(stage.ringing() == ["b1"])
        stage.run(for: 2_000)
        #expect(stage.ringing().isEmpty)
        #expect(stage.ends("a1") == [.unanswered])
        #expect(stage.ends("b1").first == .missed)
    }

    @Test("a device that comes while it rings elsewhere rings for the rest of the minute")
    func comesLate() throws {
        var stage = Stage(["a1", "b1"])
        stage.away = ["b1"]
        try stage.call("a1")
        stage.run(for: 31_000)
        #expect(stage.ringing().isEmpty)
        stage.away = []
        stage.run(for: 5_000)
        #expect(stage.ringing() == ["b1"])
        stage.away = ["a1"]
        stage.run(for: 24_500)
        #expect(stage.ringing().isEmpty)
    }

    @Test("a person declines for all devices, and one that is busy speaks for itself")
    func refusals() throws {
        var stage = Stage(["a1", "b1", "b2"])
        let call = try stage.call("a1")
        stage.run(for: 50)
        stage.act("b1", .decline, call)
        stage.run(for: 50)
        #expect(stage.ringing().isEmpty)
        #expect(stage.ends("a1") == [.declinedBy(Cast.person("b"))])
        #expect(stage.ends("b2").first == .declinedElsewhere)
    }

    @Test("who calls in a group where a call goes on is told that, and comes into it by answering")
    func goesOn() throws {
        var stage = Stage(["a1", "b1", "c1"])
        let call = try stage.call("a1")
        stage.run(for: 50)
        stage.act("b1", .answer(.microphone), call)
        stage.run(for: 50)
        // A device that starts again knows nothing of it.
        stage.crash("c1")
        try stage.call("c1")
        stage.run(for: 6_000)
        #expect(stage.ringing() == ["c1"])
        #expect(stage.talksTo("a1") == ["b1"])
        stage.act("c1", .answer(.microphone), call)
        stage.run(for: 2_000)
        #expect(stage.talksTo("c1") == ["a1", "b1"])
        #expect(throws: Calls.Objection.inIt) { try stage.call("a1") }
    }

    @Test("a device in a call is busy for another conversation")
    func busy() throws {
        var calls = Calls()
        let own = Cast.device("b1")
        _ = try calls.begin(
            Cast.call, in: Cast.space, by: own, inviting: [Cast.person("a")], [], at: 0)
        let other = SpaceID { $0[0] = 8 }
        let outputs = calls.receive(
            .ring(.microphone, elapsed: 0), of: CallID(Check(high: 1, low: 1)), in: other, Stamp(1),
            from: .init(Cast.device("c1"), mayRing: true), to: own, at: 1)
        let busy = Call.Output.send(.reject(.busy), to: .device(Cast.device("c1").device))
        #expect(outputs.map(\.order) == [busy])

        var stage = Stage(["a1", "b1"])
        let call = try stage.call("a1")
        stage.run(for: 50)
        stage.act("b1", .mediaFailed, call)
        stage.run(for: Call.ringInterval)
        #expect(stage.ends("a1") == [.refusedBy(Cast.person("b"), .unable)])
    }

    @Test(
        "a device without a program stands aside, and the call goes on while another one rings",
        arguments: [false, true])
    func asideWithoutProgram(isAnswered: Bool) throws {
        var stage = Stage(["a1", "b1", "b2"])
        let call = try stage.call("a1")
        stage.run(for: 50)
        stage.act("b1", .mediaFailed, call)
        stage.run(for: 2 * Call.ringInterval)
        #expect(stage.ringing() == ["b2"] && stage.phases("a1") == [.calling])
        if isAnswered {
            stage.act("b2", .answer(.microphone), call)
            stage.run(for: 100)
            #expect(stage.talksTo("a1") == ["b2"])
        } else {
            stage.run(for: Call.ringTime)
            // It rang where it could be answered: that it cannot elsewhere is no reason.
            #expect(stage.ends("a1") == [.unanswered])
        }
    }

    @Test("where no device of a person has a program the caller waits no longer")
    func noProgramAtAll() throws {
        var stage = Stage(["a1", "b1", "b2"])
        let call = try stage.call("a1")
        stage.run(for: 50)
        for device in ["b2", "b1"] { stage.act(device, .mediaFailed, call) }
        stage.run(for: Call.ringInterval)
        #expect(stage.ends("a1") == [.refusedBy(Cast.person("b"), .unable)])
    }

    @Test("who hangs up before anybody answers is told so, and the others know of a missed call")
    func cancelled() throws {
        var stage = Stage(["a1", "b1"])
        let call = try stage.call("a1")
        stage.run(for: 500)
        stage.act("a1", .hangUp, call)
        stage.run(for: 50)
        #expect(stage.ringing().isEmpty)
        #expect(stage.ends("a1") == [.cancelled])
        #expect(stage.ends("b1") == [.missed, .missed])
        // A ring that was under way all the while is no new call.
        #expect(stage.count(.ring, at: "b1") == 1)
    }

    @Test("four talk, each with each; a fifth is told that it is full; two go, the host first")
    func four() throws {
        let names = ["a1", "b1", "c1", "d1", "e1"]
        var stage = Stage(names)
        let call = try stage.call("b1")
        stage.run(for: 50)
        for name in ["a1", "c1", "d1"] {
            stage.act(name, .answer(.microphone), call)
            stage.run(for: 100)
        }
        for name in names.prefix(4) {
            #expect(stage.talksTo(name) == names.prefix(4).filter { $0 != name })
        }
        stage.act("e1", .answer(.microphone), call)
        stage.run(for: 100)
        #expect(stage.ends("e1") == [.refused(.full)])
        stage.act("b1", .hangUp, call)
        stage.run(for: 100)
        #expect(stage.talksTo("d1") == ["a1", "c1"])
        stage.act("e1", .answer(.microphone), call)
        stage.run(for: 100)
        #expect(stage.talksTo("e1") == ["a1", "c1", "d1"])
        for name in ["a1", "c1", "e1"] { stage.act(name, .hangUp, call) }
        stage.run(for: 100)
        #expect(stage.ends("d1").count == 1)
        #expect(names.allSatisfy { stage.calls[$0]?.current == nil })
    }

    @Test("who leaves what others go on with comes back, the host too", arguments: ["b1", "c1"])
    func comesBack(name: String) throws {
        let names = ["a1", "b1", "c1"]
        let others = names.filter { $0 != name }
        var stage = Stage(names)
        let call = try stage.call("b1")
        stage.run(for: 50)
        for name in ["a1", "c1"] {
            stage.act(name, .answer(.microphone), call)
            stage.run(for: 100)
        }
        for _ in 0..<2 {
            stage.act(name, .hangUp, call)
            stage.run(for: 60_000)
            #expect(stage.calls[name]?[call]?.phase == .aside)
            #expect(stage.talksTo(name).isEmpty && stage.talksTo(others[0]) == [others[1]])
            stage.act(name, .answer(.microphone), call)
            stage.run(for: 60_000)
            for name in names { #expect(stage.talksTo(name) == names.filter { $0 != name }) }
        }
        stage.act(name, .hangUp, call)
        stage.run(for: 100)
        stage.act(others[0], .hangUp, call)
        stage.run(for: 100)
        #expect(names.allSatisfy { stage.calls[$0]?[call] == nil })
        #expect(stage.ends(name).allSatisfy { $0 == .hungUp })
    }

    @Test(
        "in a group the others ring on where the only one who came goes",
        arguments: [Call.Event.hangUp, .mediaFailed])
    func ringsOn(event: Call.Event) throws {
        var stage = Stage(["a1", "b1", "c1"])
        let call = try stage.call("a1")
        stage.run(for: 50)
        stage.act("b1", .answer(.microphone), call)
        stage.run(for: 3_000)
        #expect(stage.talksTo("a1") == ["b1"])
        stage.act("b1", event, call)
        stage.run(for: 3_000)
        #expect(stage.calls["a1"]?.current?.phase == .calling && stage.ringing() == ["c1"])
        stage.act("c1", .answer(.microphone), call)
        stage.run(for: 3_000)
        #expect(stage.talksTo("a1") == ["c1"] && stage.talksTo("b1").isEmpty)
        stage.act("c1", .hangUp, call)
        stage.run(for: 3_000)
        #expect(stage.calls["a1"]?.current == nil && stage.ringing().isEmpty)
    }

    @Test("whoever talked and went has not declined, though nobody else comes")
    func nobodyElse() throws {
        var stage = Stage(["a1", "b1", "c1"])
        let call = try stage.call("a1")
        stage.run(for: 50)
        stage.act("b1", .answer(.microphone), call)
        stage.run(for: 3_000)
        stage.act("b1", .hangUp, call)
        stage.run(for: 70_000)
        #expect(stage.ends("a1") == [.unanswered])
        #expect(stage.ends("c1") == [.missed])
    }

    @Test("a host that is gone without a word is missed, and another is host")
    func hostVanishes() throws {
        var stage = Stage(["a1", "b1", "c1"])
        let call = try stage.call("a1")
        stage.run(for: 50)
        for name in ["b1", "c1"] { stage.act(name, .answer(.microphone), call) }
        stage.run(for: 200)
        stage.away = ["a1"]
        for name in ["b1", "c1"] {
            stage.act(name, .news(Cast.device("a1").device, .disconnected), call)
        }
        stage.run(for: 60_000)
        #expect(stage.talksTo("b1") == ["c1"])
        #expect(stage.calls["b1"]?.current?.isHost == true)
        #expect(stage.calls["c1"]?.current?.members.map(\.device) == stage.memberDevices("b1"))
    }

    @Test("a call whose signals are lost goes on as long as sound comes through")
    func silentSignals() throws {
        var stage = Stage(["a1", "b1"])
        let call = try stage.call("a1")
        stage.run(for: 50)
        stage.act("b1", .answer(.microphone), call)
        stage.run(for: 200)
        stage.away = ["a1", "b1"]
        stage.run(for: 300_000)
        #expect(stage.talksTo("a1") == ["b1"])
        stage.act("a1", .news(Cast.device("b1").device, .disconnected), call)
        stage.act("b1", .news(Cast.device("a1").device, .disconnected), call)
        stage.run(for: 60_000)
        #expect(stage.ends("a1") == [.disconnected])
        #expect(stage.ends("b1") == [.disconnected])
    }

    @Test("ways are looked for anew where nothing comes through, and the call goes on")
    func restart() throws {
        var stage = Stage(["a1", "b1"])
        let call = try stage.call("a1")
        stage.run(for: 50)
        stage.act("b1", .answer(.microphone), call)
        stage.run(for: 200)
        let first = stage.calls["a1"]?.current?.legs.values.first?.offer
        stage.act("a1", .news(Cast.device("b1").device, .disconnected), call)
        stage.act("b1", .news(Cast.device("a1").device, .disconnected), call)
        stage.run(for: 5_000)
        #expect(stage.talksTo("a1") == ["b1"])
        #expect(stage.talksTo("b1") == ["a1"])
        #expect(first == 1)
        #expect((stage.calls["a1"]?.current?.legs.values.first?.offer ?? 0) > 1)
    }

    @Test("whoever is not accepted never rings, and neither does a call that is over")
    func neverRings() {
        var calls = Calls()
        let ring = CallSignal.ring(.microphone, elapsed: 0)
        let own = Cast.device("b1")
        let stranger = Calls.Sender(Cast.device("a1"), mayRing: false)
        #expect(
            calls.receive(
                ring, of: Cast.call, in: Cast.space, Stamp(1), from: stranger, to: own, at: 0
            ).isEmpty)
        #expect(calls.all.isEmpty)
        let friend = Calls.Sender(Cast.device("a1"), mayRing: true)
        let rung = calls.receive(
            ring, of: Cast.call, in: Cast.space, Stamp(1), from: friend, to: own, at: 0)
        #expect(rung.map(\.order).contains(.ring))
        _ = calls.receive(
            .leave(.hungUp), of: Cast.call, in: Cast.space, Stamp(2), from: friend, to: own, at: 1)
        #expect(calls.all.isEmpty)
        #expect(
            calls.receive(
                ring, of: Cast.call, in: Cast.space, Stamp(3), from: friend, to: own, at: 2
            ).isEmpty)
        #expect(Calls.answer(toStale: ring) == .reject(.stale))
        #expect(Calls.answer(toStale: .ringing) == nil)
    }
}

extension Stage {
    func memberDevices(_ name: String) -> [DeviceID]? {
        calls[name]?.current?.members.map(\.device)
    }
}
