import Foundation
import Glibc
import ParleyLedger

/// How SQLite reads a database that is not to be written.
///
/// A medium without writes can have no index of the log of changes. A database whose log is empty
/// is read in place; otherwise SQLite would skip the content of the log, so both are copied to a
/// folder for temporary files and read there. The copy is as sealed as the original.
final class ReadingPlace {
    /// The database as a URI.
    let name: String
    private let copy: URL?

    init(_ home: Home, _ bar: WriteBar) throws(HomeError) {
        guard bar.isOfDisk else {
            (name, copy) = (Self.name(of: home.database), nil)
            return
        }
        guard home.disk.byteCount(home.database + "-wal") ?? 0 > 0 else {
            (name, copy) = (Self.uri(home.database) + "?immutable=1", nil)
            return
        }
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("parley-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            for end in ["", "-wal"] {
                let file = folder.appendingPathComponent("database" + end)
                try FileManager.default.copyItem(
                    atPath: home.database + end, toPath: file.path)
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600], ofItemAtPath: file.path)
            }
        } catch {
            // Nothing is left of a failed copy; the reason is reported.
            try? FileManager.default.removeItem(at: folder)
            throw HomeError(
                .readOnly, path: home.path,
                detail:
                    "and it was not closed properly: no copy could be made in \(folder.path): "
                    + "\(error)")
        }
        name = Self.name(of: folder.appendingPathComponent("database").path)
        copy = folder
    }

    deinit {
        // What cannot be removed is sealed, and lies where the system tidies up.
        if let copy { try? FileManager.default.removeItem(at: copy) }
    }

    /// A database as it is read where it lies, the log of changes included.
    static func name(of database: String) -> String { uri(database) + "?mode=ro" }

    private static func uri(_ path: String) -> String {
        let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#%"))
        return "file:" + (path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path)
    }
}
