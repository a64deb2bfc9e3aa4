import ArgumentParser
import Parley
import ParleyLocalAPI

struct ChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "read and write conversations on the whole terminal",
        discussion: """
            Shows your conversations, the messages of one, and a field to write in; side by side \
            if the terminal has \(ChatGeometry.wideColumnCount) columns, else one at a time. The \
            last line names the most useful keys, F1 shows them all, Ctrl-Q quits. What you saw is \
            marked as read, drafts are kept on all of your devices, and others see when you type.

            Enter sends, Alt-Enter begins a new line. ↑ leaves the field and chooses a message: r \
            answers, + reacts, e edits, d deletes for everyone, t shows the thread, s saves its \
            files. Ctrl-K goes to a conversation and Ctrl-F finds messages as you type; n goes to \
            the next hit. /file PATH sends a file. Pictures are shown by name and size.

            Example:
              parley chat trip
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the conversation, or the person; without it, the list of all")
    var conversation: String?
    @Flag(name: .long, help: "vi keys while you write: Escape enters normal mode, i returns")
    var vi = false
    @Flag(
        name: .long,
        help:
            "the wheel scrolls and a click chooses; to select text for another program, hold Shift")
    var mouse = false

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
    }

    func run() async throws {
        let end = try await World.current.lend(place) { access in
            var found: ConversationView?
            if let conversation {
                found = try await access.node.perform(GetConversation(conversation: conversation))
            }
            let terminal = try ChatTerminal(hasMouse: mouse)
            defer { terminal.giveBack() }
            var session = ChatSession(access.node, isVi: vi, on: terminal)
            return try await answering(for: access) {
                try await session.run(found, isRunning: access.isRunning)
            }
        }
        try await end.settle(in: place)
    }

    /// Does something, and answers other commands meanwhile where this process is the node: they
    /// would find the home in use for as long as the person stays.
    private func answering<R: Sendable>(
        for access: World.Access, _ body: () async throws -> R
    ) async throws -> R {
        guard !access.isRunning else { return try await body() }
        // Without a socket, others wait in vain and are told which process has the home.
        let server = try? await LocalServer.start(node: access.node, home: place.path)
        do {
            let result = try await body()
            await server?.stop()
            return result
        } catch {
            await server?.stop()
            throw error
        }
    }
}
