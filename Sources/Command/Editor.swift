import Foundation
import Parley

/// The editor that a person chose, and the file that it edits.
enum Editor {
    /// As much as one edits.
    static let byteCountMax = 4 << 20

    /// Bytes as a text.
    static func text(_ bytes: [UInt8]) throws(NodeError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw NodeError(
                "not-text", "The text is not UTF-8.",
                hint: "`iconv` turns other encodings into UTF-8.")
        }
        return text
    }

    /// A file that nobody else may read, in memory where the system has a place there: it holds in clear what
    /// the home holds sealed. It is gone once the command has ended well, or nothing is lost with it.
    struct File {
        let path: String
        private let folder: String
        private let original: Data
        /// Editors end the last line; a text whose last line does not end is given back so.
        private let endsLine: Bool

        init(holding text: String) throws(NodeError) {
            let environment = World.current.environment
            let places = [environment["XDG_RUNTIME_DIR"], environment["TMPDIR"], "/tmp"]
            endsLine = !text.isEmpty && !text.hasSuffix("\n")
            original = Data((endsLine ? text + "\n" : text).utf8)
            for place in places.compactMap(\.self) where !place.isEmpty {
                // mkdtemp(3) makes it with the mode 0700.
                var template = Array("\(place)/parley-XXXXXX".utf8CString)
                guard mkdtemp(&template) != nil else { continue }
                let name = template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                folder = String(decoding: name, as: UTF8.self)
                path = folder + "/note.txt"
                do {
                    try original.write(to: URL(fileURLWithPath: path))
                } catch {
                    remove()
                    throw NodeError(
                        "no-file", "The text could not be written to \(path): \(error).")
                }
                return
            }
            throw NodeError(
                "no-file", "There is no folder for the text to edit.",
                hint: "Set TMPDIR to a folder that you may write to.")
        }

        /// Lets the person edit it, and returns its content then.
        func edit() throws(NodeError) -> String {
            let environment = World.current.environment
            let named = [environment["VISUAL"], environment["EDITOR"]].compactMap(\.self)
            let editor = named.first { !$0.isEmpty } ?? "vi"
            let status = Editor.run(editor, on: path)
            guard status == 0 else {
                throw NodeError(
                    "editor-failed",
                    status == 127
                        ? "There is no editor “\(editor)”."
                        : "The editor “\(editor)” ended with \(status).",
                    hint: "The note did not change. Set EDITOR to use another editor.")
            }
            guard FileManager.default.fileExists(atPath: path) else {
                throw NodeError(
                    "no-file", "The editor left no text: \(path) is gone.",
                    hint: "The note did not change.")
            }
            // Why it cannot be read is nothing that anybody does something about here.
            guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
                throw NodeError(
                    "no-file", "What the editor left cannot be read.",
                    hint: "The note did not change.")
            }
            guard bytes.count <= Editor.byteCountMax else {
                throw NodeError(
                    "too-large", "A note has at most \(Editor.byteCountMax) bytes.",
                    hint: "The note did not change.")
            }
            let text = try Editor.text(Array(bytes))
            return endsLine && text.hasSuffix("\n") ? String(text.dropLast()) : text
        }

        /// Removes it, or says where the written text stays: also the files that an interrupted
        /// editor leaves beside it.
        func end() {
            let (files, disk) = (FileManager.default, FileManager.default.contents(atPath: path))
            // A folder that cannot be listed has nothing to name.
            let left = ((try? files.contentsOfDirectory(atPath: folder)) ?? []).sorted()
            let isChanged = files.fileExists(atPath: path) && disk != original
            if isChanged {
                World.current.say("what you wrote is in \(path)")
            } else if left.contains(where: { folder + "/" + $0 != path }) {
                World.current.say("what your editor left is in \(folder)")
            } else {
                remove()
            }
        }

        func remove() {
            // Where it is gone already, nothing is left to do.
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    /// Runs an editor as the shell does, with the terminal of this process. Returns its exit status.
    private static func run(_ editor: String, on file: String) -> Int32 {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // It stays in this process group, or the system would stop it at its first look at the terminal.
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let words = ["sh", "-c", editor + " \"$@\"", editor, file]
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        // A Ctrl-C is for the editor.
        let handlers = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in handlers { signal(number, handler) } }
        guard posix_spawn(&process, "/bin/sh", nil, &attributes, arguments, environ) == 0 else {
            return 127
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return 127 }
        }
        let number = status & 0x7F
        return number == 0 ? (status >> 8) & 0xFF : 128 + number
    }
}
