import ParleyLedger
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyConversation

/// Source: Protocol/03-operations.md, "Polls".
@Suite("Polls")
struct PollTests {
    private let cast: Cast
    private let question = PollQuestion(
        question: "when?", options: ["Friday", "Saturday", "Sunday"], isMultiple: false)

    init() throws { cast = try Cast(seed: 96) }

    private func polls(_ replica: Replica) throws -> [Poll] {
        try Overview.polls(
            in: replica.space.number, roster: replica.roster, store: replica.store)
    }

    /// The places that each of the four chose, and that count.
    private func chosen(_ replica: Replica) throws -> [[Int]] {
        let ballots = try polls(replica).first?.ballots ?? []
        return cast.all.map { writer in
            ballots.first { $0.person == writer.replica.person }?.choices.places ?? []
        }
    }

    private func close(_ poll: OperationReference, by writer: Writer) throws {
        let close = try #require(
            try Overview.close(
                counting: poll, in: writer.replica.space.number, roster: writer.replica.roster,
                store: writer.replica.store))
        try writer.write(close.draft(of: poll))
    }

    @Test("count the last that each person chose, and nothing takes it back")
    func voting() throws {
        let poll = try cast.cara.write(question.draft())
        try cast.meet()
        try cast.ann.write(PollChoices([0]).draft(in: poll))
        try cast.ben.write(PollChoices([1]).draft(in: poll))
        try cast.dan.write(PollChoices([1]).draft(in: poll))
        try cast.ann.write(PollChoices([2]).draft(in: poll))
        try cast.dan.write(PollChoices([]).draft(in: poll))
        try cast.meet()
        for writer in cast.all { #expect(try chosen(writer.replica) == [[2], [1], [], []]) }
        #expect(try polls(cast.dan.replica).first?.closing == nil)
    }

    @Test("take what cannot be chosen for nothing, and several only where several may be chosen")
    func fitting() throws {
        let one = try cast.ann.write(question.draft())
        try cast.meet()
        try cast.ben.write(PollChoices([0, 1]).draft(in: one))
        try cast.cara.write(PollChoices([19]).draft(in: one))
        try cast.dan.write(PollChoices([2]).draft(in: one))
        try cast.dan.write(PollChoices([3]).draft(in: one))
        try cast.meet()
        #expect(try chosen(cast.ann.replica) == [[], [], [], []])
        var several = question
        several.isMultiple = true
        let many = try cast.ann.write(several.draft())
        try cast.meet()
        try cast.ben.write(PollChoices([0, 2]).draft(in: many))
        try cast.meet()
        #expect(try polls(cast.dan.replica).last?.ballots.map(\.choices.places) == [[0, 2]])
    }

    @Test("Attack 190: what comes after a close, or before it and was not named, counts nothing")
    func late() throws {
        let poll = try cast.cara.write(question.draft())
        try cast.meet()
        try cast.ann.write(PollChoices([0]).draft(in: poll))
        try cast.meet()
        // Dan is apart: his clock is far behind, so what he chose stands before the close.
        cast.dan.wallClock -= 50_000_000
        try cast.dan.write(PollChoices([1]).draft(in: poll))
        try close(poll, by: cast.cara)
        let result = [[0], [], [], []]
        #expect(try chosen(cast.cara.replica) == result)
        try cast.ann.write(PollChoices([2]).draft(in: poll))
        try cast.meet()
        try cast.ben.write(PollChoices([2]).draft(in: poll))
        try cast.meet()
        for writer in cast.all {
            #expect(try chosen(writer.replica) == result)
            let shown = try #require(try polls(writer.replica).first)
            #expect(shown.closing?.person == cast.cara.replica.person)
            let uncounted = [cast.ann, cast.ben, cast.dan].map(\.replica.person).sorted()
            #expect(shown.uncounted == uncounted)
        }
    }

    @Test("Attack 191: only who asked and admins close, and the first close in order stands")
    func closing() throws {
        let poll = try cast.cara.write(question.draft())
        try cast.meet()
        try cast.ann.write(PollChoices([0]).draft(in: poll))
        try cast.meet()
        try close(poll, by: cast.dan)
        try cast.meet()
        #expect(try polls(cast.ann.replica).first?.closing == nil)
        // Two who are apart close it; the first in order is ben's, for cara's clock is ahead.
        cast.cara.wallClock += 60_000
        try cast.dan.write(PollChoices([1]).draft(in: poll))
        try cast.cara.catchUp(with: [cast.dan])
        try close(poll, by: cast.cara)
        try close(poll, by: cast.ben)
        #expect(try chosen(cast.cara.replica) == [[0], [], [], [1]])
        try cast.meet()
        for writer in cast.all {
            #expect(try chosen(writer.replica) == [[0], [], [], []])
            let shown = try #require(try polls(writer.replica).first)
            #expect(shown.closing?.person == cast.ben.replica.person)
            #expect(shown.uncounted == [cast.dan.replica.person])
        }
    }

    @Test("Attack 191: a close counts nothing that nobody wrote, and nobody twice")
    func lyingClose() throws {
        let poll = try cast.ann.write(question.draft())
        try cast.meet()
        let (first, second) = (
            try cast.dan.write(PollChoices([0]).draft(in: poll)),
            try cast.dan.write(PollChoices([1]).draft(in: poll))
        )
        try cast.meet()
        let invented = OperationReference(
            tag: second.tag, sequence: second.sequence + 40, check: second.check)
        let forged = OperationReference(
            tag: second.tag, sequence: second.sequence, check: Check(high: 1, low: 2))
        let all = PollChoices([2])
        let stranger = OperationReference(
            tag: LogTag(77), sequence: 0, check: Check(high: 1, low: 2))
        for votes in [[invented, stranger], [forged]] {
            try cast.ann.write(
                PollClose(votes.map { .init(operation: $0, choices: all) }).draft(of: poll))
        }
        try cast.meet()
        #expect(try chosen(cast.cara.replica) == [[], [], [], []])
        // Both of one log: the first in place counts, as the operation says and not the close.
        let other = try cast.ben.write(question.draft())
        try cast.meet()
        let votes = try [[0], [1]].map { try cast.dan.write(PollChoices($0).draft(in: other)) }
        try cast.meet()
        try cast.ben.write(
            PollClose(votes.map { .init(operation: $0, choices: all) }).draft(of: other))
        try cast.meet()
        #expect(try polls(cast.cara.replica).last?.ballots.map(\.choices.places) == [[0]])
        #expect(first.tag == second.tag)
    }

    @Test("Attack 191: a close whose bytes break a rule closes nothing")
    func brokenClose() throws {
        let poll = try cast.ann.write(question.draft())
        try cast.meet()
        let vote = PollClose.Vote(operation: poll, choices: PollChoices([1]))
        let whole = try #require(PollClose([vote]).draft(of: poll).payload)
        #expect(PollClose(payload: whole)?.votes == [vote])
        var broken = [Array(whole.dropLast()), whole + [0]]
        // The same vote twice, and a choice that no poll has.
        let bytes = whole.suffix(PollClose.voteByteCount)
        broken.append([0x08, 0x01, 0x12, 72] + bytes + bytes)
        broken.append([0x08, 0x01, 0x12, 36] + bytes.dropLast(4) + [0xff, 0, 0, 0])
        for payload in broken {
            #expect(PollClose(payload: payload) == nil)
            try cast.ann.write(
                Draft(kind: .pollClose, lane: .shared, references: [poll], payload: payload))
        }
        try cast.meet()
        #expect(try polls(cast.dan.replica).first?.closing == nil)
        let crowd = (0..<Limits.pollVoterCountMax + 3).map { number in
            PollClose.Vote(
                operation: OperationReference(
                    tag: LogTag(UInt64(number)), sequence: 1, check: poll.check),
                choices: PollChoices([0]))
        }
        let full = try #require(PollClose(crowd).draft(of: poll).payload)
        #expect(full.count < Limits.operationByteCountMax)
        #expect(PollClose(payload: full)?.votes.count == Limits.pollVoterCountMax)
    }

    @Test("Attack 192: of the votes of a device the first 64 by place may count, in any order")
    func stuffing() throws {
        let poll = try cast.ann.write(question.draft())
        try cast.meet()
        let votes = try (0..<90).map {
            try cast.dan.write(PollChoices([$0 % 3]).draft(in: poll))
        }
        try cast.meet()
        #expect(try chosen(cast.ann.replica) == [[], [], [], [63 % 3]])
        let kept = try Overview.voteCount(
            of: votes[0].tag, in: poll, cast.ann.replica.space.number,
            store: cast.ann.replica.store)
        #expect(kept == Limits.voteCountMax)
        try close(poll, by: cast.ann)
        try cast.meet()
        for order in 0..<4 as Range<UInt64> {
            let replica = try cast.newReplica(seed: order)
            try cast.deliverAll(to: replica, seed: order)
            #expect(try chosen(replica) == [[], [], [], [0]])
            #expect(try replica.digest() == cast.ann.replica.digest())
        }
    }

    @Test("Attack 193: options at their bounds: what breaks one is no poll")
    func bounds() throws {
        var asked = question
        let longest = String(repeating: "x", count: Limits.nameByteCountMax)
        asked.options = (1...20).map { "\($0)" }
        asked.options[19] = longest
        asked.question = String(repeating: "x", count: Limits.pollQuestionByteCountMax)
        asked.until = Limits.wallClockMax - 1
        let payload = try #require(asked.draft().payload)
        #expect(PollQuestion(payload: payload) == asked)
        func breaks(_ change: (inout PollQuestion) -> Void) throws {
            var broken = asked
            change(&broken)
            let payload = try #require(broken.draft().payload)
            #expect(PollQuestion(payload: payload) == nil)
            try cast.ann.write(broken.draft())
        }
        try breaks { $0.options.append("21") }
        try breaks { $0.options = ["alone"] }
        try breaks { $0.options[3] = longest + "x" }
        try breaks { $0.options[3] = "" }
        try breaks { $0.question = "" }
        try breaks { $0.question += "x" }
        try breaks { $0.until = Limits.wallClockMax }
        try cast.meet()
        #expect(try polls(cast.dan.replica).isEmpty)
        for payload in [[0x10, 0x14], [0x12, 2, 1, 1], [0x12, 2, 1, 0], [0xff]] as [[UInt8]] {
            #expect(PollChoices(payload: payload) == nil, "\(payload)")
        }
        #expect(PollChoices(payload: [0x08, 0x01]) == PollChoices([]))
        let chosen = PollChoices([2, 0]).draft(in: .none).payload
        #expect(chosen == [8, 1, 18, 2, 0, 2])
    }

    @Test("that are taken back are gone with all answers, before or after they come")
    func withdrawing() throws {
        let poll = try cast.cara.write(question.draft())
        let other = try cast.ann.write(question.draft())
        try cast.meet()
        let vote = try cast.dan.write(PollChoices([1]).draft(in: poll))
        try cast.meet()
        // Who did neither ask nor is an admin takes nothing back.
        try cast.dan.write(Withdrawal.draft(of: other))
        try cast.dan.write(Withdrawal.draft(of: poll))
        try cast.meet()
        #expect(try polls(cast.ben.replica).count == 2)
        try cast.ben.write(Withdrawal.draft(of: poll))
        try cast.cara.write(PollChoices([2]).draft(in: poll))
        try close(poll, by: cast.cara)
        try cast.meet()
        let expected = try cast.ann.replica.digest()
        var replicas = cast.all.map(\.replica)
        for order in 0..<6 as Range<UInt64> {
            let replica = try cast.newReplica(seed: order)
            try cast.deliverAll(to: replica, seed: order)
            replicas.append(replica)
        }
        for replica in replicas {
            #expect(try polls(replica).map(\.reference) == [other])
            for gone in [poll, vote] {
                let log = try #require(try replica.store.log(gone.tag, in: replica.space.number))
                let stored = try replica.store.operation(at: gone.sequence, in: log.number)
                #expect(stored?.operation.payload == nil)
            }
            #expect(try replica.digest() == expected)
            try replica.rebuild()
            #expect(try replica.digest() == expected)
        }
        // A withdrawal is of polls alone.
        let message = try cast.ann.say("stays")
        try cast.ann.write(Withdrawal.draft(of: message))
        try cast.ann.write(PollChoices([1]).draft(in: message))
        try cast.meet()
        #expect(try cast.dan.replica.texts() == ["stays"])
    }

    @Test("are part of what members see alike, and the digest is as before where nothing is asked")
    func digest() throws {
        try cast.ann.say("hello")
        try cast.meet()
        let before = try cast.dan.replica.digest()
        let poll = try cast.ann.write(question.draft())
        try cast.meet()
        let asked = try cast.dan.replica.digest()
        try cast.ben.write(PollChoices([1]).draft(in: poll))
        try cast.meet()
        let answered = try cast.dan.replica.digest()
        try close(poll, by: cast.ann)
        try cast.meet()
        let closed = try cast.dan.replica.digest()
        #expect(Set([before, asked, answered, closed]).count == 4)
        try cast.ann.write(Withdrawal.draft(of: poll))
        try cast.meet()
        #expect(try cast.dan.replica.digest() == before)
    }

    @Test("are the last 256 of a conversation")
    func shown() throws {
        var asked = question
        for number in 0..<Limits.pollCountMax + 2 {
            asked.question = "\(number)"
            try cast.dan.write(asked.draft())
        }
        try cast.meet()
        let shown = try polls(cast.ann.replica).map(\.question.question)
        #expect(shown == (2..<Limits.pollCountMax + 2).map { "\($0)" })
    }
}

extension OperationReference {
    fileprivate static let none = OperationReference(
        tag: LogTag(1), sequence: 0, check: Check(high: 0, low: 0))
}
