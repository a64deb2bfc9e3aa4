internal import Foundation
internal import Glibc

/// Namespaces and folders that runs make, found again by their names.
///
/// A run that is killed cleans nothing up. The next one does: the number of the process stands in
/// each name, and what belongs to no living process belongs to nobody.
public enum Leftovers {
    static let stem = "parley-"
    private static let namespaceFolder = "/run/netns"
    private static let homeFolder = "/tmp"
    private static let homesSuffix = ".homes"

    /// What something of this process is called.
    static func name(_ rest: String, of owner: Int32) -> String { stem + "\(owner)" + rest }

    /// Whose something is by its name; nil where it is none of ours.
    static func owner(of name: String) -> Int32? {
        guard name.hasPrefix(stem) else { return nil }
        let rest = name.dropFirst(stem.count)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        let sign = rest.dropFirst(digits.count).first
        guard sign == "-" || sign == "." else { return nil }
        return Int32(digits)
    }

    /// Names that belong to no living process.
    static func abandoned(_ names: [String], isAlive: (Int32) -> Bool) -> [String] {
        names.filter { name in owner(of: name).map { !isAlive($0) } ?? false }.sorted()
    }

    /// Removes what dead runs left behind. Returns the names.
    @discardableResult
    public static func sweep() -> [String] {
        let namespaces = abandoned(names(in: namespaceFolder), isAlive: isAlive)
        remove(namespaces: namespaces)
        // Others make folders there as well, with names that begin alike.
        let homes = names(in: homeFolder).filter { $0.hasSuffix(homesSuffix) }
        let folders = abandoned(homes, isAlive: isAlive)
        for folder in folders {
            let path = homeFolder + "/" + folder
            for process in processes(of: path) { kill(process, SIGKILL) }
            removeFolder(path)
        }
        // What belongs to somebody else stays.
        return namespaces + folders.filter { access(homeFolder + "/" + $0, F_OK) != 0 }
    }

    /// Whether a process runs. One that has ended and was not yet asked how is dead as well.
    static func isAlive(_ process: Int32) -> Bool {
        // No file, no process.
        let stat = FileManager.default.contents(atPath: "/proc/\(process)/stat") ?? Data()
        let state = String(decoding: stat, as: UTF8.self).split(separator: ")").last?
            .split(separator: " ").first
        return state.map { $0 != "Z" && $0 != "X" } ?? false
    }

    /// Nodes whose homes lie in this folder. Those of a run without root are in namespaces that
    /// nobody can list any more, and are found by this alone.
    static func processes(of folder: String) -> [Int32] {
        names(in: "/proc").compactMap { Int32($0) }.filter { process in
            // One that has ended meanwhile has no words.
            let words = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
            return words.split(separator: 0)
                .contains { String(decoding: $0, as: UTF8.self).hasPrefix(folder + "/") }
        }
    }

    /// Makes the folder for the homes of this process, and returns its path. It is short: the path
    /// of a socket has at most 107 bytes.
    static func makeFolder(owner: Int32) throws(RealFailure) -> String {
        let path = homeFolder + "/" + name(homesSuffix, of: owner)
        guard mkdir(path, 0o700) == 0 else {
            throw RealFailure("cannot make \(path): \(message(errno))")
        }
        return path
    }

    /// Gives a folder a name that no run removes, for somebody to look into. Returns its new path.
    static func keepFolder(_ path: String) -> String? {
        let kept = String(path.dropLast(homesSuffix.count)) + ".kept"
        return rename(path, kept) == 0 ? kept : nil
    }

    static func removeFolder(_ path: String) {
        // What cannot be removed now is tried again by the next run.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Ends what runs in these namespaces, which are ours alone, and removes them.
    static func remove(namespaces: [String]) {
        for name in namespaces {
            // A namespace that is gone already is what is wanted.
            let pids = try? Tool.attempt(["ip", "netns", "pids", name])
            for pid in (pids?.output ?? "").split(separator: "\n").compactMap({ Int32($0) }) {
                kill(pid, SIGKILL)
            }
            // The same.
            _ = try? Tool.attempt(["ip", "netns", "del", name])
        }
    }

    private static func names(in folder: String) -> [String] {
        // No folder, no names.
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}
