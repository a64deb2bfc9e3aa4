import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyWire

/// A letter of a contact to the victim, as a relay brings it, and what makes it nobody's letter.
struct HostileMail {
    let letter: Input
    let blocking: Input

    /// The two part, and go on by a relay.
    init(in world: HostileWorld) throws {
        let (relay, victim, contact) = (BenchRelay(), world.victim, world.contact)
        let link = try victim.befriend(contact)
        let choice = RelayChoice(relay: relay.key, addresses: ["relay.example:7448"])
        let effects = try victim.step(.command(CommandID(7), .chooseRelays([choice])))
        try Mail(victim: victim, contact: contact, link: link).deliver(effects, [])
        try relay.serve(victim, effects)
        try relay.serve(victim, try victim.step(.linkClosed(link)))
        try relay.serve(contact, try contact.step(.linkClosed(link)))
        let welcome = relay.welcome(on: contact.day)
        try relay.serve(contact, try contact.step(.relay(relay.key, .opened(welcome))))
        let part = try CardReader.parts(of: victim.identity.person, victim.store).first
        guard let inbox = part?.mailboxes.first?.inbox, let last = relay.entries[inbox]?.last else {
            throw HostileWorldError(description: "no letter was put into the inbox")
        }
        letter = .relay(relay.key, .arrived(inbox, [last]))
        blocking = .command(CommandID(8), .answerContact(contact.identity.person, .block))
    }
}
