import ParleyNodeCore
import ParleySealing
import ParleyWire

/// The cost, for a node with very many spaces, of work unrelated to their number: a start, a
/// stranger's link, an envelope, the connection to a relay. Each is steps of the production core on
/// the production store, without commits, except the start.
/// Source: `Protocol/06-sync.md`, "What others cost".
enum SpacesBench {
    private struct Row: Sendable {
        let name: String
        let note: String
        let sampleCount: Int
        /// In seconds.
        let budget: Double?
        let measure: @Sendable (SpacesWorld) throws -> [Double]
    }

    private static let rows = [
        Row(
            name: "spaces-link", note: "a stranger's link opens, shows its card, and ends",
            sampleCount: 300, budget: 5e-3
        ) { [try $0.strangersLink()] },
        Row(
            name: "spaces-message", note: "a message of a contact comes by a relay",
            sampleCount: 300, budget: 5e-3
        ) { [try $0.message()] },
        Row(
            name: "spaces-meanwhile", note: "that link opens while all spaces are looked at",
            sampleCount: 300, budget: 5e-3
        ) { [try $0.meanwhile()] },
        Row(
            name: "spaces-relay", note: "each step of all when a relay is reached again",
            sampleCount: 1, budget: nil
        ) { try $0.reached(hasLost: false) },
        Row(
            name: "spaces-relay-lost", note: "the same where the relay has lost what it held",
            sampleCount: 1, budget: nil
        ) { try $0.reached(hasLost: true) },
        Row(
            name: "spaces-start", note: "a home is opened, and its node begins",
            sampleCount: 100, budget: 0.5
        ) { [try $0.start()] },
    ]

    /// What is measured.
    static let names = rows.map(\.name)

    static func figures(
        _ wanted: Set<String>, folder: String, say: (String) -> Void
    ) throws -> [Figure] {
        guard !wanted.isDisjoint(with: names) else { return [] }
        let world = try SpacesWorld(folder: folder, count: spaceCount, say: say)
        return try rows.filter { wanted.contains($0.name) }.map { row in
            let samples = try (0..<row.sampleCount).flatMap { _ in try row.measure(world) }
            let longest = Int((samples.max() ?? 0) * 1e6)
            return Figure(
                row.name, samples: samples, unit: "s", budget: row.budget,
                note: "\(spaceCount) spaces: \(row.note); the longest took \(longest) us")
        }
    }

    private static let spaceCount = 10_000
}
