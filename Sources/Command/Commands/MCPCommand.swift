import ArgumentParser
import Foundation
import Parley
import ParleyLocalAPI

struct MCPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract: "let a program with a language model read here (Model Context Protocol)",
        discussion: """
            A program that speaks the protocol starts this command, and talks to it through its \
            standard input and output. It can search, read, sum up and ask; with --allow draft it \
            can keep drafts, and with --allow send it can send messages as you. What it reads \
            leaves this device if its model runs elsewhere.

            What stands in messages is passed on as data. Nothing in them makes this command do \
            anything, but a model may take a message for an order: allow sending only if the \
            program asks you before it calls a tool.

            Example:
              parley mcp
              parley mcp --profile work --allow draft
            """)

    /// What can be allowed.
    enum Allowance: String, ExpressibleByArgument, CaseIterable {
        case draft, send

        var scope: MCPScope {
            switch self {
            case .draft: .draft
            case .send: .send
            }
        }
    }

    @OptionGroup var place: HomeOptions
    @Option(name: .long, help: "what the program may do beyond reading; may be given twice")
    var allow: [Allowance] = []

    func run() async throws {
        let world = World.current
        // What is wrong with the home is told now, not at the first call.
        try await world.lend(place) { _ = try await $0.node.perform(GetStatus()) }
        if world.isInputTerminal {
            world.say(
                "a program that speaks the Model Context Protocol starts this: Ctrl-D ends it")
        }
        let server = MCPServer(
            node: VisitedNode(place: place), allowing: Set(allow.map(\.scope)),
            version: Node.version, clean: harmlessLines, completeHint: Advice.complete,
            write: { world.write($0) })
        let input = InputLines()
        for await line in input.lines {
            await server.take(line)
            input.took()
            // Nobody reads any more.
            if world.output.failure() != nil { break }
        }
        await server.end()
    }
}

/// Lines of others as they may stand in a text that is shown.
private let harmlessLines: @Sendable (String) -> String = { text in
    text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { harmless(String($0)) }.joined(separator: "\n")
}

/// A node that is opened for each request, and for no longer: the running one, or else its home, which
/// others use meanwhile.
private struct VisitedNode: NodeService {
    let place: HomeOptions

    func perform<R: NodeRequest>(_ request: R) async throws -> R.Reply {
        try await World.current.lend(place) { access in
            // A cancelled request ends where the connection does.
            try await withTaskCancellationHandler {
                try await access.node.perform(request)
            } onCancel: {
                if access.isRunning { Task { await access.close() } }
            }
        }
    }

    func changes(after cursor: String?, seat: String?) async throws -> AsyncStream<ChangeView> {
        throw NodeError("no-changes", "Changes are not followed here.")
    }
}
