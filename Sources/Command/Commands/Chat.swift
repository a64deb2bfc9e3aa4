import ArgumentParser
import Parley

struct ChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "read and write on the whole terminal",
        discussion: """
            Your conversations, the messages of one, and what you write below them; beside each other \
            where there are \(ChatGeometry.wideColumnCount) columns, else one at a time. The lowest line names the \
            keys that matter, F1 shows them all, Ctrl-Q leaves. What you saw is marked as read, what you began to \
            write is kept on all of your devices, and others see that you type.

            Enter sends, Alt-Enter begins a new line. Above what you write, ↑ chooses a message: r answers, \
            + reacts, e edits, d deletes for everyone, t shows the thread, s saves its files. Ctrl-K goes to a \
            conversation and Ctrl-F finds messages, while you type; n goes to the next one that was found. \
            /file PATH sends a file. Pictures are shown by name and size.

            Example:
              parley chat trip
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the conversation, or the person; without it, the list of all")
    var conversation: String?
    @Flag(name: .long, help: "keys of vi where you write: escape leads to normal mode, i back")
    var vi = false
    @Flag(
        name: .long,
        help: "the wheel scrolls and a click chooses; to mark text for another program, hold Shift")
    var mouse = false

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
    }

    func run() async throws {
        try await World.current.lend(place) { access in
            var found: ConversationView?
            if let conversation {
                found = try await access.node.perform(GetConversation(conversation: conversation))
            }
            let terminal = try ChatTerminal(hasMouse: mouse)
            defer { terminal.giveBack() }
            var session = ChatSession(access.node, isVi: vi, on: terminal)
            try await session.run(found, isRunning: access.isRunning)
        }
    }
}
