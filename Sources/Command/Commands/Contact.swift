import ArgumentParser
import Parley

struct ContactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contact",
        abstract: "send and answer contact requests, verify people, block them",
        discussion: """
            An invite makes two people contacts at once. Without one, a person sends a contact \
            request to the owner of a card, and waits: `parley contacts` shows who waits for your \
            answer.

            Example:
              parley contact accept ben
            """,
        subcommands: [
            CardCommand.self, ContactRequest.self, ContactAccept.self, ContactDecline.self,
            ContactBlock.self, ContactUnblock.self, ContactVerify.self, ContactAlias.self,
        ])
}

struct CardCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "card",
        abstract: "show your card: whoever has it can send you a contact request",
        discussion: """
            It names your devices, their keys and their addresses, and holds no secret: publish it \
            where people look for you. You decide about each request. It is long, so its QR code \
            needs a wide window.

            Example:
              parley contact card
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var qr: QROptions

    func run(with node: any NodeService) async throws {
        let card = try await node.perform(GetCard())
        if !output.json { qr.show(card.text) }
        try Output.show(card, json: output.json, as: card.text)
    }
}

struct ContactRequest: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "send somebody a contact request",
        discussion: """
            Takes the card that they show with `parley contact card`. They receive the request as \
            soon as one of you reaches the other. If their card names a relay, you can write to \
            them at once, and they read it when they accept. You are told if they accept, but not \
            if they decline. --alias sets your own name for the person. If `parley contacts` says that it \
            is no longer known whether somebody is your contact, give their name in place of the \
            card.

            Example:
              parley contact request "$(cat card.txt)" --alias Ben
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the card")
    var card: String
    @Option(name: .long, help: "your own name for the person")
    var alias: String?

    func validate() throws {
        guard !card.isEmpty, card.utf8.count <= 32 * 1024 else {
            throw ValidationError("That is not a card.")
        }
        if let alias { try Check.name(alias, "an alias") }
    }

    func run(with node: any NodeService) async throws {
        let contact = try await node.perform(RequestContact(card: card, alias: alias))
        try Output.show(contact, json: output.json, as: Contacts.text([contact]))
        guard !output.json else { return }
        Contacts.warn(contact, isAlias: alias != nil)
        if contact.state == "requested", contact.isWritable {
            let name = harmless(contact.name)
            World.current.advise("You can write to \(name) now: they get it once they accept.")
        }
    }
}

/// The arguments of a command about one person.
struct PersonOptions: ParsableArguments {
    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "their name, or the start of their identifier")
    var person: String

    func validate() throws { try Check.name(person, "a name") }
}

/// A command that decides about one person.
protocol DecidingCommand: NodeCommand {
    static var decision: ContactDecision { get }
    var options: PersonOptions { get }
}

extension DecidingCommand {
    var place: HomeOptions { options.place }

    func run(with node: any NodeService) async throws {
        let contact = try await node.perform(
            AnswerContact(person: options.person, decision: Self.decision))
        try Output.show(contact, json: options.output.json, as: Contacts.text([contact]))
    }
}

struct ContactAccept: DecidingCommand {
    static let decision = ContactDecision.accept
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "accept a person's contact request",
        discussion: """
            The two of you get a conversation. You can also accept a request that you declined \
            before.

            Example:
              parley contact accept ben
            """)

    @OptionGroup var options: PersonOptions
}

struct ContactDecline: DecidingCommand {
    static let decision = ContactDecision.decline
    static let configuration = CommandConfiguration(
        commandName: "decline",
        abstract: "decline a person's contact request",
        discussion: """
            They are not told, and their further requests are not shown.

            Example:
              parley contact decline ben
            """)

    @OptionGroup var options: PersonOptions
}

struct ContactBlock: DecidingCommand {
    static let decision = ContactDecision.block
    static let configuration = CommandConfiguration(
        commandName: "block",
        abstract: "block a person",
        discussion: """
            Your devices do not connect to theirs. Your conversation stays readable, but you \
            cannot write in it; what they write there arrives only if you unblock them. Groups into \
            which they invite you are not shown. In groups that you share, what they write still \
            arrives through the others, and is hidden from you: messages, polls, action items, notes \
            and decisions. What they change of others' notes and items shows. They are not told.

            Example:
              parley contact block ben
            """)

    @OptionGroup var options: PersonOptions
}

struct ContactUnblock: DecidingCommand {
    static let decision = ContactDecision.unblock
    static let configuration = CommandConfiguration(
        commandName: "unblock",
        abstract: "unblock a person",
        discussion: """
            Everything is as it was before, and what they wrote meanwhile arrives.

            Example:
              parley contact unblock ben
            """)

    @OptionGroup var options: PersonOptions
}

struct ContactAlias: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "alias",
        abstract: "set your own name for a person",
        discussion: """
            It applies on all of your devices, and nobody else sees it. Without a name, the name \
            on their card is shown again.

            Example:
              parley contact alias ben "Ben from work"
            """)

    @OptionGroup var options: PersonOptions
    @Argument(help: "your own name for them; without it, the name on their card")
    var alias: String?

    var place: HomeOptions { options.place }

    func validate() throws {
        if let alias { try Check.name(alias, "an alias") }
    }

    func run(with node: any NodeService) async throws {
        let contact = try await node.perform(SetAlias(person: options.person, alias: alias))
        try Output.show(contact, json: options.output.json, as: Contacts.text([contact]))
        if !options.output.json { Contacts.warn(contact, isAlias: alias != nil) }
    }
}

struct ContactVerify: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "make sure that nobody is between you and a person",
        discussion: """
            Shows the safety number that you share. Compare it with the one that they see, by \
            voice or side by side. Equal numbers mean that nobody is between you; confirm that \
            with --equal. Or give --code the code that their `parley contact verify` shows for \
            you, and this node compares it.

            Example:
              parley contact verify ben --equal
            """)

    @OptionGroup var options: PersonOptions
    @OptionGroup var qr: QROptions
    @Flag(name: .long, help: "note that both of you see the same number")
    var equal = false
    @Option(name: .long, help: "the code on the other person's screen")
    var code: String?

    var place: HomeOptions { options.place }

    func validate() throws {
        guard !equal || code == nil else {
            throw ValidationError("--equal and --code exclude each other.")
        }
        if let code { try Check.name(code, "a code") }
    }

    func run(with node: any NodeService) async throws {
        let (person, isJSON) = (options.person, options.output.json)
        if equal { try await node.perform(MarkVerified(person: person)) }
        var number = try await node.perform(GetSafetyNumber(person: person))
        if let code { number = try await node.perform(VerifyContact(person: person, code: code)) }
        if !number.isVerified, !isJSON { qr.show(number.code) }
        try Output.show(number, json: isJSON, as: Self.text(number))
        if !number.isVerified, !isJSON {
            World.current.say(
                "not compared yet: add --equal once the numbers are equal, or give --code "
                    + "the code on their screen")
        }
    }

    /// Three lines of four groups, and the code.
    static func text(_ number: SafetyNumberView) -> String {
        let groups = number.number.split(separator: " ")
        let lines = stride(from: 0, to: groups.count, by: 4).map { start in
            groups[start..<min(start + 4, groups.count)].joined(separator: " ")
        }
        let state = number.isVerified ? "verified" : "not verified"
        return ([harmless(number.name) + ", " + state] + lines + [number.code])
            .joined(separator: "\n")
    }
}
