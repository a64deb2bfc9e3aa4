import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Suggestions that somebody does not want to see again, on this device.
///
/// No text is kept: a sentence is named by its message, by its place there, and by how often the message
/// had been edited. An edit may say something else, and is suggested again.
struct Dismissals: Codable, Equatable, Sendable {
    /// A sentence.
    struct Entry: Codable, Hashable, Sendable {
        var kind: SuggestionKind
        /// The name of the message.
        var id: String
        var sentence: Int
        var editCount: Int
    }

    /// Of one conversation, at most: the oldest are forgotten first.
    private static let countMax = 1_000

    private(set) var entries: [Entry] = []

    static func read(of space: SpaceID, in store: SQLiteStore) throws -> Dismissals {
        guard let bytes = try store.value(.profile, key(space)) else { return Dismissals() }
        return try JSONDecoder().decode(Dismissals.self, from: Data(bytes))
    }

    /// Keeps one more. Those of a conversation that is not here any more go.
    static func keep(_ entry: Entry, of space: SpaceID, in store: SQLiteStore) throws {
        var all = try read(of: space, in: store)
        all.entries.removeAll { $0 == entry }
        all.entries = Array((all.entries + [entry]).suffix(countMax))
        let bytes = Array(try JSONEncoder().encode(all))
        let here = Set(try store.spaces().map { key($0.id) })
        let gone = try store.values(.profile).map(\.key).filter {
            $0.starts(with: prefix) && !here.contains($0)
        }
        try store.transact(.full) {
            try store.setValue(bytes, .profile, key(space))
            for key in gone { try store.setValue(nil, .profile, key) }
        }
    }

    private static let prefix = Array("dismissed.".utf8)

    private static func key(_ space: SpaceID) -> [UInt8] { prefix + Array(space.description.utf8) }
}

/// What is suggested.
public enum SuggestionKind: String, Codable, Sendable, CaseIterable {
    /// Something to be done.
    case item
    /// Something that was decided.
    case decision
}
