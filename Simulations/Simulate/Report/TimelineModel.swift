import Foundation

/// What the timeline's program is given, as JSON. Times are virtual milliseconds; a node is its
/// place, and -1 is everybody.
struct TimelineModel: Encodable {
    struct Node: Encodable {
        var name: String
        var bad: Bool
        var held: Int
    }

    struct Named: Encodable {
        var at: UInt64
        var name: String
    }

    /// One letter for each node: "." where nothing is in anybody's way, "/" where it is alone.
    struct Reached: Encodable {
        var at: UInt64
        var letters: String
        var oneWay: Bool
    }

    struct Down: Encodable {
        var node: Int
        var from: UInt64
        var to: UInt64
    }

    struct Equality: Encodable {
        var at: UInt64
        var `is`: Bool
    }

    struct Deeds: Encodable {
        var at: UInt64
        var node: Int
        var words: String
        var fault: Bool
        var refused: Bool
    }

    struct Broken: Encodable {
        var at: UInt64
        var node: Int
        var kind: String
        var words: String
    }

    struct Messages: Encodable {
        var source: Int
        var target: Int
        var sent: UInt64
        var arrives: UInt64
        var frames: Int
        var bytes: Int
        var operations: Int
        var lost: Int
    }

    struct Difference: Encodable {
        var at: UInt64
        var words: String
    }

    var end: UInt64
    var outcome: String
    var sentence: String
    var verdictAt: UInt64
    /// -1 where they are not.
    var equalSince: Int64
    var divergence: Difference?
    var nodes: [Node]
    var phases: [Named]
    var reaches: [Reached]
    var down: [Down]
    var equal: [Equality]
    var samples: [UInt64]
    var held: [[Int]]
    var lacking: [[Int]]
    var acts: [Deeds]
    var incidents: [Broken]
    var bundles: [Messages]

    init(_ recording: Recording, _ report: Report) {
        end = report.virtualMilliseconds
        outcome = report.verdict.outcome.rawValue
        sentence = [report.verdict.invariant, report.verdict.sentence].compactMap { $0 }
            .joined(separator: ": ")
        verdictAt = report.verdictAt
        equalSince = report.equalSince.map { Int64($0) } ?? -1
        divergence = report.divergence.map { Difference(at: $0.at, words: $0.what) }
        nodes = report.nodes.map { Node(name: $0.name, bad: $0.isDishonest, held: $0.held) }
        phases = report.phases.map { Named(at: $0.at, name: $0.name) }
        reaches = Self.reaches(recording)
        down = Self.down(recording, until: end)
        equal = recording.equalities.elements.map { Equality(at: $0.at, is: $0.isEqual) }
        if equal.first?.at ?? 1 > 0 { equal.insert(Equality(at: 0, is: false), at: 0) }
        samples = recording.samples.map(\.at)
        let places = recording.nodes.indices
        held = places.map { place in
            recording.samples.map { $0.held.indices.contains(place) ? $0.held[place] : 0 }
        }
        lacking = places.map { place in
            recording.samples.map { $0.lacking.indices.contains(place) ? $0.lacking[place] : 0 }
        }
        acts = recording.acts.elements.map {
            Deeds(
                at: $0.at, node: $0.node ?? -1, words: $0.words, fault: $0.isFault,
                refused: $0.isRefused)
        }
        incidents = recording.incidents.elements.map {
            Broken(at: $0.at, node: $0.node, kind: $0.kind.rawValue, words: $0.words)
        }
        bundles = recording.traffic.bundles.map {
            Messages(
                source: $0.source, target: $0.target, sent: $0.sentAt, arrives: $0.arrivesAt,
                frames: $0.frameCount, bytes: $0.byteCount, operations: $0.operationCount,
                lost: $0.lostCount)
        }
    }

    private static func reaches(_ recording: Recording) -> [Reached] {
        let count = recording.nodes.count
        let first = Reached(at: 0, letters: String(repeating: ".", count: count), oneWay: false)
        return [first]
            + recording.reaches.elements.map { item in
                let letters = (0..<count).map { node -> Character in
                    let isKnown = item.reach.groups.indices.contains(node)
                    if item.reach.isWhole || !isKnown { return "." }
                    return item.reach.letter(of: node) ?? "/"
                }
                return Reached(
                    at: item.at, letters: String(letters), oneWay: item.reach.isOneWay)
            }
    }

    private static func down(_ recording: Recording, until end: UInt64) -> [Down] {
        var began: [Int: UInt64] = [:]
        var down: [Down] = []
        for incident in recording.incidents.elements {
            switch incident.kind {
            case .died, .lostPower: began[incident.node] = incident.at
            case .started:
                if let from = began.removeValue(forKey: incident.node) {
                    down.append(Down(node: incident.node, from: from, to: incident.at))
                }
            case .stepFailed, .clockJumped: break
            }
        }
        for node in began.keys.sorted() {
            if let from = began[node] { down.append(Down(node: node, from: from, to: end)) }
        }
        return down
    }
}
