import Foundation
import Parley

/// Copies of files that are shown by other programs: they are not sealed, and lie outside of the home.
struct OpenedFiles {
    /// After how many seconds a copy is removed.
    private static let ageMax: TimeInterval = 86_400
    /// How often a running node looks for copies to remove.
    private static let pause: Duration = .seconds(60)
    /// Which part of the room in the folder of a session one copy may take.
    private static let roomPart: UInt64 = 4
    /// Kinds of files that start something, by how their names end.
    private static let endings: Set<String> = [
        "accdb", "ade", "adp", "apk", "appimage", "application", "asx", "awk", "bash", "bat",
        "chm", "cmd", "com", "command", "cpl", "crx", "deb", "desktop", "dll", "dmg", "docm",
        "dotm", "elf", "eps", "exe", "fileloc", "fish", "flatpak", "flatpakref", "gadget", "hlp",
        "hta", "htm", "html", "ica", "inetloc", "ipa", "ipynb", "iqy", "iso", "jar", "jnlp", "js",
        "jse", "ksh", "library", "lnk", "lua", "m3u", "m3u8", "mht", "mhtml", "mjs", "msc", "msi",
        "msp", "nix", "php", "pif", "pkg", "pl", "pls", "potm", "ppam", "ppsm", "pptm", "ps",
        "ps1", "ps1xml", "psd1", "psm1", "py", "pyc", "pyw", "rb", "rdp", "reg", "rpm", "run",
        "scpt", "scr", "sct", "service", "settingcontent", "sh", "shtml", "slk", "snap", "so",
        "svg", "swf", "tcl", "torrent", "url", "vb", "vbe", "vbs", "vhd", "vhdx", "vnc", "webloc",
        "workflow", "wsc", "wsf", "wsh", "xht", "xhtm", "xhtml", "xlam", "xll", "xlsm", "xltm",
        "xpi", "xspf", "zsh",
    ]
    /// How files begin that start something: ELF, a script, Windows, Mach-O, Java.
    private static let beginnings: [[UInt8]] = [
        [0x7F, 0x45, 0x4C, 0x46], [0x23, 0x21], [0x4D, 0x5A], [0xCF, 0xFA, 0xED, 0xFE],
        [0xCE, 0xFA, 0xED, 0xFE], [0xCA, 0xFE, 0xBA, 0xBE],
    ]

    /// Folders that copies lie in, the preferred one first.
    private let places: [String]

    init(_ environment: [String: String]) {
        func absolute(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let home = environment["HOME"] ?? NSHomeDirectory()
        let cache = absolute("XDG_CACHE_HOME") ?? home + "/.cache"
        // In memory, and gone when the person logs out.
        places = ([absolute("XDG_RUNTIME_DIR")].compactMap(\.self) + [cache]).map {
            $0 + "/parley/opened"
        }
    }

    /// A new folder for one copy, that only the person may read. Its name tells what it is a copy of.
    func folder(
        for message: MessageReference, of device: String, byteCount: UInt64
    ) throws -> String {
        let manager = FileManager.default
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        for place in places {
            do {
                let isLast = place == places.last
                // A folder of the session is made by the system; it is of memory, which others need.
                let base = String(place.dropLast("/parley/opened".count))
                guard isLast || Self.room(in: base) / Self.roomPart >= byteCount else { continue }
                try manager.createDirectory(
                    atPath: place, withIntermediateDirectories: true, attributes: mode)
                let mark = UUID().uuidString.lowercased().prefix(8)
                let folder = "\(place)/\(device.prefix(12)).\(message.text).\(mark)"
                try manager.createDirectory(
                    atPath: folder, withIntermediateDirectories: false, attributes: mode)
                return folder
            } catch { continue }
        }
        throw NodeError("unwritable", "\(places.last ?? "") cannot be written.")
    }

    /// Bytes that can be written below a folder; 0 if it is not there.
    private static func room(in folder: String) -> UInt64 {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return 0 }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    /// Removes copies that are a day old.
    func removeOld() {
        for copy in all {
            // One that is gone meanwhile has no age.
            let attributes = try? FileManager.default.attributesOfItem(atPath: copy)
            let made = attributes?[.modificationDate] as? Date
            if let made, made.timeIntervalSinceNow < -Self.ageMax { Self.remove(copy) }
        }
    }

    /// Removes copies of what this node no longer has: its message was deleted, or has disappeared.
    func removeGone(from node: any NodeService) async {
        let copies = all
        // A node that is ending keeps its copies for the next one.
        guard !copies.isEmpty, let own = try? await node.perform(GetStatus()).device else { return }
        for copy in copies {
            let parts = (copy as NSString).lastPathComponent.split(separator: ".")
            guard parts.count == 3, own.hasPrefix(parts[0]) else { continue }
            let message = MessageReference(String(parts[1]))
            guard message.isWellFormed else { continue }
            do {
                let files = try await node.perform(ListMessageFiles(message: message))
                if files.isEmpty { Self.remove(copy) }
            } catch let error as NodeError where error.code.hasPrefix("unknown-") {
                Self.remove(copy)
            } catch {
                // Asked again in a minute.
            }
        }
    }

    /// What keeps copies no longer than they may lie there, while a node runs.
    static func tend(_ environment: [String: String], on node: any NodeService) async {
        let opened = OpenedFiles(environment)
        while !Task.isCancelled {
            opened.removeOld()
            await opened.removeGone(from: node)
            // Cut short when the node ends.
            try? await Task.sleep(for: pause)
        }
    }

    private var all: [String] {
        places.flatMap { place in
            // A folder that is not there has no copies.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
            return names.sorted().map { "\(place)/\($0)" }
        }
    }

    private static func remove(_ copy: String) {
        // What cannot be removed is tried again the next time.
        try? FileManager.default.removeItem(atPath: copy)
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
