import Foundation
public import ParleyRelaying
public import ParleySealing
import ParleyWire

/// Where a relay keeps its key and its store: a folder of its owner's alone.
public struct RelayHome: Sendable {
    /// The folder.
    public let path: String

    /// The folder at this path; ``open()`` makes it.
    public init(path: String) { self.path = path }

    /// The file with the relay's key.
    public var keyFile: String { path + "/key" }
    /// The file with the store.
    public var storeFile: String { path + "/relay.sqlite" }

    /// The folder as it is used unless another is named.
    public static func usual(_ environment: [String: String]) -> RelayHome {
        if let state = environment["STATE_DIRECTORY"], !state.isEmpty {
            return RelayHome(path: state)
        }
        let data =
            environment["XDG_DATA_HOME"].flatMap { $0.isEmpty ? nil : $0 }
            ?? (environment["HOME"] ?? "") + "/.local/share"
        return RelayHome(path: data + "/parley-relay")
    }

    /// Files of a node, which also calls its key `key`: both in one folder would each take the other's for their own.
    private static let nodeFiles = ["keystore", "database", "guard"]

    /// Whether a node lives in the folder.
    private var isOfNode: Bool {
        !FileManager.default.fileExists(atPath: storeFile)
            && Self.nodeFiles.contains { FileManager.default.fileExists(atPath: path + "/" + $0) }
    }

    /// The relay's key, created with the folder if there is none.
    public func key() throws -> DeviceNoiseKey {
        guard !isOfNode else {
            throw RelayServerError(
                "\(path) is the home of a node: a relay needs a folder of its own")
        }
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        if FileManager.default.fileExists(atPath: keyFile) {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: keyFile))
            guard bytes.count == 32 else {
                throw RelayServerError("\(keyFile) is not a key: it needs 32 bytes")
            }
            return DeviceNoiseKey(scalar: Secret(bytes))
        }
        var random = SystemRandom()
        let key = DeviceNoiseKey.generate(using: &random)
        try write(key.scalar)
        return key
    }

    private func write(_ secret: Secret) throws {
        let draft = keyFile + ".new"
        let file = open(draft, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
        let isWritten =
            file >= 0
            && secret.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
                == secret.count
            && fsync(file) == 0
        close(file)
        guard isWritten, rename(draft, keyFile) == 0 else {
            throw RelayServerError(
                "cannot write \(keyFile): \(String(cString: strerror(errno)))")
        }
    }

    /// The relay's store, created if there is none.
    public func store(
        bounds: RelayStoreBounds = RelayStoreBounds()
    ) throws -> SQLiteRelayStore {
        var random = SystemRandom()
        return try SQLiteRelayStore(path: storeFile, start: random.next(), bounds: bounds)
    }
}

/// What keeps a relay from running, as a sentence for its operator.
public struct RelayServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Held by the relay that runs in a home, until it is released or the process ends.
public final class RelayLock: Sendable {
    private let file: CInt

    fileprivate init(path: String) throws {
        file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw RelayServerError(
                "this folder cannot be written: \(String(cString: strerror(errno)))")
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw RelayServerError("another relay, or a node, is running in this folder")
        }
    }

    deinit { close(file) }
}

extension RelayHome {
    /// Makes sure that no other relay runs here.
    public func lock() throws -> RelayLock { try RelayLock(path: path + "/lock") }
}
