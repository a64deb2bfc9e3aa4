import Foundation
import Glibc

/// The words of a command line as passed by the system: names of files are bytes, and need not be
/// UTF-8. In the words as texts, invalid UTF-8 is `\u{FFFD}`.
struct RawArguments {
    private let words: [[UInt8]]
    private let folder: [UInt8]

    /// - Parameters:
    ///   - words: all of them.
    ///   - folder: where paths begin that do not begin at the root.
    init(_ words: [[UInt8]], in folder: [UInt8]) {
        self.words = words
        self.folder = folder
    }

    /// Those of this process.
    static var current: RawArguments {
        var words: [[UInt8]] = []
        for place in 0..<Int(CommandLine.argc) {
            guard let word = CommandLine.unsafeArgv[place] else { continue }
            words.append(Array(UnsafeRawBufferPointer(start: word, count: strlen(word))))
        }
        // If the folder is gone no path in it opens anyway.
        let name = getcwd(nil, 0)
        defer { free(name) }
        let folder = name.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        return RawArguments(words, in: folder ?? [])
    }

    /// The whole paths of files that were named behind an option, in Base64, in the order in which they were
    /// named; nil of each that is UTF-8, which its text names as well.
    func paths(of texts: [String], behind option: String) -> [String?] {
        var rest = values(of: option)[...]
        return texts.map { text in
            let place = rest.firstIndex { String(decoding: $0, as: UTF8.self) == text }
            let bytes = place.map { rest[$0] } ?? Array(text.utf8)
            if let place { rest = rest[(place + 1)...] }
            let isWhole = bytes.first == UInt8(ascii: "/") || bytes.first == UInt8(ascii: "~")
            let path = isWhole ? bytes : folder + [UInt8(ascii: "/")] + bytes
            return String(validating: path, as: UTF8.self) == nil
                ? Data(path).base64EncodedString() : nil
        }
    }

    /// The value behind an option, or behind its equals sign.
    private func values(of option: String) -> [[UInt8]] {
        let (name, start) = (Array(option.utf8), Array("\(option)=".utf8))
        return words.indices.compactMap { place in
            if words[place].starts(with: start) {
                return Array(words[place].dropFirst(start.count))
            }
            return words[place] == name && place + 1 < words.count ? words[place + 1] : nil
        }
    }
}
