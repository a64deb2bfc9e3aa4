/// One thing that happened in a run, in the words of its report.
public struct Happening: Codable, Equatable, Sendable {
    /// When, in virtual milliseconds.
    public var at: UInt64
    /// Who it happened to.
    public var node: String
    /// What it was, in a few words.
    public var what: String
}

/// What happened to one node. It becomes words only where somebody reads it.
enum Incident {
    case arrived(from: Int, Contents)
    case sent(to: Int, Contents)
    case held(to: Int, Contents)
    case wrote(Int)
    case linkOpened(Int)
    case linkClosed(Int)
    case stepFailed
    case died(losingPower: Bool)
    case started
    case clockJumped(milliseconds: Int64)
    case acted(String)
    case changedViews(Int)

    /// What a frame is and holds.
    struct Contents {
        var kind: String
        var byteCount: Int
        var operationCount: Int

        var words: String {
            let count = operationCount > 0 ? " of \(operationCount)" : ""
            return "\(kind)\(count), \(byteCount) B"
        }
    }

    func words(_ names: [String]) -> String {
        func name(_ index: Int) -> String { names.indices.contains(index) ? names[index] : "?" }
        return switch self {
        case .arrived(let source, let contents): "from \(name(source)): \(contents.words)"
        case .sent(let target, let contents): "to \(name(target)): \(contents.words)"
        case .held(let target, let contents): "held back from \(name(target)): \(contents.words)"
        case .wrote(let count): "wrote \(count)"
        case .linkOpened(let peer): "link to \(name(peer)) opened"
        case .linkClosed(let peer): "link to \(name(peer)) closed"
        case .stepFailed: "the store failed, the step was undone"
        case .died(let losingPower): losingPower ? "lost its power" : "died"
        case .started: "started"
        case .clockJumped(let milliseconds): "clock jumped by \(milliseconds) ms"
        case .acted(let deed): "act: \(deed)"
        case .changedViews(let count): "views changed: \(count)"
        }
    }
}

/// The last incidents of one node, and no more.
struct Recent {
    /// How many are kept.
    static let countMax = 50

    private var kept: [(at: UInt64, incident: Incident)] = []
    private var next = 0

    mutating func add(_ incident: Incident, at time: UInt64) {
        if kept.count < Self.countMax {
            kept.append((time, incident))
        } else {
            kept[next] = (time, incident)
            next = (next + 1) % Self.countMax
        }
    }

    /// Oldest first.
    func happenings(of node: String, _ names: [String]) -> [Happening] {
        (kept[next...] + kept[..<next]).map {
            Happening(at: $0.at, node: node, what: $0.incident.words(names))
        }
    }
}

/// Things in the order in which they came, up to a bound; what came later is only counted.
struct Bounded<Element> {
    private(set) var elements: [Element] = []
    /// How many more there were.
    private(set) var leftOut = 0
    private let countMax: Int

    init(_ countMax: Int) { self.countMax = countMax }

    mutating func append(_ element: Element) {
        if elements.count < countMax { elements.append(element) } else { leftOut += 1 }
    }

    /// Changes the last one that was kept.
    mutating func changeLast(_ change: (inout Element) -> Void) {
        guard !elements.isEmpty, leftOut == 0 else { return }
        change(&elements[elements.count - 1])
    }
}
