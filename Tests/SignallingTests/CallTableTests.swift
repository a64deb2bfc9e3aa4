import ParleyWire
import Testing

@testable import ParleySignalling

/// Ada's device `a1` began the call, Ben's is `b1`, and `b2` is another of Ben's; Cy's is `c1`.
@Suite("Calls: every event in every state")
struct CallTableTests {
    static func heard(
        _ signal: CallSignal, from name: String, _ known: [String] = [], stamp: UInt64 = 50
    ) -> Call.Event {
        .received(
            signal, from: Cast.device(name), Stamp(stamp), known: known.map(Cast.device))
    }

    static func members(_ names: String..., by host: String, stamp: UInt64 = 50) -> Call.Event {
        heard(
            .members(names.map { Cast.device($0).device }), from: host, names, stamp: stamp)
    }

    static let events: [(name: String, event: Call.Event)] = [
        ("answer", .answer(.microphone)),
        ("decline", .decline),
        ("hang up", .hangUp),
        ("mute", .setMedia([])),
        ("program: connected to c1", .news(Cast.device("c1").device, .connected)),
        ("program fails", .mediaFailed),
        ("a1: ring", heard(.ring(.microphone, elapsed: 5_000), from: "a1")),
        ("c1: ring", heard(.ring(.microphone, elapsed: 5_000), from: "c1")),
        ("c1: ringing", heard(.ringing, from: "c1")),
        ("d1: join", heard(.join(.microphone), from: "d1")),
        ("b2: join", heard(.join(.microphone), from: "b2")),
        ("c1: reject declined", heard(.reject(.declined), from: "c1")),
        ("c1: reject busy", heard(.reject(.busy), from: "c1")),
        ("b2: reject declined", heard(.reject(.declined), from: "b2")),
        ("a1: reject full", heard(.reject(.full), from: "a1")),
        ("a1: leave", heard(.leave(.hungUp), from: "a1")),
        ("c1: leave", heard(.leave(.hungUp), from: "c1")),
        ("a1: members a1 b1 c1 d1", members("a1", "b1", "c1", "d1", by: "a1")),
        ("a1: members a1 b2", members("a1", "b2", by: "a1")),
        ("a1: members a1", members("a1", by: "a1")),
        ("c1: members b1 c1", members("b1", "c1", by: "c1")),
        ("c1: state", heard(.state(.camera), from: "c1")),
        ("c1: offer 1", heard(.leg(.offer(1, startsAnew: false, "o")), from: "c1")),
        ("c is gone", .gone(Cast.person("c"))),
        ("a is gone", .gone(Cast.person("a"))),
        ("b is gone", .gone(Cast.person("b"))),
        ("replaced", .replaced),
        ("time passes", .due),
    ]

    static func rung() -> Call {
        Call.received(
            Cast.call, in: Cast.space, at: Cast.device("b1"), from: Cast.device("a1"), .microphone,
            elapsed: 0, at: 0
        ).0
    }

    static func begun() -> Call {
        Call.begun(
            Cast.call, in: Cast.space, by: Cast.device("a1"),
            inviting: ["b", "c"].map(Cast.person), .microphone, at: 0
        ).0
    }

    static func fed(_ call: Call, _ events: [Call.Event]) -> Call {
        var call = call
        for event in events { _ = call.handle(event, at: 10) }
        return call
    }

    /// A call in each state, and the moment at which time passes.
    static func states() -> [(name: String, call: Call, due: UInt64)] {
        let answered = [Call.Event.answer(.microphone)]
        let joined = answered + [members("a1", "b1", "c1", by: "a1", stamp: 9)]
        return [
            ("calling", begun(), Call.ringTime),
            ("ringing", rung(), Call.ringTime),
            ("joining", fed(rung(), answered), 10 + Call.joinTime),
            (
                "talking, as host", fed(begun(), [heard(.join([]), from: "c1")]),
                10 + Call.beatInterval
            ),
            ("talking, as guest", fed(rung(), joined), 10 + Call.beatInterval),
            ("aside", fed(rung(), [.decline]), 10 + Call.silenceMax),
            ("ended", fed(begun(), [.hangUp]), 100),
        ]
    }

    static func rows() -> [String] {
        states().flatMap { name, call, due in
            events.map { title, event in
                var after = call
                let outputs = after.handle(event, at: event == .due ? due : 100)
                return Table.row(name, title, after.phase.rawValue, outputs.map(\.words))
            }
        }
    }

    @Test("what a call does is what the page says, for every event in every state")
    func table() throws {
        let rows = Self.rows()
        let expected = try Table.rows("calls.txt")
        #expect(rows.count == Self.states().count * Self.events.count)
        #expect(rows.count == expected.count)
        for (row, expected) in zip(rows, expected) { #expect(row == expected) }
    }

    @Test("the states of the table are all states that a call has")
    func states() {
        for (name, call, _) in Self.states() { #expect(name.hasPrefix(call.phase.rawValue)) }
        #expect(Set(Self.states().map(\.call.phase)) == Set(Call.Phase.allCases))
    }

    @Test("every end has words for a person")
    func sentences() {
        let ben = Cast.person("b")
        let ends: [CallEnd] = [
            .hungUp, .hungUpBy(ben), .cancelled, .missed, .unanswered, .declinedBy(ben), .declined,
            .answeredElsewhere, .declinedElsewhere, .unreachable, .disconnected, .mediaFailed,
            .removed, .replaced,
        ]
        let refused = Refusal.allCases.flatMap { [CallEnd.refused($0), .refusedBy(ben, $0)] }
        let sentences = (ends + refused).map { $0.sentence { _ in "Ben" } }
        #expect(Set(sentences).count == sentences.count)
        #expect(CallEnd.refusedBy(ben, .busy).sentence { _ in "Ben" } == "Ben: in another call")
    }
}
