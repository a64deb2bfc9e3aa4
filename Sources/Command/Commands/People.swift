import ArgumentParser
import Parley

struct Invite: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "make a link that lets one person reach you",
        discussion: """
            The link works once. Pass it on where nobody else reads it: whoever has it can become \
            your contact in that person's place. `parley verify` shows whether that happened.

            Example:
              parley invite --hours 2
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Option(name: .long, help: "how long the link works, 1 to 720")
    var hours = 48

    func validate() throws {
        guard (1...720).contains(hours) else { throw ValidationError("--hours is 1 to 720") }
    }

    func run(with node: any NodeService) async throws {
        let invite = try await node.invite(hours: hours)
        try Output.show(invite, json: output.json, as: invite.link)
        World.current.say("works once, until \(Clock().moment(invite.expires))")
    }
}

struct Accept: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "take an invite of somebody else",
        discussion: """
            The two nodes meet as soon as one can reach the other. --alias is what you call the \
            person; nobody else sees it.

            Example:
              parley accept "$(cat invite.txt)" --alias Ben
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the link")
    var link: String
    @Option(name: .long, help: "what you call the person")
    var alias: String?

    func validate() throws {
        guard !link.isEmpty, link.utf8.count <= 16 * 1024 else {
            throw ValidationError("this is no invite link")
        }
        if let alias { try Check.name(alias, "an alias") }
    }

    func run(with node: any NodeService) async throws {
        let contact = try await node.accept(link: link, alias: alias)
        try Output.show(contact, json: output.json, as: Contacts.text([contact]))
    }
}

struct Contacts: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "contacts",
        abstract: "list the people you know",
        discussion: """
            Shows whether they have answered your invite, whether you compared safety numbers, \
            and whether a link to them is open.

            Example:
              parley contacts
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let contacts = try await node.contacts()
        try Output.show(contacts, json: output.json, as: Self.text(contacts))
        if contacts.isEmpty, !output.json { World.current.say("nobody yet: parley invite") }
    }

    static func text(_ contacts: [ContactView]) -> String {
        Table(
            contacts.map { contact in
                [
                    contact.name, String(contact.person.prefix(8)), contact.state,
                    contact.isVerified ? "verified" : "not verified",
                    contact.isLinked ? "linked" : "not linked",
                    contact.addresses.joined(separator: ", "),
                ]
            }
        ).text
    }
}

struct Verify: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "show the safety number you share with a person",
        discussion: """
            Compare it with what they see, by voice or side by side. Equal numbers mean that \
            nobody stands between you; then say so with --equal.

            Example:
              parley verify ben --equal
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "their name, or the start of their identifier")
    var person: String
    @Flag(name: .long, help: "note that both of you see the same number")
    var equal = false

    func validate() throws { try Check.name(person, "a name") }

    func run(with node: any NodeService) async throws {
        if equal { try await node.markVerified(person: person) }
        let number = try await node.safetyNumber(person: person)
        try Output.show(number, json: output.json, as: Self.text(number))
        if !number.isVerified, !output.json {
            World.current.say("not compared yet: parley verify NAME --equal once it was")
        }
    }

    /// Three lines of four groups.
    static func text(_ number: SafetyNumberView) -> String {
        let groups = number.number.split(separator: " ")
        let lines = stride(from: 0, to: groups.count, by: 4).map { start in
            groups[start..<min(start + 4, groups.count)].joined(separator: " ")
        }
        let state = number.isVerified ? "verified" : "not verified"
        return ([harmless(number.name) + ", " + state] + lines).joined(separator: "\n")
    }
}
