import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyConversation

/// Source: Protocol/03-operations.md, "Polls".
@Suite("Polls beside forks")
struct PollForkTests {
    /// Dan chooses twice in one poll, at one place of his log: to cara he says the first, who closes the poll, and
    /// to somebody else the second. Once that is proven some hold one branch and some the other, and nobody
    /// can fetch what they lack of it.
    @Test("Attack 194: who answers twice at one place changes no result, on whichever branch")
    func forked() throws {
        let cast = try Cast(seed: 194)
        let question = PollQuestion(
            question: "when?", options: ["Friday", "Saturday", "Sunday"], isMultiple: false)
        let poll = try cast.cara.write(question.draft())
        try cast.meet()
        try cast.dan.write(PollChoices([2]).draft(in: poll))
        try cast.meet()
        let twin = Writer(key: cast.dan.key, replica: try cast.newReplica(seed: 8), seed: 9)
        try twin.catchUp(with: cast.all)
        let told = try cast.dan.write(PollChoices([0]).draft(in: poll))
        let other = try twin.write(PollChoices([1]).draft(in: poll))
        #expect(told.sequence == other.sequence && told.check != other.check)
        try cast.cara.catchUp(with: [cast.dan])
        let space = cast.cara.replica.space.number
        let close = try #require(
            try Overview.close(
                counting: poll, in: space, roster: cast.roster, store: cast.cara.replica.store))
        try cast.cara.write(close.draft(of: poll))

        func run(of writer: Writer) throws -> Run {
            try #require(
                try writer.logs().flatMap { $0 }.first {
                    $0.run.lane == .shared && $0.place == told.sequence
                }
            ).run
        }
        let proof = ForkProof(
            space: cast.space, left: try run(of: cast.dan), right: try run(of: twin))
        let evidence = ForkEvidence(stored: proof)
        let replicas = [cast.cara.replica, cast.dan.replica, twin.replica]
        for replica in replicas {
            let log = try #require(try replica.store.log(told.tag, in: space))
            try replica.store.begin(.normal)
            try replica.store.addFork(evidence, in: log.number)
            try replica.store.commit()
        }
        try twin.catchUp(with: [cast.cara])
        try cast.dan.catchUp(with: [cast.cara])
        for replica in replicas {
            let shown = try #require(
                try Overview.poll(
                    poll, in: space, roster: replica.roster, store: replica.store))
            #expect(shown.closing?.person == cast.cara.replica.person)
            #expect(shown.ballots.map(\.choices.places) == [[0]])
        }
    }
}
