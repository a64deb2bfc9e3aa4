import Foundation

/// A folder of its own for one test, gone with it. Short: a socket's path has 107 bytes.
final class TemporaryHome: Sendable {
    let path: String

    init() throws {
        path = "/tmp/parley-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
