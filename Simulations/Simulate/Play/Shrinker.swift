/// Makes a failing run as small as it gets while it still breaks the same promise.
///
/// First whole classes of acts go, then time, then people, then single acts by delta debugging
/// (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002), then words.
/// A step is kept only where the very same invariant still fails: another failure is another bug.
public struct Shrinker {
    /// The smallest run so far.
    public private(set) var record: FailureRecord
    /// Runs that were tried.
    public private(set) var runCount = 0

    private let invariant: String
    private let mayGoOn: (_ runCount: Int) -> Bool
    private let say: (String) -> Void
    private let limit: () -> () -> Bool

    /// A shrinker of this failure.
    ///
    /// - Parameters:
    ///   - mayGoOn: asked before each run; told how many were made.
    ///   - limit: called as a run begins; what it gives tells whether that run's time is up.
    ///   - say: is told of each step that made the run smaller.
    public init?(
        _ record: FailureRecord, mayGoOn: @escaping (_ runCount: Int) -> Bool,
        limit: @escaping () -> () -> Bool = { { false } },
        say: @escaping (String) -> Void
    ) {
        guard let invariant = record.verdict.invariant else { return nil }
        self.record = record
        self.invariant = invariant
        self.mayGoOn = mayGoOn
        self.limit = limit
        self.say = say
    }

    /// Shrinks until nothing gets smaller or the time is over.
    public mutating func shrink() {
        var size = Int.max
        while record.tape.acts.count + record.scenario.nodes.count < size {
            size = record.tape.acts.count + record.scenario.nodes.count
            dropClasses()
            halveTime()
            dropPeople()
            dropActs()
        }
        shortenWords()
    }

    // MARK: Steps

    private mutating func dropClasses() {
        for name in Set(record.tape.acts.map(\.do.name)).sorted() {
            keep("no \(name)") { $0.tape.acts.removeAll { $0.do.name == name } }
        }
    }

    private mutating func halveTime() {
        for place in record.scenario.phases.indices
        where record.scenario.phases[place].heal != true {
            while record.scenario.phases[place].for > .seconds(1) {
                let isKept = keep("phase \(place + 1) in half the time") { record in
                    Self.halve(place, &record)
                }
                if !isKept { break }
            }
        }
    }

    /// Cuts the second half of a phase off, and moves what follows forward.
    private static func halve(_ place: Int, _ record: inout FailureRecord) {
        let start = record.scenario.phases[..<place].reduce(0) { $0 + $1.for.milliseconds }
        let length = record.scenario.phases[place].for.milliseconds
        let half = length / 2
        record.scenario.phases[place].for = .milliseconds(length - half)
        // They are on the tape as well; behind their phase no scenario may have any.
        record.scenario.phases[place].actions?.removeAll { $0.at.milliseconds > length - half }
        record.tape.acts = record.tape.acts.compactMap { act in
            var act = act
            let time = act.at.milliseconds
            if time >= start + length {
                act.at.milliseconds -= half
            } else if time >= start + length - half {
                return nil
            }
            return act
        }
    }

    private mutating func dropPeople() {
        for user in record.scenario.nodes.map(\.user).reversed()
        where record.scenario.nodes.count > 2 {
            keep("without \(user)") { record in
                for gone in record.scenario.nodes where gone.user == user || gone.of == user {
                    record.scenario.leave(out: gone.user, of: &record.tape)
                }
            }
        }
    }

    /// Delta debugging over single acts.
    private mutating func dropActs() {
        var parts = 2
        while record.tape.acts.count > 1, parts <= record.tape.acts.count, mayGoOn(runCount) {
            let size = (record.tape.acts.count + parts - 1) / parts
            let starts = stride(from: 0, to: record.tape.acts.count, by: size)
            let isSmaller = starts.contains { start in
                let end = min(start + size, record.tape.acts.count)
                return keep("without \(end - start) of \(record.tape.acts.count) acts") {
                    $0.tape.acts.removeSubrange(start..<end)
                }
            }
            if isSmaller {
                parts = max(2, parts - 1)
            } else if size == 1 {
                return
            } else {
                parts = min(record.tape.acts.count, parts * 2)
            }
        }
        if record.tape.acts.count == 1 {
            keep("without the last act") { $0.tape.acts = [] }
        }
    }

    private mutating func shortenWords() {
        for place in record.tape.acts.indices {
            keep(nil) { record in
                record.tape.acts[place].do = record.tape.acts[place].do.shortened
            }
        }
    }

    // MARK: Trying

    /// Tries a change; keeps it where the same promise is still broken.
    @discardableResult
    private mutating func keep(
        _ step: String?, _ change: (inout FailureRecord) -> Void
    ) -> Bool {
        var smaller = record
        change(&smaller)
        // What no file may hold could not be replayed.
        guard smaller != record, (try? smaller.scenario.check()) != nil, mayGoOn(runCount)
        else { return false }
        runCount += 1
        let run = SimulationRun(smaller.scenario, tape: smaller.tape, isOverdue: limit())
        // A run that cannot even be played is no smaller failure.
        guard let summary = try? run.run(), summary.verdict.invariant == invariant
        else { return false }
        smaller.verdict = summary.verdict
        record = smaller
        if let step { say("\(step): \(record.tape.acts.count) acts left") }
        return true
    }
}

extension Act {
    /// The act where this person never was; nil where nothing is left of it.
    func without(_ user: String) -> Act? {
        if node == user { return nil }
        var act = self
        switch act.do {
        case .found(let name, let members):
            act.do = .found(name: name, members: members.filter { $0 != user })
        case .part(let groups, let isOneWay):
            let groups = groups.map { $0.filter { $0 != user } }.filter { !$0.isEmpty }
            act.do = .part(groups: groups, oneWay: isOneWay)
        case .recover(let device, let helper, let kept) where kept.contains(user):
            act.do = .recover(
                device: device, helper: helper, keep: kept.filter { $0 != user })
            return act.without(user)
        default: if act.do.users.contains(user) { return nil }
        }
        return act
    }
}

extension Deed {
    /// The same with as few words as mean anything.
    var shortened: Deed {
        func short(_ text: String) -> String {
            text.split(separator: " ").prefix(2).joined(separator: " ")
        }
        switch self {
        case .write(let space, let text): return .write(space: space, text: short(text))
        case .reply(let space, let message, let text):
            return .reply(space: space, message: message, text: short(text))
        case .edit(let space, let message, let text):
            return .edit(space: space, message: message, text: short(text))
        case .bringIn(let space, let firstLine, let texts):
            return .bringIn(
                space: space, firstLine: firstLine, texts: texts.prefix(1).map(short))
        default: return self
        }
    }
}

extension Scenario {
    /// Forgets a device in everything that names devices, and in what happens.
    public mutating func leave(out user: String, of tape: inout Tape) {
        nodes.removeAll { $0.user == user }
        tape.acts = tape.acts.compactMap { $0.without(user) }
        links.between = links.between?.filter { pair, _ in
            !pair.split(separator: "-").contains { $0 == user }
        }
        for place in phases.indices {
            phases[place].partition = phases[place].partition?.map { $0.filter { $0 != user } }
            phases[place].actions = phases[place].actions?.compactMap { $0.without(user) }
        }
    }
}
