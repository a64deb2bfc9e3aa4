import ParleyConversation
import ParleyLedger
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// What a peer may cost. Source: `Protocol/06-sync.md`, "What a peer may cost".
@Suite("What is given to a peer")
struct AllowanceTests {
    private static let person = PersonID { _ in }

    private func verdict(
        _ allowances: inout Allowances, at now: UInt64
    ) -> Allowance.Verdict {
        allowances.take(0, for: Self.person, at: now)
    }

    @Test("Attack 68: is free as often as honest peers fetch it, and then paid for")
    func given() {
        var allowances = Allowances()
        let rate = Allowance.Rate.person(spaceCount: 0)
        allowances.give(60_000, to: Self.person, freely: 60_000, at: 0)
        #expect(allowances.given(to: Self.person) == 60_000)
        #expect(verdict(&allowances, at: 0) == .fine)
        // All that is given above that is worked off, at a tenth of a processor.
        let rest = Int(rate.burst * 4)
        #expect(FrameWork.serving(UInt64(rest)) == rate.burst)
        allowances.give(rest, to: Self.person, freely: 60_000, at: 0)
        #expect(verdict(&allowances, at: 0) == .over)
        #expect(verdict(&allowances, at: 1_000) == .fine)
        // Half an hour gives half of it back.
        allowances.give(30_000, to: Self.person, freely: 60_000, at: 1_800_000)
        #expect(allowances.given(to: Self.person) == 60_000)
        #expect(verdict(&allowances, at: 1_800_000) == .fine)
        allowances.give(rest, to: Self.person, freely: 60_000, at: 1_800_000)
        #expect(verdict(&allowances, at: 1_800_000) == .over)
    }

    @Test("Attack 68: counts, at the bounds of numbers as well")
    func bounds() {
        var allowances = Allowances()
        allowances.give(.max, to: Self.person, freely: .max, at: .max)
        allowances.give(.max, to: Self.person, freely: 0, at: 0)
        #expect(verdict(&allowances, at: 0) == .over)
    }

    @Test("Attack 68: is what went over a link")
    func counted() throws {
        let village = try Village(seed: 68, memberCount: 2)
        for count in 0..<20 { try village.type("line \(count)", village.ann) }
        village.world.run(for: 5_000)
        let ben = village.ben.identity.person
        #expect(village.ann.core.peers.allowances.given(to: ben) >= 20)
    }
}
