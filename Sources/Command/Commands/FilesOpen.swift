import ArgumentParser
import Foundation
import Parley

struct FilesOpen: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "open a file with its usual program on this machine",
        discussion: """
            Fetches the file if it is not here, writes a read-only copy for the other program, and \
            hands that to xdg-open. A file that could run as a program is not opened: save it, and \
            look at it first. The copy is not sealed. The running node removes it after a day, or \
            once the message is deleted or has disappeared; copies that fit lie in the folder of \
            your session ($XDG_RUNTIME_DIR), which ends with that.

            Example:
              parley files open 12
              parley files open 12 --number 2
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Option(name: .long, help: "which of its files, from 1")
    var number: Int?
    @Flag(name: .long, help: "only print where the copy is")
    var copy = false

    /// What `--json` says.
    private struct Opened: Encodable {
        /// Where the copy lies.
        var path: String
        /// How many bytes it has.
        var size: UInt64
        /// Whether a program was started with it.
        var isShown: Bool
    }

    func validate() throws {
        if let number, number < 1 { throw ValidationError("--number counts from 1.") }
    }

    func run(with node: any NodeService) async throws {
        try await FileArrival.wait(
            for: message.reference, number, on: node, json: output.json)
        let files = try await node.perform(ListMessageFiles(message: message.reference))
        let opened = OpenedFiles(World.current.environment)
        opened.removeOld()
        let folder = try await opened.folder(
            for: message.reference, of: node.perform(GetStatus()).device,
            byteCount: files.map(\.size).max() ?? 0)
        let saved = try await node.perform(
            SaveFile(message: message.reference, number: number, path: folder + "/"))
        try OpenedFiles.protect(saved.path)
        let isShown = try !copy && World.current.show(saved.path)
        let result = Opened(path: saved.path, size: saved.size, isShown: isShown)
        try Output.show(result, json: output.json, as: harmless(saved.path))
        if !isShown, !copy, !output.json {
            World.current.say(
                "no program can show it here: xdg-open is not installed, or there is no screen")
        }
    }
}

/// Waits for files of a message.
enum FileArrival {
    /// Asks for the files of a message, or one of them, where they are not here, and waits for them.
    static func wait(
        for message: MessageReference, _ number: Int?, on node: any NodeService, json: Bool
    ) async throws {
        var files = try await node.perform(ListMessageFiles(message: message))
        guard lacking(files, number) != nil else { return }
        files = try await node.perform(FetchFiles(message: message)).files
        let progress = FileProgress(json: json)
        defer { progress.end() }
        while let file = lacking(files, number) {
            if file.state == "full" { throw noRoom(file) }
            if file.state == "disk-full" { throw diskFull(file) }
            if !json, file.state == "waiting" {
                progress.say("waiting for somebody who has \(harmless(file.name))")
            } else {
                try progress.show(
                    "fetching", file.name, file.heldByteCount, of: file.size, at: file.number)
            }
            try await Task.sleep(for: .milliseconds(200))
            files = try await node.perform(ListMessageFiles(message: message))
            // Deleted for everybody meanwhile: its files are gone with it.
            if files.isEmpty { throw NodeError("deleted", "That message was deleted.") }
        }
        if json {
            for file in files where number == nil || file.number == number {
                try progress.show("fetching", file.name, file.size, of: file.size, at: file.number)
            }
        }
    }

    private static func lacking(_ files: [FileView], _ number: Int?) -> FileView? {
        files.first { $0.state != "here" && (number == nil || $0.number == number) }
    }

    private static func diskFull(_ file: FileView) -> NodeError {
        NodeError(
            "disk-full",
            "The disk has no space for \(harmless(file.name)) beside what is kept free for "
                + "messages.",
            hint: "Free some space. The node tries again every ten minutes, or when you ask.")
    }

    private static func noRoom(_ file: FileView) -> NodeError {
        NodeError(
            "no-room",
            "\(harmless(file.name)) does not fit into the space that files may take here.",
            hint: "`parley files room --limit 20G` gives them 20 GB, for example.")
    }
}
