import ArgumentParser
import Parley
import ParleyWire

struct NoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note",
        abstract: "notes: texts that you write together",
        discussion: """
            Everybody in the conversation can edit a note, also at the same time and offline: what \
            each person wrote is kept, and all end up with the same text. `parley note edit` opens \
            one in your editor.

            Example:
              parley note new trip "what to bring" "a stove"
              parley note edit 12
            """,
        subcommands: [
            NoteNew.self, NoteList.self, NoteShow.self, NoteWrite.self, NoteEditCommand.self,
            NoteRename.self, NoteHistoryCommand.self, NoteRestore.self, NoteDelete.self,
        ])
}

struct NoteNew: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "create a note",
        discussion: """
            You can give its text now, or write it later.

            Example:
              parley note new trip "what to bring" "a stove"
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Argument(help: "its title")
    var title: String
    @Argument(help: "its first text")
    var text: String?

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        try NoteRename.check(title)
    }

    func run(with node: any NodeService) async throws {
        let note = try await node.perform(
            CreateNote(
                conversation: conversation, title: title, text: text.map(NoteWrite.asLines)))
        try Output.show(note, json: output.json, as: NoteLines.text([note]))
    }
}

struct NoteList: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "list notes, the last edited first",
        discussion: """
            Lists those of all conversations, or of one.

            Example:
              parley note list trip
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "only this conversation")
    var conversation: String?

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
    }

    func run(with node: any NodeService) async throws {
        let notes = try await node.perform(ListNotes(conversation: conversation))
        try Output.show(notes, json: output.json, as: NoteLines.text(notes))
        if output.json { return }
        if notes.isEmpty { World.current.say("no notes") }
        try await Conversations.sayWhatIsLacking(in: conversation, on: node)
    }
}

struct NoteShow: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "show the text of a note",
        discussion: """
            --after shows the text as it was after an edit that `parley note history` lists. \
            Characters that could harm a terminal are shown as signs; --json has the text as it is.

            Example:
              parley note show 12
              parley note show 12 --after 34
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its number, or its identifier")
    var note: MessageArgument
    @Option(name: .long, help: ArgumentHelp("the edit", valueName: "edit"))
    var after: MessageArgument?

    func run(with node: any NodeService) async throws {
        let shown = try await node.perform(
            GetNote(note: note.reference, after: after?.reference))
        try Self.show(shown, output)
        if after == nil, !output.json { try await sayWhatIsNotInIt(shown.note, on: node) }
    }

    /// The text is what all have: where the words of the person are that nobody took.
    private func sayWhatIsNotInIt(_ shown: NoteView, on node: any NodeService) async throws {
        let isUntaken = shown.waiting.contains {
            $0.change == "edit" && WaitingMarks.notTaken($0.state) != nil
        }
        guard isUntaken else { return }
        // An older one stands in the history all the same.
        let edit = try await node.perform(
            GetNoteHistory(note: note.reference, limit: NoteHistoryCommand.limitMax)
        ).first { $0.untaken != nil }
        guard let edit else { return }
        World.current.advise(
            "nobody took what you wrote in it last: `parley note show \(note.reference) --after "
                + "\(edit.number)` shows the text that you had")
    }

    /// The text is data, and its title is a message to the person.
    static func show(_ shown: NoteTextView, _ output: OutputOptions) throws {
        if !output.json { World.current.say(NoteLines.text([shown.note])) }
        try Output.show(shown, json: output.json, as: NoteLines.text(shown))
        if shown.text.isEmpty, !output.json { World.current.say("the note is empty") }
    }
}

struct NoteWrite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "replace the text of a note, or add to it",
        discussion: """
            Without a text, standard input is the text. Lines that stay the same are not touched, \
            so what others change in them meanwhile stays as well. --append adds lines at the end; \
            an empty text empties the note, and its history stays.

            Example:
              parley note write 12 --append "a tent"
              parley note write 12 < list.txt
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its number, or its identifier")
    var note: MessageArgument
    @Argument(help: "the text; without it, standard input")
    var text: String?
    @Flag(name: .long, help: "add it at the end")
    var append = false

    /// A text as whole lines: of these two people can change one each.
    static func asLines(_ text: String) -> String {
        text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
    }

    func run() async throws {
        let text: String
        if let argument = self.text {
            text = Self.asLines(argument)
        } else {
            if World.current.isInputTerminal {
                World.current.say("Write, then end with Ctrl-D on a line of its own")
            }
            let input = try Editor.text(World.current.readInput(Editor.byteCountMax))
            // A script whose input failed must not empty what everybody wrote.
            guard !input.isEmpty else {
                throw NodeError(
                    "empty", "There is nothing to write.",
                    hint: "`parley note write \(note.reference) \"\"` empties the note.")
            }
            text = Self.asLines(input)
        }
        try await World.current.lend(place) { access in
            try NoteShow.show(try await write(text, with: access.node), output)
        }
    }

    private func write(_ text: String, with node: any NodeService) async throws -> NoteTextView {
        guard append else {
            return try await node.perform(WriteNote(note: note.reference, text: text))
        }
        let shown = try await node.perform(GetNote(note: note.reference))
        let begins = shown.text.isEmpty || shown.text.hasSuffix("\n")
        return try await node.perform(
            ChangeNote(
                note: note.reference,
                edits: [
                    NoteEdit(
                        position: shown.text.unicodeScalars.count,
                        text: (begins ? "" : "\n") + text)
                ], version: shown.version))
    }
}

struct NoteEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "edit a note in your editor",
        discussion: """
            The editor is the one that VISUAL or EDITOR names, else vi. When it ends, your changes \
            become edits of the text that you started from; what others wrote meanwhile stays.

            Example:
              EDITOR=nano parley note edit 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its number, or its identifier")
    var note: MessageArgument

    func run() async throws {
        // Nothing is held open while somebody thinks: others may use the home meanwhile.
        let shown = try await World.current.lend(place) {
            try await $0.node.perform(GetNote(note: note.reference))
        }
        let file = try Editor.File(holding: shown.text)
        let text: String
        do {
            text = try file.edit()
        } catch {
            file.end()
            throw error
        }
        guard text != shown.text else {
            file.remove()
            if output.json { World.current.write(try Output.json(shown)) }
            return World.current.say("nothing was changed")
        }
        do {
            let written = try await World.current.lend(place) {
                try await $0.node.perform(
                    WriteNote(note: note.reference, text: text, version: shown.version))
            }
            file.remove()
            try NoteShow.show(written, output)
        } catch let error as NodeError {
            file.end()
            throw error
        }
    }
}

struct NoteRename: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "rename a note",
        discussion: """
            Everybody sees it under its new title.

            Example:
              parley note rename 12 "what to bring along"
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its number, or its identifier")
    var note: MessageArgument
    @Argument(help: "its title")
    var title: String

    static func check(_ title: String) throws {
        try Check.text(title, "the title", max: Limits.noteTitleByteCountMax)
    }

    func validate() throws { try Self.check(title) }

    func run(with node: any NodeService) async throws {
        let shown = try await node.perform(RenameNote(note: note.reference, title: title))
        try Output.show(shown, json: output.json, as: NoteLines.text([shown]))
    }
}

struct NoteHistoryCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "list the edits of a note, newest first",
        discussion: """
            Shows the number of each edit: with it, `parley note show --after` shows the text of \
            that time, and `parley note restore` brings it back. An edit of yours that nobody took, \
            because you had been removed or made a reader before it arrived, is marked: it is not \
            in the text, and --after shows the text that you had.

            Example:
              parley note history 12 --limit 5
            """)

    /// As many as are listed at once.
    static let limitMax = 1_000

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its number, or its identifier")
    var note: MessageArgument
    @Option(name: .long, help: "how many at most")
    var limit = 20
    @Option(
        name: .long, help: ArgumentHelp("only edits before this one", valueName: "edit"))
    var before: MessageArgument?

    func validate() throws {
        guard (1...Self.limitMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(Self.limitMax).")
        }
    }

    func run(with node: any NodeService) async throws {
        let steps = try await node.perform(
            GetNoteHistory(note: note.reference, before: before?.reference, limit: limit))
        try Output.show(steps, json: output.json, as: NoteLines.text(steps))
        if output.json { return }
        if steps.isEmpty { return World.current.say("nobody has written anything in it") }
        if steps.count == limit, let last = steps.last {
            World.current.advise(
                "there may be more: parley note history \(note.reference) --before \(last.number)")
        }
    }
}

struct NoteRestore: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "bring back the text that a note had after an edit",
        discussion: """
            What was written since stays in the history, and can be brought back too.

            Example:
              parley note restore 12 34
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the note: its number, or its identifier")
    var note: MessageArgument
    @Argument(help: "the edit, as `parley note history` lists it")
    var edit: MessageArgument

    func run(with node: any NodeService) async throws {
        let shown = try await node.perform(
            RestoreNote(note: note.reference, after: edit.reference))
        try NoteShow.show(shown, output)
    }
}

struct NoteDelete: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "delete a note for everyone, with its history",
        discussion: """
            Its author may do that, and in a group also an admin. It cannot be undone.

            Example:
              parley note delete 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its number, or its identifier")
    var note: MessageArgument

    func run(with node: any NodeService) async throws {
        let gone = try await node.perform(DeleteNote(note: note.reference))
        try Output.show(gone, json: output.json, as: "")
        if !output.json { World.current.say("deleted: \(harmless(gone.title))") }
    }
}
