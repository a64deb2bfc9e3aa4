import ArgumentParser
import Foundation
import Parley

struct FilesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "files",
        abstract: "list, fetch, open and save files of messages",
        discussion: """
            `parley send CONVERSATION --file FILE` sends one. Files of up to 16 MB are fetched \
            automatically, larger ones when you ask for them; `parley files room` changes that, \
            and how much space they may take. They are encrypted like messages, and nothing is \
            ever opened or run automatically.

            Example:
              parley send trip "the hut" --file hut.jpg
              parley files list trip
              parley files save 12
            """,
        subcommands: [
            FilesList.self, FilesGet.self, FilesOpen.self, FilesSave.self, FilesPlay.self,
            FilesForget.self, FilesRoom.self, FilesWhy.self,
        ],
        defaultSubcommand: FilesList.self)
}

struct FilesList: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "list the messages that have files",
        discussion: """
            The newest comes first. Without a conversation, those of all are listed.

            Example:
              parley files list trip --limit 20
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person; all without it")
    var conversation: String?
    @Option(name: .long, help: "how many messages, at most \(FileView.countMax)")
    var limit = 50
    @Option(name: .long, help: "continue where the previous list ended")
    var from: String?

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
        guard (1...FileView.countMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(FileView.countMax).")
        }
    }

    func run(with node: any NodeService) async throws {
        let page = try await node.perform(
            ListFiles(conversation: conversation, limit: limit, from: from))
        try Output.show(page, json: output.json, as: Self.text(page, isOfAll: conversation == nil))
        guard !output.json else { return }
        if page.entries.isEmpty { World.current.say("no message has a file") }
        if let next = page.next {
            World.current.say("there are more: the same command with --from \(next)")
        }
    }

    private static func text(_ page: FileList, isOfAll: Bool) -> String {
        guard isOfAll else { return MessageLines.text(page.entries.map(\.message)) }
        return page.entries.map { entry in
            let title = World.current.output.styled(harmless(entry.place), .strong)
            return title + "\n" + MessageLines.text([entry.message])
        }.joined(separator: "\n")
    }
}

struct FilesGet: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "fetch the files of a message, and wait for them",
        discussion: """
            A transfer continues where it stopped, even after restarts of both sides. If you \
            interrupt the command, the files still arrive as soon as somebody who has them is \
            reached. With --json it reports progress, one object per line, and ends with the \
            message.

            Example:
              parley files get 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Flag(name: .long, help: "do not wait for them")
    var later = false

    func run(with node: any NodeService) async throws {
        if !later {
            try await FileArrival.wait(
                for: message.reference, nil, on: node, json: output.json)
        }
        let view = try await node.perform(FetchFiles(message: message.reference))
        try Output.show(view, json: output.json, as: MessageLines.text([view]))
    }
}

struct FilesSave: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "write a file of a message into a folder",
        discussion: """
            Without a path, the file is saved in the current folder. Nothing is ever overwritten: \
            if the folder has a file of that name already, the new one gets a number. Anything \
            harmful is removed from its name first.

            Example:
              parley files save 12
              parley files save 12 --number 2 ~/Pictures/hut.jpg
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Argument(help: "a folder, or the file to write")
    var path: String?
    @Option(name: .long, help: "which of its files, from 1")
    var number: Int?
    @Flag(name: .long, help: "its small preview picture")
    var preview = false

    func validate() throws {
        if let path { try Check.file(path) }
        if let number, number < 1 { throw ValidationError("--number counts from 1.") }
    }

    func run(with node: any NodeService) async throws {
        let saved = try await node.perform(
            SaveFile(
                message: message.reference, number: number, path: absolutePath(path ?? "."),
                isPreview: preview ? true : nil))
        try Output.show(
            saved, json: output.json,
            as: "saved \(harmless(saved.path)) (\(FileLines.size(saved.size)))")
    }
}

struct FilesWhy: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "explain why a file is not here, and who may have it",
        discussion: """
            Example:
              parley files why 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Option(name: .long, help: "which of its files, from 1")
    var number: Int?

    func run(with node: any NodeService) async throws {
        let lines = try await node.perform(
            ExplainFile(message: message.reference, number: number))
        let told = lines.map { Advice.complete(harmless($0)) }
        try Output.show(lines, json: output.json, as: told.joined(separator: "\n"))
    }
}

/// Files that a message is to bring: sealed by the node before it is sent.
enum FileStaging {
    /// Has a node seal files, and waits for it.
    ///
    /// - Returns: the tickets that name them.
    static func stage(
        _ requests: [StageFile], on node: any NodeService, json: Bool
    ) async throws -> [String] {
        var (tickets, notes): ([String], [String]) = ([], [])
        let progress = FileProgress(json: json)
        defer { progress.end() }
        for (place, request) in requests.enumerated() {
            var file = try await node.perform(request)
            while true {
                if let failure = file.failure { throw failure }
                try progress.show(
                    "sealing", file.name, file.sealedByteCount, of: file.size, at: place)
                if file.isReady { break }
                let shown = file
                try await Task.sleep(for: .milliseconds(shown.sealedByteCount == 0 ? 10 : 100))
                file = try await node.perform(GetStagedFile(ticket: file.ticket))
            }
            tickets.append(file.ticket)
            if let note = file.note, !notes.contains(note) { notes.append(note) }
        }
        progress.end()
        for note in notes { World.current.say(harmless(note)) }
        return tickets
    }
}
