import Foundation
import ParleyStorage

/// A small file of a home, of mode 0600, that contains one value as JSON and is complete whenever
/// it exists.
struct HomeFile<Content: Codable & Sendable>: Sendable {
    private let home: Home
    private let path: String
    /// Its bytes, at most; nothing beyond is read.
    private let byteCountMax: Int
    /// The message for an unreadable one, by its path.
    private let damaged: @Sendable (_ path: String) -> NodeError

    init(
        _ name: String, of home: Home, atMost byteCountMax: Int,
        damaged: @escaping @Sendable (_ path: String) -> NodeError
    ) {
        self.home = home
        path = home.path + "/" + name
        self.byteCountMax = byteCountMax
        self.damaged = damaged
    }

    /// Its value; nil if there is none.
    ///
    /// - Parameter isSound: whether the value may be trusted.
    func read(_ isSound: (Content) -> Bool) throws -> Content? {
        guard let bytes = try Node.explaining({ try home.disk.read(path, atMost: byteCountMax) })
        else { return nil }
        do {
            let content = try JSONDecoder().decode(Content.self, from: Data(bytes))
            if isSound(content) { return content }
        } catch is DecodingError {}
        throw damaged(path)
    }

    /// Puts this in its place. It is on the disk when this returns.
    func write(_ content: Content) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let bytes = try Array(encoder.encode(content))
        try Node.explaining { try home.disk.replace(path, with: bytes + [0x0A]) }
    }
}
