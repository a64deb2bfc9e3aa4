import Foundation
import ParleyLocalAPI

/// The homes of this person on this machine: the usual one, and others that have names.
///
/// The usual one is `parley` in the folder for data; a named one is `parley/homes/NAME` there.
struct HomeFolders: Sendable {
    /// A home.
    struct Folder: Equatable, Sendable {
        var name: String
        var path: String
    }

    /// What the usual one is called.
    static let usualName = "default"
    /// A sentence without its end.
    static let nameRule =
        "the name of a home has letters, digits, - and _, begins with a letter or digit, and is at most 32 long"

    /// Where all of them are.
    let root: String

    /// Source: XDG Base Directory Specification, `XDG_DATA_HOME`: a relative path there is ignored.
    init(_ environment: [String: String]) {
        let usual = (environment["HOME"] ?? NSHomeDirectory()) + "/.local/share"
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? usual
        root = wholePath(data + "/parley")
    }

    /// Whether something can be the name of a home: it becomes the name of a folder and of a unit.
    static func isName(_ name: String) -> Bool {
        (1...32).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            } && name.first.map { $0.isLetter || $0.isNumber } == true
    }

    /// Where a home of this name is, or would be.
    func path(of name: String) -> String {
        name == Self.usualName ? root : root + "/homes/" + name
    }

    /// Those that there are, the usual one first where it was made.
    func list() -> [Folder] {
        // No folder is no home.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root + "/homes")) ?? []
        let all = [Self.usualName] + names.filter(Self.isName).sorted()
        return all.map { Folder(name: $0, path: path(of: $0)) }.filter { isMade($0.path) }
    }

    private func isMade(_ path: String) -> Bool {
        ["keystore", "database"].contains {
            FileManager.default.fileExists(atPath: path + "/" + $0)
        }
    }
}
