import ArgumentParser
import Foundation
import Parley

struct FilesOpen: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "open a file with its usual program on this machine",
        discussion: """
            Fetches the file if it is not here, writes a read-only copy into a cache folder, and \
            hands that to xdg-open. A file that could run as a program is not opened: save it, and \
            look at it first. Copies older than a day are removed when something is opened.

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
        let folder = try OpenedFiles.folder(World.current.environment)
        let saved = try await node.perform(
            SaveFile(message: message.reference, number: number, path: folder + "/"))
        try OpenedFiles.protect(saved.path)
        let isShown = try !copy && World.current.show(saved.path)
        let opened = Opened(path: saved.path, size: saved.size, isShown: isShown)
        try Output.show(opened, json: output.json, as: harmless(saved.path))
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

/// Copies of files that are shown by other programs.
enum OpenedFiles {
    /// After how many seconds a copy is removed.
    private static let ageMax: TimeInterval = 86_400
    /// Kinds of files that start something, by how their names end.
    private static let endings: Set<String> = [
        "accdb", "ade", "adp", "apk", "appimage", "application", "asx", "awk", "bash", "bat",
        "chm", "cmd", "com", "command", "cpl", "crx", "deb", "desktop", "dll", "dmg", "docm",
        "dotm", "elf", "eps", "exe", "fileloc", "fish", "flatpak", "flatpakref", "gadget", "hlp",
        "hta", "htm", "html", "ica", "inetloc", "ipa", "ipynb", "iqy", "iso", "jar", "jnlp", "js",
        "jse", "ksh", "library", "lnk", "lua", "m3u", "m3u8", "mht", "mhtml", "mjs", "msc", "msi",
        "msp", "nix", "php", "pif", "pkg", "pl", "pls", "potm", "ppam", "pptm", "ps", "ps1",
        "ps1xml", "psd1", "psm1", "py", "pyc", "pyw", "rb", "rdp", "reg", "rpm", "run", "scpt",
        "scr", "sct", "service", "settingcontent", "sh", "shtml", "slk", "snap", "so", "svg",
        "swf", "tcl", "torrent", "url", "vb", "vbe", "vbs", "vhd", "vhdx", "vnc", "webloc",
        "workflow", "wsc", "wsf", "wsh", "xht", "xhtml", "xlam", "xll", "xlsm", "xltm", "xpi",
        "xspf", "zsh",
    ]
    /// How files begin that start something: ELF, a script, Windows, Mach-O, Java.
    private static let beginnings: [[UInt8]] = [
        [0x7F, 0x45, 0x4C, 0x46], [0x23, 0x21], [0x4D, 0x5A], [0xCF, 0xFA, 0xED, 0xFE],
        [0xCE, 0xFA, 0xED, 0xFE], [0xCA, 0xFE, 0xBA, 0xBE],
    ]

    /// A new folder for one copy, that only the person may read.
    static func folder(_ environment: [String: String]) throws -> String {
        let home = environment["HOME"] ?? NSHomeDirectory()
        let stated = environment["XDG_CACHE_HOME"] ?? ""
        let cache = stated.hasPrefix("/") ? stated : home + "/.cache"
        let place = cache + "/parley/opened"
        let manager = FileManager.default
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        do {
            try manager.createDirectory(
                atPath: place, withIntermediateDirectories: true, attributes: mode)
            removeOld(in: place)
            let folder = place + "/" + UUID().uuidString.lowercased().prefix(8)
            try manager.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: mode)
            return folder
        } catch {
            throw NodeError("unwritable", "\(place) cannot be written.")
        }
    }

    private static func removeOld(in place: String) {
        let manager = FileManager.default
        // What cannot be listed or removed is tried again the next time.
        for name in (try? manager.contentsOfDirectory(atPath: place)) ?? [] {
            let path = place + "/" + name
            // As above.
            let made = (try? manager.attributesOfItem(atPath: path))?[.modificationDate] as? Date
            if let made, made.timeIntervalSinceNow < -ageMax {
                // As above.
                try? manager.removeItem(atPath: path)
            }
        }
    }

    /// Makes a copy one that can only be read, and refuses what could run: that is removed again.
    static func protect(_ path: String) throws {
        guard chmod(path, 0o400) == 0 else {
            throw NodeError("unwritable", "\(path) cannot be protected.")
        }
        guard let why = whyRefused(path) else { return }
        // A copy that stays harms nobody: it cannot be run as it is.
        try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
        throw NodeError(
            "runs", "That file was not opened: \(why).",
            hint: "`parley files save` writes it into a folder. Look at it first.")
    }

    /// Why a file is not handed to another program; nil where it is.
    static func whyRefused(_ path: String) -> String? {
        let ending = (path as NSString).pathExtension.lowercased()
        if endings.contains(ending) { return "a .\(ending) file may run as a program" }
        guard let file = FileHandle(forReadingAtPath: path),
            // What cannot be read is not handed on.
            let start = try? file.read(upToCount: 4096)
        else { return "it cannot be read" }
        if beginnings.contains(where: { start.starts(with: $0) }) { return "it is a program" }
        let text = String(decoding: start, as: UTF8.self).lowercased()
        if text.contains("[desktop entry]") { return "it starts a program" }
        let markup = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        let pages = ["<!doctype html", "<html", "<svg", "<script"]
        if markup.hasPrefix("<"), pages.contains(where: { markup.contains($0) }) {
            return "a page may run programs"
        }
        return nil
    }
}
