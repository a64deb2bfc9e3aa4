import Foundation
import Glibc

/// Where models are kept, the same for all homes of a person on this machine.
public struct ModelFolder: Sendable {
    /// The folder.
    public let path: String

    /// The models in this folder.
    public init(_ path: String) { self.path = path }

    /// `$PARLEY_MODELS`, else `$XDG_DATA_HOME/parley-models`, else
    /// `~/.local/share/parley-models`.
    public static func usual(_ environment: [String: String]) -> String {
        if let path = environment["PARLEY_MODELS"], !path.isEmpty { return path }
        if let data = environment["XDG_DATA_HOME"], !data.isEmpty { return data + "/parley-models" }
        return (environment["HOME"] ?? "/") + "/.local/share/parley-models"
    }

    /// The folder of one model.
    public func folder(of model: some PinnedPackage) -> String { path + "/" + model.rawValue }

    /// Whether a model was installed here. What its files hold now, ``verify(_:)`` tells.
    public func isInstalled(_ model: some PinnedPackage) -> Bool {
        FileManager.default.contents(atPath: mark(model)) == Data(markText(model).utf8)
    }

    /// Compares every file of a model with its pinned hash. A file that was changed since it was
    /// installed could put words into results, or feed a decoder.
    ///
    /// - Throws: ``ModelError``, with the file or folder that is missing or differs.
    public func verify(_ model: some PinnedPackage) throws(ModelError) {
        let folder = folder(of: model)
        for file in model.files {
            if let name = file.name {
                let path = folder + "/" + name
                guard let found = SHA256.hash(file: path) else { throw .missing(path) }
                guard found == file.hash else { throw .damaged(path) }
            } else if let pinned = file.unpackedHash {
                guard let list = unpackedFiles(in: folder) else { throw .missing(folder) }
                guard SHA256.hexHash(Array(list.utf8)) == pinned else { throw .damaged(folder) }
            }
        }
    }

    /// How the files of a model look from outside, a line for each: a change shows without reading them.
    func look(of model: some PinnedPackage) -> [String] {
        let folder = folder(of: model)
        // A folder that is not there holds nothing.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().map { name in
            var status = stat()
            guard stat(folder + "/" + name, &status) == 0 else { return name }
            return "\(name) \(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec)"
                + ".\(status.st_mtim.tv_nsec)"
        }
    }

    /// A line `hash  name` for each array, by name; nil where one cannot be read.
    private func unpackedFiles(in folder: String) -> String? {
        // A folder that is not there holds nothing.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var lines = ""
        for name in names.sorted() where name.hasSuffix(".npy") {
            guard let hash = SHA256.hash(file: folder + "/" + name) else { return nil }
            lines += "\(hash)  \(name)\n"
        }
        return lines
    }

    /// Models that are installed.
    public var installed: [ModelPackage] { ModelPackage.allCases.filter { isInstalled($0) } }

    /// Bytes that a model takes.
    public func byteCount(of model: some PinnedPackage) -> Int {
        let folder = folder(of: model)
        // A folder that is not there takes nothing.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.reduce(0) { sum, name in
            // A file that vanishes meanwhile takes nothing either.
            let values = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            return sum + ((values?[.size] as? NSNumber)?.intValue ?? 0)
        }
    }

    /// Takes a model away.
    public func remove(_ model: some PinnedPackage) throws {
        try FileManager.default.removeItem(atPath: folder(of: model))
    }

    /// Written last: what is not complete is not installed.
    func mark(_ model: some PinnedPackage) -> String { folder(of: model) + "/verified" }
    func markText(_ model: some PinnedPackage) -> String {
        model.hash + "\n" + model.files.map { $0.hash + "\n" }.joined()
    }
}
