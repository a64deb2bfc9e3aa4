import ParleyLedger
import ParleyWire
import Testing

@testable import ParleyConversation

/// Source: `Protocol/05-identity.md`, "Contacts".
@Suite("Contacts")
struct ContactTests {
    private let ben = PersonID { $0[0] = 1 }
    private let root = Digest { $0[0] = 2 }

    private func contact(_ state: ContactState, card: [UInt8] = [1]) -> Contact {
        Contact(person: ben, root: root, alias: "Ben", state: state, isVerified: true, card: card)
    }

    @Test("who asks is pending where the person said nothing of how far it came")
    func open() {
        let asking = Contact(person: ben, root: root, state: .pending, card: [2])
        #expect(Contact(said: nil, asking: nil) == nil)
        #expect(Contact(said: nil, asking: asking) == asking)
        #expect(Contact(said: contact(.none), asking: nil) == contact(.none))
        #expect(Contact(said: contact(.none), asking: asking) == contact(.pending, card: [2]))
    }

    @Test(
        "what the person decided holds, whatever a device notes that has not heard of it",
        arguments: [ContactState.requested, .accepted, .declined])
    func decided(state: ContactState) {
        let asking = Contact(person: ben, root: root, state: .pending, card: [2])
        #expect(Contact(said: contact(state), asking: asking) == contact(state))
    }

    @Test("that somebody asks stands in an entry of its own, and no person's word says it")
    func drafts() throws {
        let said = try #require(contact(.pending).draft().payload.flatMap(Contact.init))
        #expect(said == contact(.none) && said.entryField == .contact)
        let asking = try #require(
            Contact.askingDraft(ben, root: root, card: [2]).payload.flatMap(Contact.init))
        #expect(asking.state == .pending && asking.entryField == .asking)
    }
}
