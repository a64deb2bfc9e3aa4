import ArgumentParser
import Parley
import ParleyHTTPAPI

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "give programs access to your node over HTTP, or end it",
        discussion: """
            A node that runs with --http answers programs that present a token. A token allows \
            reading, writing or everything, in all conversations or in one. Its secret is shown \
            once; the node keeps only what it needs to recognize it.

            Example:
              parley token new lights --scope read
            """,
        subcommands: [TokenNew.self, TokenList.self, TokenRotate.self, TokenRevoke.self])
}

/// The scope of a token, as it is written.
enum ScopeWord: String, ExpressibleByArgument, CaseIterable {
    case read, write, admin

    var scope: RequestScope {
        switch self {
        case .read: .read
        case .write: .write
        case .admin: .admin
        }
    }
}

struct TokenNew: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "create a token, and show it this once",
        discussion: """
            read can look at everything, write can also send and change what you can, admin can do \
            all that you can: also with devices, relays, and files outside of the node. With \
            --conversation, the token is for that one only: there it reads or writes messages, \
            polls, notes, action items and decisions, and learns of nothing else.

            Example:
              parley token new lights --scope write --conversation home
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "what it allows")
    var scope: ScopeWord
    @Option(help: ArgumentHelp("the one conversation that it is for", valueName: "name"))
    var conversation: String?
    @Argument(help: "its name: letters, digits, dots, hyphens and underscores")
    var name: String

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
    }

    func run(with node: any NodeService) async throws {
        let fresh = try await node.perform(
            CreateToken(called: name, allows: scope.scope, conversation: conversation))
        try TokenLines.show(fresh, json: output.json)
    }
}

struct TokenList: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "show which tokens there are",
        discussion: """
            What they are called, what they allow, since when, and for which conversation.

            Example:
              parley token list
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let tokens = try await node.perform(ListTokens())
        let names = try await TokenLines.names(of: tokens, node)
        let rows = tokens.map { TokenLines.row($0, names) }
        try Output.show(tokens, json: output.json, as: Table(rows).text)
        if tokens.isEmpty, !output.json { World.current.say("there are no tokens") }
    }
}

struct TokenRotate: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "give a token a new secret, and show it this once",
        discussion: """
            The old secret ends at once, with everything that uses it.

            Example:
              parley token rotate lights
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its name")
    var name: String

    func run(with node: any NodeService) async throws {
        try TokenLines.show(
            try await node.perform(RotateToken(called: name)), json: output.json)
    }
}

struct TokenRevoke: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "revoke a token at once",
        discussion: """
            What uses it, such as a stream of events, ends as well.

            Example:
              parley token revoke lights
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its name")
    var name: String

    func run(with node: any NodeService) async throws {
        let reply = try await node.perform(RevokeToken(called: name))
        try Output.show(reply, json: output.json, as: "")
        if !output.json { World.current.say("\(harmless(name)) is revoked") }
    }
}

struct BotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bot",
        abstract: "let a program take part in one conversation",
        discussion: """
            Example:
              parley bot new lights --conversation home
            """,
        subcommands: [BotNew.self])
}

struct BotNew: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "create the token of a bot, which has access to one conversation only",
        discussion: """
            It reads and writes there and nowhere else, and changes neither the group nor who is \
            in it. Others see what it writes as written by you. Shows the token, this once, and \
            the conversation's identifier.

            Example:
              parley bot new lights --conversation home
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Option(help: ArgumentHelp("where it takes part", valueName: "name"))
    var conversation: String
    @Argument(help: "its name: letters, digits, dots, hyphens and underscores")
    var name: String

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        let fresh = try await node.perform(
            CreateToken(called: name, allows: .write, conversation: conversation))
        if !output.json, let id = fresh.view.conversation {
            World.current.say("it is in \(harmless(conversation)): \(id)")
        }
        try TokenLines.show(fresh, json: output.json)
        if !output.json { World.current.advise("parley run --http answers it") }
    }
}

/// The shown part of tokens.
enum TokenLines {
    /// A token that was just made: data is the token alone, so that a script can take it.
    static func show(_ fresh: FreshToken, json isJSON: Bool) throws {
        if !isJSON { World.current.say("this is shown once:") }
        try Output.show(fresh, json: isJSON, as: fresh.token)
    }

    /// Names of the conversations that tokens are for.
    static func names(
        of tokens: [TokenView], _ node: any NodeService
    ) async throws -> [String: String] {
        guard tokens.contains(where: { $0.conversation != nil }) else { return [:] }
        let all = try await node.perform(ListConversations())
        return Dictionary(all.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    }

    static func row(_ token: TokenView, _ names: [String: String]) -> [String] {
        let place = token.conversation.map { "in " + (names[$0] ?? String($0.prefix(8))) }
        return [
            token.name, token.scope.rawValue, "since " + Clock().moment(token.created),
            place ?? "everywhere",
        ]
    }
}
