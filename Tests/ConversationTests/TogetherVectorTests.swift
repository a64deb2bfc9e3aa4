import Foundation
import ParleyLedger
import ParleyWire
import Testing

@testable import ParleyConversation

/// What people do together, as another program wrote it. Source: Protocol/Vectors/operation/valid.json.
@Suite("Vectors of what is done together")
struct TogetherVectorTests {
    private struct File: Decodable {
        struct Vector: Decodable {
            let kind: UInt64
            let payload: String?
            let why: String
        }
        let vectors: [Vector]
    }

    private func payloads(of kind: UInt64) throws -> [[UInt8]] {
        let url = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Protocol/Vectors/operation/valid.json")
        let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
        return try file.vectors.filter { $0.kind == kind }.map { vector in
            try #require(bytes(hex: vector.payload ?? ""), "\(vector.why)")
        }
    }

    @Test("polls, votes and closes are read as they were written, and written as they are read")
    func polls() throws {
        let question = PollQuestion(
            question: "when?", options: ["Friday", "Saturday"], isMultiple: true,
            until: 1_700_000_600_000)
        let asked = try payloads(of: 96)
        #expect(asked.map { PollQuestion(payload: $0) } == [question])
        #expect(question.draft().payload == asked.first)
        let votes = try payloads(of: 97)
        #expect(votes.map { PollChoices(payload: $0)?.places } == [[0, 1], []])
        let closes = try payloads(of: 98).map { PollClose(payload: $0)?.votes }
        let counted = try #require(closes.first??.first)
        #expect(closes == [[counted], []])
        #expect(counted.choices.places == [0, 1] && counted.operation.sequence == 1)
        for (bytes, choices) in zip(votes, [PollChoices([0, 1]), PollChoices([])]) {
            #expect(choices.draft(in: counted.operation).payload == bytes)
        }
        #expect(
            try payloads(of: 98).first == PollClose([counted]).draft(of: counted.operation).payload)
        #expect(try payloads(of: 99) == [[8, 1]])
    }

    @Test("what is to be done and its changes likewise")
    func items() throws {
        let person = try #require(PersonID([UInt8](repeating: 1, count: 32)))
        let item = ItemBeginning(
            title: "book it", assignees: [person], due: 20_000, notes: "soon")
        let begun = try payloads(of: 100)
        #expect(begun.map { ItemBeginning(payload: $0) } == [item])
        #expect(item.draft().payload == begun.first)
        let changes: [ItemChange] = [
            .title("book the hut"), .due(nil), .done(true), .assignee(person, false),
        ]
        let written = try payloads(of: 101)
        #expect(written.map { ItemChange(payload: $0) } == changes)
        let any = OperationReference(tag: LogTag(1), sequence: 0, check: Check(high: 0, low: 0))
        #expect(changes.map { $0.draft(of: any).payload } == written)
    }

    @Test("notes, their edits and titles likewise")
    func notes() throws {
        let any = OperationReference(tag: LogTag(1), sequence: 0, check: Check(high: 0, low: 0))
        let begun = try payloads(of: 120)
        #expect(begun.map { NoteTitle(payload: $0) } == [NoteTitle("list")])
        #expect(NoteTitle("list").draft().payload == begun.first)
        let edits = NoteEdits(
            NoteEdits(at: 0, inserting: "milk\n").edits
                + NoteEdits(at: 4, inserting: " \u{E9}").edits
                + NoteEdits(at: 300, deleting: 2).edits)
        let written = try payloads(of: 121)
        #expect(written.map { NoteEdits(payload: $0) } == [edits, NoteEdits([])])
        let drafts = [edits, NoteEdits([])].map { $0.draft(of: any, after: []) }
        #expect(drafts.compactMap(\.payload) == written)
        let title = NoteTitle("shopping").draft(of: any)
        #expect(try payloads(of: 122) == [title].compactMap(\.payload))
    }

    @Test("what is decided, who approves and how it stands likewise")
    func decisions() throws {
        let proposal = DecisionProposal(
            title: "we take the train", text: "The bus is full.", tags: ["travel", "money"])
        let proposed = try payloads(of: 102)
        #expect(proposed.map { DecisionProposal(payload: $0) } == [proposal])
        #expect(proposal.draft().payload == proposed.first)
        let any = OperationReference(tag: LogTag(1), sequence: 0, check: Check(high: 0, low: 0))
        let approvals = try payloads(of: 103)
        #expect(approvals.map { Approval.isOn(payload: $0) } == [true, false])
        #expect([true, false].map { Approval.draft(of: any, isOn: $0).payload } == approvals)
        let settlings = try payloads(of: 104)
        #expect(settlings.map { Settling.state(payload: $0) } == [.accepted, .superseded])
        let words = [Settling(.accepted), Settling(.superseded, by: any)]
        #expect(words.map { $0.draft(of: any).payload } == settlings)
    }
}
