import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyConversation

/// Source: Protocol/03-operations.md, "Decisions".
@Suite("Decisions")
struct DecisionTests {
    private let cast: Cast
    private let train = DecisionProposal(
        title: "we take the train", text: "The bus is full.", tags: ["travel", "money", "travel"])

    init() throws { cast = try Cast(seed: 102) }

    private func decisions(_ replica: Replica) throws -> [Decision] {
        try Overview.decisions(
            in: replica.space.number, roster: replica.roster, store: replica.store)
    }

    private func decision(_ writer: Writer) throws -> Decision {
        try #require(try decisions(writer.replica).first)
    }

    /// All that was written comes to the same in any order, and folded anew.
    private func agree() throws {
        try cast.meet()
        let expected = try cast.ann.replica.digest()
        for writer in cast.all { #expect(try writer.replica.digest() == expected) }
        for order in 0..<4 as Range<UInt64> {
            let replica = try cast.newReplica(seed: order)
            try cast.deliverAll(to: replica, seed: order)
            #expect(try replica.digest() == expected, "order \(order)")
            try replica.rebuild()
            #expect(try replica.digest() == expected, "order \(order), folded anew")
        }
    }

    @Test("say what was proposed, who approves, and the last word on how they stand")
    func words() throws {
        let message = try cast.dan.say("the bus is full")
        let reference = try cast.cara.write(train.draft(from: message))
        try cast.meet()
        let first = try decision(cast.dan)
        #expect(first.reference == reference && first.source == message)
        #expect(first.author == cast.cara.replica.person && first.settledBy == nil)
        #expect(
            first.proposal.tags == ["money", "travel"] && first.settling == Settling(.proposed))
        for writer in [cast.ann, cast.ben, cast.dan] {
            try writer.write(Approval.draft(of: reference, isOn: true))
        }
        try cast.ben.write(Approval.draft(of: reference, isOn: false))
        try cast.meet()
        try cast.ann.write(Settling(.rejected).draft(of: reference))
        try cast.meet()
        try cast.cara.write(Settling(.accepted).draft(of: reference))
        try cast.meet()
        for writer in cast.all {
            let shown = try decision(writer)
            let approvers = [cast.ann, cast.dan].map(\.replica.person).sorted()
            #expect(shown.approvers == approvers && shown.settling == Settling(.accepted))
            #expect(shown.settledBy == cast.cara.replica.person)
        }
        try agree()
    }

    @Test("Attack 204: one person's approvals without end are one row, and the last word holds")
    func toggles() throws {
        let reference = try cast.ann.write(train.draft())
        try cast.meet()
        func drafts(_ range: Range<Int>) -> [Draft] {
            range.map { Approval.draft(of: reference, isOn: $0 % 3 > 0) }
        }
        let store = cast.dan.replica.store
        let (entries, calls) = (store.entryCount, store.callCount)
        // Each costs what the first did, so what a hundred thousand cost is known from a few.
        for draft in drafts(0..<300) { try cast.dan.write(draft) }
        #expect(store.entryCount - entries <= 300 * 3)
        #expect(store.callCount - calls <= 300 * 60)
        try cast.dan.write(Approval.draft(of: reference, isOn: true))
        try agree()
        for writer in cast.all {
            #expect(try decision(writer).approvers == [cast.dan.replica.person])
            let kept = try writer.replica.store.entries(
                about: .operation(reference.tag, reference.sequence),
                in: writer.replica.space.number, field: .approval)
            #expect(kept.count == 1)
        }
    }

    @Test("Attack 205: who neither proposed nor is an admin settles nothing; of two the last holds")
    func settling() throws {
        let reference = try cast.cara.write(train.draft())
        try cast.meet()
        try cast.dan.write(Settling(.accepted).draft(of: reference))
        try cast.dan.write(Withdrawal.draft(of: reference))
        try cast.meet()
        #expect(try decision(cast.ann).settledBy == nil)
        // Two who are apart settle it; the last in order is ben's, for his clock is ahead.
        cast.ben.wallClock += 60_000
        try cast.ben.write(Settling(.rejected).draft(of: reference))
        try cast.ann.write(Settling(.accepted).draft(of: reference))
        try agree()
        for writer in cast.all {
            #expect(try decision(writer).settling == Settling(.rejected))
            #expect(try decision(writer).settledBy == cast.ben.replica.person)
        }
        // Whoever saw that settles above it, whatever the clock says.
        try cast.ann.write(Settling(.accepted).draft(of: reference))
        try agree()
        #expect(try decision(cast.dan).settledBy == cast.ann.replica.person)
    }

    @Test("Attack 206: one that takes its own place, or that of none, says nothing")
    func itself() throws {
        let message = try cast.ann.say("hello")
        let reference = try cast.ann.write(train.draft())
        try cast.meet()
        let branch = OperationReference(
            tag: reference.tag, sequence: reference.sequence, check: message.check)
        for successor in [reference, branch, nil] {
            let word = Settling(.superseded, by: successor).draft(of: reference)
            try cast.ann.write(word)
        }
        try cast.ann.write(Settling(.accepted, by: message).draft(of: reference))
        try cast.meet()
        #expect(try decision(cast.dan).settledBy == nil)
        // What is no decision is named, and nothing else is said of it.
        try cast.ann.write(Settling(.superseded, by: message).draft(of: reference))
        try agree()
        #expect(try decision(cast.dan).settling == Settling(.superseded, by: message))
        // So is what nobody wrote. Others wait for that as for any cause, and then take the word.
        let invented = OperationReference(
            tag: reference.tag, sequence: reference.sequence + 900, check: message.check)
        try cast.ann.write(Settling(.superseded, by: invented).draft(of: reference))
        #expect(try decision(cast.ann).settling == Settling(.superseded, by: invented))
        #expect(try decisions(cast.ann.replica).count == 1)
    }

    @Test("Attack 207: words that make a circle are shown as they are, and end")
    func circle() throws {
        var all: [OperationReference] = []
        for number in 0..<12 {
            all.append(try cast.ann.write(DecisionProposal(title: "plan \(number)").draft()))
        }
        try cast.meet()
        let (space, store) = (cast.ben.replica.space.number, cast.ben.replica.store)
        for (one, other) in zip(all, all.dropFirst()) {
            let isCircle = try Overview.isCircle(one, by: other, in: space, store: store)
            #expect(!isCircle)
            try cast.ben.write(Settling(.superseded, by: other).draft(of: one))
        }
        let isClosed = try Overview.isCircle(all[11], by: all[0], in: space, store: store)
        #expect(isClosed)
        let isItself = try Overview.isCircle(all[3], by: all[3], in: space, store: store)
        #expect(isItself)
        try cast.ben.write(Settling(.superseded, by: all[0]).draft(of: all[11]))
        // A circle that does not lead back to what is asked about ends as well.
        let other = try cast.ben.write(DecisionProposal(title: "another").draft())
        let leads = try Overview.isCircle(other, by: all[4], in: space, store: store)
        #expect(!leads)
        try agree()
        let shown = try decisions(cast.dan.replica)
        #expect(shown.count == 13)
        #expect(shown.prefix(12).allSatisfy { $0.settling.state == .superseded })
        try cast.ann.write(Settling(.accepted).draft(of: all[0]))
        try agree()
        #expect(try decision(cast.dan).settling == Settling(.accepted))
    }

    @Test("Attack 208: what breaks a bound is no decision, and no word on one")
    func bounds() throws {
        let longest = String(repeating: "x", count: Limits.decisionTagByteCountMax)
        let whole = DecisionProposal(
            title: String(repeating: "x", count: Limits.decisionTitleByteCountMax),
            text: String(repeating: "x", count: Limits.decisionTextByteCountMax),
            tags: (0..<Limits.decisionTagCountMax - 1).map { "tag \($0)" } + [longest])
        #expect(whole.draft().payload.flatMap(DecisionProposal.init) == whole)
        func breaks(_ change: (inout DecisionProposal) -> Void) throws {
            var broken = whole
            change(&broken)
            #expect(broken.draft().payload.flatMap(DecisionProposal.init) == nil)
            try cast.ann.write(broken.draft())
        }
        try breaks { $0.title += "x" }
        try breaks { $0.title = "" }
        try breaks { $0.text += "x" }
        try breaks { $0.tags.append("y") }
        try breaks { $0.tags = [longest + "x"] }
        try breaks { $0.tags = [""] }
        try breaks { $0.tags = ["a", "a"] }
        try breaks { $0.tags = ["b", "a"] }
        try cast.meet()
        #expect(try decisions(cast.dan.replica).isEmpty)
        #expect(Settling.state(payload: [0x08, 0]) == nil && Settling.state(payload: []) == nil)
        #expect(
            Settling.state(payload: [0x08, 5]) == nil && Settling.state(payload: [0xff]) == nil)
        #expect(Approval.isOn(payload: [0xff]) == nil)
        let reference = try cast.ann.write(train.draft())
        for payload in [[0x08, 5], [0xff]] as [[UInt8]] {
            for kind in [OperationKind.settling, .approval] {
                try cast.ann.write(
                    Draft(kind: kind, lane: .shared, references: [reference], payload: payload))
            }
        }
        try cast.ann.write(Draft(kind: .settling, lane: .shared, payload: [0x08, 2]))
        try agree()
        let shown = try decision(cast.dan)
        #expect(shown.settledBy == nil && shown.approvers.isEmpty)
    }

    @Test("that are taken back are gone with all that was said of them, before or after they come")
    func withdrawing() throws {
        let reference = try cast.cara.write(train.draft())
        let other = try cast.ann.write(DecisionProposal(title: "stays").draft(from: reference))
        try cast.meet()
        try cast.dan.write(Approval.draft(of: reference, isOn: true))
        try cast.ann.write(Settling(.superseded, by: other).draft(of: reference))
        try cast.meet()
        try cast.ben.write(Withdrawal.draft(of: reference))
        try cast.dan.write(Approval.draft(of: reference, isOn: false))
        try cast.cara.write(Settling(.accepted).draft(of: reference))
        try agree()
        for writer in cast.all {
            let (space, store) = (writer.replica.space.number, writer.replica.store)
            #expect(try decisions(writer.replica).map(\.reference) == [other])
            let kept = try store.entries(
                about: .operation(reference.tag, reference.sequence), in: space, field: nil)
            #expect(kept.map(\.field) == [.withdrawal])
            let log = try #require(try store.log(reference.tag, in: space))
            let stored = try store.operation(at: reference.sequence, in: log.number)
            #expect(stored?.operation.payload == nil)
        }
    }

    @Test("are part of what members see alike, and the digest is as before where there are none")
    func digest() throws {
        try cast.ann.say("hello")
        try cast.meet()
        var digests = [try cast.dan.replica.digest()]
        let reference = try cast.ann.write(train.draft())
        for draft in [
            nil, Approval.draft(of: reference, isOn: true),
            Settling(.accepted).draft(of: reference),
        ] {
            if let draft { try cast.ann.write(draft) }
            try cast.meet()
            digests.append(try cast.dan.replica.digest())
        }
        #expect(Set(digests).count == 4)
        try cast.ann.write(Withdrawal.draft(of: reference))
        try cast.meet()
        #expect(try cast.dan.replica.digest() == digests[0])
    }

    @Test("are read in pages, and what members see alike are the last 1,024 of a conversation")
    func pages() throws {
        let count = Limits.decisionCountMax + 2
        try cast.dan.write((0..<count).map { DecisionProposal(title: "\($0)").draft() })
        let replica = cast.dan.replica
        let shown = try decisions(replica).map(\.proposal.title)
        #expect(shown == (2..<count).map { "\($0)" })
        var (titles, last): ([String], Entry?) = ([], nil)
        while true {
            let page = try replica.store.decisions(in: nil, before: last, limit: 100)
            for entry in page {
                let decision = try Overview.decision(
                    entry, roster: replica.roster, store: replica.store)
                titles.append(decision?.proposal.title ?? "")
            }
            last = page.last
            if page.count < 100 { break }
        }
        #expect(titles == (0..<count).reversed().map { "\($0)" })
    }
}
