import Testing

@testable import Parley

@Suite("Guests through the pipes of a relay")
struct PipeGuestsTests {
    @Test("Attack 143: the oldest gives way once it had its time, to whoever calls then")
    func displaces() throws {
        var guests = PipeGuests()
        let silent = (0..<PipeGuests.countMax).map { guests.admit(at: 1_000 + UInt64($0)).ticket }
        #expect(!silent.contains(nil))
        let early = guests.admit(at: 2_999)
        #expect(early.ticket == nil && early.displaced == nil)
        let next = guests.admit(at: 3_000)
        #expect(next.ticket != nil && next.displaced == silent[0])
        #expect(guests.count == PipeGuests.countMax)
    }

    @Test("Attack 143: who comes and goes holds a place for as long as a silent one has it")
    func leaves() throws {
        var guests = PipeGuests()
        var first: PipeGuests.Ticket?
        for _ in 0..<PipeGuests.countMax {
            let ticket = try #require(guests.admit(at: 1_000).ticket)
            first = first ?? ticket
            guests.left(ticket)
        }
        #expect(guests.admit(at: 1_500).ticket == nil)
        // Then nobody has to give way for the next one.
        let next = guests.admit(at: 3_000)
        #expect(next.ticket != nil && next.displaced == nil && guests.count == 1)
    }

    @Test("who turns out to be known takes nobody's place, and gives way to nobody")
    func known() throws {
        var guests = PipeGuests()
        for _ in 0..<100 {
            let ticket = try #require(guests.admit(at: 1_000).ticket)
            guests.known(ticket)
            // What is told of it later changes nothing.
            guests.left(ticket)
        }
        #expect(guests.count == 0)
    }
}
