/// Why a world could not do what a test asked of it, in a sentence that names the nodes.
///
/// Its description ends with the seed and the time: all that it takes to see it again.
public struct WorldError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of thing is wrong.
    public enum Reason: String, Sendable {
        /// A node belongs to another world, or its world is gone.
        case stranger
        /// Two nodes of one world have one name.
        case nameTaken
        /// A group has nobody in it.
        case nobody
        /// The node is not in the conversation.
        case notAMember
        /// The node sees no such message.
        case unknownMessage
        /// The node's process is not running.
        case down
        /// The node's process died while it was at it. Whether it is done shows later.
        case died
        /// The node's disk failed, and nothing of it is kept.
        case diskFailed
        /// The node refused.
        case refused
        /// Two nodes could not be introduced.
        case notIntroduced
        /// Nodes that share a conversation did not become equal in time.
        case stillDifferent
        /// Something that was waited for did not come about in time.
        case tooLate
    }

    /// What kind of thing is wrong.
    public let reason: Reason
    /// What is wrong, in words.
    public let sentence: String
    /// The seed of the world.
    public let seed: UInt64
    /// How long after the beginning of the world it was noticed.
    public let time: Duration

    /// The sentence, the seed and the time.
    public var description: String { "\(sentence) (seed \(seed), \(time.spoken) into the run)" }
}

extension World {
    func error(_ reason: WorldError.Reason, _ sentence: String) -> WorldError {
        WorldError(reason: reason, sentence: sentence, seed: seed, time: elapsed)
    }

    /// The place of a node among ``nodes``; nil for a node of another world, which is kept as a
    /// mistake and thrown by the next call that can.
    func place(of node: SimulatedNode) -> Int? {
        if node.world === self { return node.index }
        let other = node.world.map { "the world of seed \($0.seed)" } ?? "a world that is gone"
        mistake =
            mistake
            ?? error(.stranger, "\(node.name) is not in this world, but in \(other)")
        return nil
    }

    /// Throws what a call that cannot throw found wrong.
    func throwMistake() throws(WorldError) {
        guard let found = mistake else { return }
        mistake = nil
        throw found
    }
}

extension World: CustomStringConvertible {
    /// The seed, the time and who is where: what the message of a failed expectation needs.
    public var description: String {
        let state = trouble.map { "; " + $0 } ?? ""
        return "seed \(seed), \(elapsed.spoken) into the run: "
            + nodes.map(\.name).joined(separator: ", ") + state
    }

    /// Who is apart, held up or down now, or nil where nobody is.
    var trouble: String? {
        func pairs(_ found: Set<Way>, _ arrow: String) -> String {
            let sorted = found.sorted { ($0.source, $0.target) < ($1.source, $1.target) }
            return sorted.map { "\(nodes[$0.source].name)\(arrow)\(nodes[$0.target].name)" }
                .joined(separator: ", ")
        }
        var parts: [String] = []
        if !separated.isEmpty { parts.append("apart: " + pairs(separated, "|")) }
        if !blocked.isEmpty { parts.append("held back: " + pairs(blocked, "→")) }
        let down = nodes.filter(\.isDown).map(\.name)
        if !down.isEmpty { parts.append("down: " + down.joined(separator: ", ")) }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
