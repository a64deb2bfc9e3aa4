internal import Parley

/// Whether nodes show the same, judged by the hashes that they tell.
struct Agreement {
    /// What one node tells.
    struct Told {
        var user: String
        var digests: [DigestView]
        var conversations: [ConversationView]
    }

    /// What differs, in a sentence, or nil where all is equal.
    ///
    /// A conversation counts as equal when all its members hold it, with one hash.
    static func difference(_ told: [Told]) -> String? {
        var hashes: [String: [(user: String, digest: String, count: Int)]] = [:]
        for one in told {
            for view in one.digests {
                hashes[view.conversation, default: []]
                    .append((one.user, view.digest, view.operationCount))
            }
        }
        for one in told {
            for conversation in one.conversations {
                let held = hashes[conversation.id] ?? []
                if held.count != conversation.members.count {
                    return "\(conversation.name) has \(conversation.members.count) members by "
                        + "\(one.user), and is held by \(held.map(\.user).joined(separator: " "))"
                }
                guard let first = held.first,
                    let other = held.first(where: { $0.digest != first.digest })
                else { continue }
                return "\(conversation.name): \(first.user) shows \(first.digest.prefix(8)) of "
                    + "\(first.count) operations, \(other.user) \(other.digest.prefix(8)) of "
                    + "\(other.count)"
            }
        }
        return nil
    }
}
