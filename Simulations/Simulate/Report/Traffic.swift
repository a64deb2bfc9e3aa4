import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// Frames between nodes, those that went the same way at about the same time in one bundle.
///
/// The number of bundles is bounded: when there are too many, all become twice as wide. So
/// nothing is ever left out, it only becomes coarser.
struct Traffic {
    /// How many bundles there are at most.
    static let bundleCountMax = 24_000

    /// Frames from one node to another within a while.
    struct Bundle: Equatable {
        var source: Int
        var target: Int
        /// When the first left, and when the last arrives.
        var sentAt: UInt64
        var arrivesAt: UInt64
        var frameCount = 0
        var byteCount = 0
        var operationCount = 0
        var lostCount = 0
    }

    private struct Key: Hashable, Comparable {
        var slot: UInt64
        var source: Int
        var target: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.slot, left.source, left.target) < (right.slot, right.source, right.target)
        }
    }

    /// A frame on its way.
    private struct Flight {
        var sentAt: UInt64
        var source: Int
        var target: Int
        var contents: Incident.Contents
    }

    private var places: [Key: Int] = [:]
    private(set) var bundles: [Bundle] = []
    /// How long a bundle lasts, in milliseconds.
    private(set) var width: UInt64 = 250
    private var flights: [LinkID: Queue<Flight>] = [:]
    /// Frames that were sent, by kind.
    private(set) var kinds: [String: Int] = [:]

    mutating func sent(
        _ passage: WorldEvent.Passage, _ contents: Incident.Contents, at now: UInt64,
        arrival: UInt64
    ) {
        kinds[contents.kind, default: 0] += 1
        flights[passage.link, default: []].append(
            Flight(
                sentAt: now, source: passage.source, target: passage.target, contents: contents))
        add(
            Bundle(
                source: passage.source, target: passage.target, sentAt: now, arrivesAt: arrival,
                frameCount: 1, byteCount: contents.byteCount,
                operationCount: contents.operationCount))
        if bundles.count > Self.bundleCountMax { widen() }
    }

    /// What the frame held that arrives now. A link keeps the order of its frames.
    mutating func arrived(_ passage: WorldEvent.Passage) -> Incident.Contents? {
        return flights[passage.link]?.popFirst()?.contents
    }

    /// What was on its way to this end is lost. Returns how much that was.
    @discardableResult
    mutating func closed(_ link: LinkID) -> Int {
        let lost = flights.removeValue(forKey: link) ?? []
        for flight in lost {
            let key = key(flight.sentAt, flight.source, flight.target)
            if let place = places[key] { bundles[place].lostCount += 1 }
        }
        return lost.count
    }

    private func key(_ time: UInt64, _ source: Int, _ target: Int) -> Key {
        Key(slot: time / width, source: source, target: target)
    }

    private mutating func add(_ bundle: Bundle) {
        let key = key(bundle.sentAt, bundle.source, bundle.target)
        guard let place = places[key] else {
            places[key] = bundles.count
            return bundles.append(bundle)
        }
        bundles[place].sentAt = min(bundles[place].sentAt, bundle.sentAt)
        bundles[place].arrivesAt = max(bundles[place].arrivesAt, bundle.arrivesAt)
        bundles[place].frameCount += bundle.frameCount
        bundles[place].byteCount += bundle.byteCount
        bundles[place].operationCount += bundle.operationCount
        bundles[place].lostCount += bundle.lostCount
    }

    private mutating func widen() {
        let before = bundles
        width *= 2
        bundles = []
        places = [:]
        for bundle in before { add(bundle) }
    }
}

extension Incident.Contents {
    /// What these bytes are. Frames of a kind that this version does not know are told so.
    init(_ bytes: [UInt8]) {
        self.init(kind: "unreadable", byteCount: bytes.count, operationCount: 0)
        let frame: Frame?
        do { frame = try Frame.decode(bytes) } catch { return }
        switch frame {
        case .hello: kind = "hello"
        case .spaces: kind = "spaces"
        case .frontier: kind = "frontier"
        case .want: kind = "want"
        case .operations(let operations):
            kind = "operations"
            operationCount = operations.runs.reduce(0) { $0 + $1.operations.count }
        case .acknowledge: kind = "acknowledge"
        case .credit: kind = "credit"
        case .error: kind = "error"
        case .bye: kind = "bye"
        case .introduce: kind = "introduce"
        case .heartbeat: kind = "heartbeat"
        case .fork: kind = "fork"
        case .signal: kind = "signal"
        case .blobAsk, .blobHave, .blobWant: kind = "file question"
        case .blobSection, .blobChunk: kind = "file"
        case nil: kind = "unknown"
        }
    }
}
