/// Who does not reach whom, in one direction each: all partings of the moment in one value.
public struct Cuts: Equatable, Sendable {
    /// One way that carries nothing.
    struct Way: Hashable {
        var from: String
        var to: String
    }

    /// Everybody.
    let users: [String]
    /// The groups of the parting in force; empty where there is none.
    private(set) var groups: [[String]] = []
    private var isOneWay = false
    private var away: Set<String> = []
    private var held: Set<Way> = []

    /// Nothing is cut among these.
    public init(users: [String]) { self.users = users }

    /// Parts these groups, in place of what was parted and held up before. Who stands in none of
    /// them goes on reaching everybody.
    public mutating func part(_ groups: [[String]], oneWay: Bool) {
        heal()
        self.groups = groups
        isOneWay = oneWay
    }

    /// Ends the parting and everything that is held up; who is away stays away.
    public mutating func heal() {
        groups = []
        held = []
    }

    /// Ends the parting, but holds up every way that it cut, for somebody to release one by one.
    /// Returns these ways.
    mutating func loosen() -> [Way] {
        var ways: [Way] = []
        for from in users {
            for to in users where from != to && isParted(from: from, to: to) {
                ways.append(Way(from: from, to: to))
            }
        }
        groups = []
        held.formUnion(ways)
        return ways
    }

    /// Puts somebody out of reach, or back.
    public mutating func set(_ user: String, isAway: Bool) {
        if isAway { away.insert(user) } else { away.remove(user) }
    }

    /// Holds up what one sends to another, or no longer.
    public mutating func set(from: String, to: String, isHeld: Bool) {
        let way = Way(from: from, to: to)
        if isHeld { held.insert(way) } else { held.remove(way) }
    }

    /// Ends everything, for good.
    public mutating func clear() { self = Cuts(users: users) }

    /// Whether anything is cut.
    public var isEmpty: Bool { groups.count < 2 && away.isEmpty && held.isEmpty }

    /// Whether what one sends does not arrive at the other.
    public func isCut(from: String, to: String) -> Bool {
        if away.contains(from) || away.contains(to) { return true }
        return held.contains(Way(from: from, to: to)) || isParted(from: from, to: to)
    }

    private func isParted(from: String, to: String) -> Bool {
        guard let sender = side(of: from), let receiver = side(of: to), sender != receiver
        else { return false }
        return !isOneWay || sender < receiver
    }

    /// Which group of the parting somebody is in, counted from 0.
    public func side(of user: String) -> Int? { groups.firstIndex { $0.contains(user) } }

    /// Whether somebody is out of reach.
    public func isAway(_ user: String) -> Bool { away.contains(user) }

    /// As "ann ben | cara", with ">" where only what goes to the right is cut.
    public var text: String {
        var words: [String] = []
        if groups.count > 1 {
            words.append(
                groups.map { $0.joined(separator: " ") }.joined(separator: isOneWay ? " > " : " | ")
            )
        }
        if !held.isEmpty { words.append("\(held.count) ways held up") }
        for user in users where away.contains(user) { words.append("\(user) away") }
        return words.isEmpty ? "all together" : words.joined(separator: ", ")
    }
}
