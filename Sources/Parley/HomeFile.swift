import Foundation
import ParleyStorage

/// A small file of a home, of mode 0600, that holds one value as JSON and is whole whenever it is there.
struct HomeFile<Content: Codable & Sendable>: Sendable {
    private let home: Home
    private let path: String
    /// Bytes of it, at most; nothing beyond is read.
    private let byteCountMax: Int
    /// What is said of one that cannot be read, by its path.
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

    /// What it holds; nil where there is none.
    ///
    /// - Parameter isSound: whether what is there may be believed.
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
