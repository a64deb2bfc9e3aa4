import Foundation
import Parley

/// How a passphrase comes in: from a file, or typed where nobody sees it.
enum Passphrase {
    /// Longer ones are a mistaken file.
    static let byteCountMax = 1024

    /// The first line of a file.
    static func read(file: String) throws -> [UInt8] {
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
            let bytes = try handle.read(upToCount: byteCountMax + 2) ?? Data()
            let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
            guard !line.isEmpty, line.count <= byteCountMax else {
                throw NodeError(
                    "bad-passphrase-file",
                    "The first line of \(file) is empty or longer than \(byteCountMax) bytes.")
            }
            return Array(line)
        } catch let error as NodeError {
            throw error
        } catch {
            throw NodeError("bad-passphrase-file", "Cannot read \(file).")
        }
    }

    /// Typed text, without echo; nil if there is none.
    static func ask(_ prompt: String) -> [UInt8]? {
        World.current.sayInPlace(prompt)
        var settings = termios()
        tcgetattr(STDIN_FILENO, &settings)
        var hidden = settings
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
            World.current.say("")
        }
        guard let line = readLine(), !line.isEmpty else { return nil }
        return Array(line.utf8.prefix(byteCountMax))
    }

    /// A new passphrase, typed twice.
    ///
    /// - Parameter option: what names a file instead, where nobody can type.
    static func choose(option: String = "--passphrase-file") throws -> [UInt8] {
        guard World.current.isInputTerminal else {
            throw NodeError(
                "no-terminal", "There is no terminal to ask for a passphrase.",
                hint: "Name a file with \(option).")
        }
        guard let first = ask("New passphrase: ") else {
            throw NodeError("no-passphrase", "The passphrase is empty.")
        }
        guard ask("The same again: ") == first else {
            throw NodeError("passphrases-differ", "The two passphrases differ.")
        }
        return first
    }
}
