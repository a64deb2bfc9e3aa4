import ArgumentParser
import Foundation
import Parley
import ParleyWire

struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "man",
        abstract: "write the manual pages into a folder",
        discussion: """
            Writes a page for every command, one for the configuration, and a guide, into man1, \
            man5 and man7 of the folder; they are made from the program itself. Without a folder, \
            it lists them.

            Example:
              parley man ~/.local/share/man
              man parley-send
            """)

    @Argument(
        help: ArgumentHelp(
            "the folder to write into", valueName: "folder"), completion: .directory)
    var folder: String?

    func run() throws {
        let pages = try ManualPage.all()
        guard let folder else {
            World.current.write(pages.map(\.file).joined(separator: "\n"))
            return try World.current.checkOutput()
        }
        do {
            for page in pages {
                let section = page.file.last.map(String.init) ?? "1"
                let place = URL(fileURLWithPath: folder + "/man" + section)
                try FileManager.default.createDirectory(
                    at: place, withIntermediateDirectories: true)
                try Data(page.text.utf8).write(
                    to: place.appending(path: page.file), options: .atomic)
            }
        } catch {
            throw NodeError("not-written", "\(folder) cannot be written: \(error).")
        }
        World.current.say("wrote \(counted(pages.count, "page")) into \(harmless(folder))")
    }
}
