import ParleyWire
import Testing

@testable import ParleySignalling

@Suite("Legs: every event in every state")
struct LegTableTests {
    static let way = Candidate(text: "candidate:1", part: "0", index: 0)

    /// Events by name, for a leg whose last offer has this number.
    static func events(_ number: UInt64) -> [(name: String, event: Leg.Event)] {
        let old = number - min(number, 1)
        return [
            ("program: offer", .news(.offer("o"))),
            ("program: answer", .news(.answer("a"))),
            ("program: way", .news(.candidate(way))),
            ("program: wants offer", .news(.wantsOffer)),
            ("program: connected", .news(.connected)),
            ("program: disconnected", .news(.disconnected)),
            ("program: failed", .news(.failed)),
            ("heard: next offer", .received(.offer(number + 1, startsAnew: false, "o"))),
            ("heard: same offer", .received(.offer(number, startsAnew: false, "o"))),
            ("heard: answer", .received(.answer(number, "a"))),
            ("heard: stale answer", .received(.answer(old, "a"))),
            ("heard: way", .received(.candidate(number, way))),
            ("heard: early way", .received(.candidate(number + 1, way))),
            ("heard: stale way", .received(.candidate(old, way))),
            ("heard: renegotiate", .received(.renegotiate(startsAnew: false))),
            ("patience over", .patienceOver),
        ]
    }

    /// A leg in each state that one can be in, and how it came there.
    static func states() -> [(name: String, leg: Leg)] {
        let offer = Leg.Event.received(.offer(1, startsAnew: false, "o"))
        let answered: [Leg.Event] = [.news(.offer("o")), .received(.answer(1, "a"))]
        let answering: [Leg.Event] = [offer, .news(.answer("a"))]
        let up: [Leg.Event] = [.news(.connected)]
        let broken: [Leg.Event] = [.news(.connected), .news(.disconnected)]
        let late = [Leg.Event](repeating: .patienceOver, count: 4)
        let paths: [(String, Bool, [Leg.Event])] = [
            ("offerer, preparingOffer", true, []),
            ("offerer, offered", true, [.news(.offer("o"))]),
            ("offerer, described", true, answered),
            ("offerer, connected", true, answered + up),
            ("offerer, broken", true, answered + broken),
            ("offerer, failed", true, late),
            ("answerer, awaitingOffer", false, []),
            ("answerer, preparingAnswer", false, [offer]),
            ("answerer, described", false, answering),
            ("answerer, connected", false, answering + up),
            ("answerer, broken", false, answering + broken),
            ("answerer, failed", false, late),
        ]
        return paths.map { name, offers, events in
            var (leg, _) = Leg.begun(offers: offers, at: 0)
            for event in events { _ = leg.handle(event, at: 0) }
            return (name, leg)
        }
    }

    static func rows() -> [String] {
        states().flatMap { name, leg in
            events(leg.offer).map { title, event in
                var after = leg
                let outputs = after.handle(event, at: 100)
                return Table.row(name, title, after.phase.rawValue, outputs.map(\.words))
            }
        }
    }

    @Test("what a leg does is what the page says, for every event in every state")
    func table() throws {
        let rows = Self.rows()
        let expected = try Table.rows("legs.txt")
        #expect(rows.count == Self.states().count * Self.events(1).count)
        #expect(rows.count == expected.count)
        for (row, expected) in zip(rows, expected) { #expect(row == expected) }
    }

    @Test("the states of the table are all states that a leg has")
    func states() {
        for (name, leg) in Self.states() {
            #expect(name.hasSuffix(leg.phase.rawValue))
        }
        #expect(Set(Self.states().map(\.leg.phase)) == Set(Leg.Phase.allCases))
    }

    @Test("ways that come before the description wait for it, and no more than a bound of them")
    func early() {
        var (leg, _) = Leg.begun(offers: false, at: 0)
        for index in 0..<Leg.waitingCountMax + 5 {
            let way = Candidate(text: "\(index)", part: "0", index: 0)
            #expect(leg.handle(.received(.candidate(1, way)), at: 1).isEmpty)
        }
        let outputs = leg.handle(.received(.offer(1, startsAnew: false, "o")), at: 2)
        #expect(outputs.count == 1 + Leg.waitingCountMax)
        #expect(outputs[1] == .media(.add(Candidate(text: "5", part: "0", index: 0))))
    }

    @Test("an offer that is wanted while one is on its way is made after it")
    func wanted() {
        var (leg, _) = Leg.begun(offers: true, at: 0)
        _ = leg.handle(.news(.offer("o")), at: 1)
        #expect(leg.handle(.received(.renegotiate(startsAnew: true)), at: 2).isEmpty)
        let outputs = leg.handle(.received(.answer(1, "a")), at: 3)
        #expect(outputs == [.media(.take("a")), .media(.makeOffer(startsAnew: true))])
        #expect(leg.offer == 2)
    }

    @Test("ways are looked for anew a few times, and then the leg is given up")
    func renewal() {
        var (leg, _) = Leg.begun(offers: true, at: 0)
        var now: UInt64 = 0
        var outputs: [Leg.Output] = []
        for _ in 0..<20 {
            guard let deadline = leg.deadline else { break }
            now = deadline
            outputs += leg.handle(.patienceOver, at: now)
        }
        #expect(outputs.filter { $0 == .media(.makeOffer(startsAnew: true)) }.count == 3)
        #expect(outputs.suffix(2) == [.media(.close), .failed])
        #expect(now == 4 * Leg.patience)
    }

    @Test("while sound comes through, a talk that leads nowhere ends nothing")
    func patient() {
        var (leg, _) = Leg.begun(offers: true, at: 0)
        for event in [Leg.Event.news(.offer("o")), .received(.answer(1, "a")), .news(.connected)] {
            _ = leg.handle(event, at: 0)
        }
        _ = leg.handle(.news(.wantsOffer), at: 0)
        for _ in 0..<20 { _ = leg.handle(.patienceOver, at: leg.deadline ?? 0) }
        #expect(leg.phase == .preparingOffer)
    }
}
