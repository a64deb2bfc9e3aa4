import ArgumentParser
import Parley

struct ContactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contact",
        abstract: "ask people, answer them, check them, keep them away",
        discussion: """
            An invite makes two people contacts at once. Without one, a person asks with the other's \
            card, and waits: `parley contacts` shows who does.

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
        abstract: "show your card: who has it can ask to be your contact",
        discussion: """
            It names your devices, their keys and where they listen, and holds no secret: put it \
            where people look for you. You decide about each who asks. It is long: a picture of it \
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
        abstract: "ask a person to be your contact",
        discussion: """
            Takes the card that they show with `parley contact card`. They hear of it as soon as one \
            of you reaches the other, and take their time; a refusal is not told. --alias is what \
            you call the person. Somebody of whom nothing is noted any more, as `parley contacts` \
            says, is asked by their name.

            Example:
              parley contact request "$(cat card.txt)" --alias Ben
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the card")
    var card: String
    @Option(name: .long, help: "what you call the person")
    var alias: String?

    func validate() throws {
        guard !card.isEmpty, card.utf8.count <= 32 * 1024 else {
            throw ValidationError("this is no card")
        }
        if let alias { try Check.name(alias, "an alias") }
    }

    func run(with node: any NodeService) async throws {
        let contact = try await node.perform(RequestContact(card: card, alias: alias))
        try Output.show(contact, json: output.json, as: Contacts.text([contact]))
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
        abstract: "take up a person's request",
        discussion: """
            The two of you get a conversation. A request that you declined can be taken up as well.

            Example:
              parley contact accept ben
            """)

    @OptionGroup var options: PersonOptions
}

struct ContactDecline: DecidingCommand {
    static let decision = ContactDecision.decline
    static let configuration = CommandConfiguration(
        commandName: "decline",
        abstract: "let a person's request come to nothing",
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
        abstract: "keep a person away",
        discussion: """
            Your devices talk to none of theirs. What you wrote to each other stays readable, and \
            nothing can be written there; what they write there is not fetched, and comes if you \
            unblock them. In groups that you are both in, what they write still \
            comes by way of the others: leave, or have them removed. They are not told.

            Example:
              parley contact block ben
            """)

    @OptionGroup var options: PersonOptions
}

struct ContactUnblock: DecidingCommand {
    static let decision = ContactDecision.unblock
    static let configuration = CommandConfiguration(
        commandName: "unblock",
        abstract: "no longer keep a person away",
        discussion: """
            Things are as they were before; what was written meanwhile comes.

            Example:
              parley contact unblock ben
            """)

    @OptionGroup var options: PersonOptions
}

struct ContactAlias: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "alias",
        abstract: "say what you call a person",
        discussion: """
            It holds on all of your devices, and nobody else sees it. Without a name they are called \
            what their card says again.

            Example:
              parley contact alias ben "Ben from work"
            """)

    @OptionGroup var options: PersonOptions
    @Argument(help: "what you call them; none: the name on their card")
    var alias: String?

    var place: HomeOptions { options.place }

    func validate() throws {
        if let alias { try Check.name(alias, "an alias") }
    }

    func run(with node: any NodeService) async throws {
        let contact = try await node.perform(SetAlias(person: options.person, alias: alias))
        try Output.show(contact, json: options.output.json, as: Contacts.text([contact]))
        if !options.output.json {
            Contacts.warn([(contact.name, contact.person, contact.resembles)])
        }
    }
}

struct ContactVerify: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "make sure that nobody stands between you and a person",
        discussion: """
            Shows the safety number that you share. Compare it with what they see, by voice or side \
            by side; equal numbers mean that nobody stands between you; then say so with --equal. \
            Or take the code that their `parley contact verify` shows for you, and let this node \
            compare it with --code.

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
            throw ValidationError("--equal and --code are two ways to say it: use one")
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
                "not compared yet: once it was, add --equal; or give the other's code to --code")
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
