public import ParleySimulation

/// A story told as data: who is there, what they do, what breaks and when, what must hold.
///
/// Every run is one, the drawn ones too: ``drawn(seed:)`` makes a scenario of a seed.
public struct Scenario: Codable, Equatable, Sendable {
    /// Its name, as the name of its file.
    public var name: String
    /// What happens, and what it proves, in a sentence or two.
    public var story: String
    /// What decides all that the scenario leaves open.
    public var seed: UInt64
    /// What the nodes keep their operations in.
    public var store: StoreKind
    /// Whether what happens at one moment happens in an order that is drawn.
    public var isChaotic: Bool?
    /// The devices: the first one of each person, and those that people get in the run.
    public var nodes: [Device]
    /// How they came to know each other.
    public var acquaintance: Acquaintance
    /// How the ways between them behave.
    public var links: Links
    /// How many relays there are; each person uses one, in turn. None where left out.
    public var relays: Int?
    /// Whether people meet only through relays, once they know each other.
    public var relaysOnly: Bool?
    /// Whether nodes may connect with each other through a relay; drawn where left out.
    public var pipes: Bool?
    /// Ways of repair that no node has, so that the others are tried alone.
    public var without: [RepairPath]?
    /// Nodes that nobody knows, and that misbehave.
    public var strangers: Int?
    /// What people do by themselves.
    public var workload: Workload
    /// What happens, one after the other. A last phase that heals is where all must become equal.
    public var phases: [Phase]
    /// What must come out.
    public var expect: Expectation

    /// What nodes keep their operations in.
    public enum StoreKind: String, Codable, Sendable {
        /// A store in memory.
        case memory
        /// The production store on a disk that breaks.
        case sqlite
    }

    /// Who knows whom.
    public enum Acquaintance: String, Codable, Sendable {
        /// Everybody knows everybody.
        case everyone
        /// Everybody knows the first.
        case first
        /// Everybody knows the next, in a circle, and the first knows all.
        case circle
    }

    /// A device and who uses it.
    public struct Device: Codable, Equatable, Sendable {
        /// What it is called, and its person as well: lower-case letters and digits.
        public var user: String
        /// Whose it is; left out where it is a person's first. Until somebody links it or makes it
        /// with the recovery code it does not exist.
        public var of: String?
        /// How they are; drawn where it is left out.
        public var habit: Habit?
        /// How their device misbehaves, if it does.
        public var malicious: [Malice]?
        /// How their clock is wrong, if it is.
        public var clock: Clock?
    }

    /// How people are.
    public enum Habit: String, Codable, CaseIterable, Sendable {
        /// Writes in bursts.
        case chatty
        /// Reads, and now and then reacts.
        case lurking
        /// Writes, and is out of reach for long stretches.
        case commuting
        /// Does only what the scenario says.
        case silent
    }

    /// How a wall clock is wrong.
    public struct Clock: Codable, Equatable, Sendable {
        /// How far ahead it is, in seconds; below 0, behind.
        public var skewSeconds: Int64?
        /// How many parts in a million it runs too fast; below 0, too slow.
        public var driftPpm: Int64?
    }

    /// The ways between nodes.
    public struct Links: Codable, Equatable, Sendable {
        /// How every way behaves that is not named.
        public var `default`: Link
        /// Ways of their own, as `"ann-ben"`.
        public var between: [String: Link]?
    }

    /// One way between two nodes, in both directions.
    public struct Link: Codable, Equatable, Sendable {
        /// How long a frame takes, at least and at most, in milliseconds.
        public var delayMs: [UInt64]
        /// Bytes that pass in a second, each direction for itself; any number where left out.
        public var bytesPerSecond: UInt64?
    }

    /// What people do by themselves.
    public struct Workload: Codable, Equatable, Sendable {
        /// Acts of everybody together in a minute.
        public var actsPerMinute: UInt64
        /// How often each is chosen, by the name of the deed; the usual mix where left out.
        public var mix: [String: UInt64]?
        /// Acts of each person in an hour about their devices, backups and links into groups.
        public var devicesPerHour: UInt64?
        /// Acts of everybody together in a minute about calls, typing and presence.
        public var talkPerMinute: UInt64?
        /// Acts of everybody together in a minute about messages that are there: they pass them
        /// on, mark and pin them, and put conversations away.
        public var curationPerMinute: UInt64?
        /// Acts of everybody together in an hour about files.
        public var filesPerHour: UInt64?
        /// Acts of everybody together in a minute about polls.
        public var teamworkPerMinute: UInt64?
        /// Whether some call and go, and some keep others away who call them all the same.
        public var isUnruly: Bool?
        /// A chat log whose lines are typed, its speakers shared among the people; a path beside
        /// the scenario.
        public var log: String?
    }

    /// A stretch of the run.
    public struct Phase: Codable, Equatable, Sendable {
        /// How long it lasts. In a phase that heals, how long becoming equal may take.
        public var `for`: VirtualTime
        /// Who does not reach whom from its beginning to its end.
        public var partition: [[String]]?
        /// Whether the partition holds back one direction only.
        public var oneWay: Bool?
        /// What breaks at random.
        public var faults: Faults?
        /// What is done on purpose, at times from the beginning of the phase.
        public var actions: [Act]?
        /// Whether people do what they usually do; yes where left out.
        public var isBusy: Bool?
        /// Whether faults end here, and all must become equal before it is over.
        public var heal: Bool?
    }

    /// What breaks at random, as events in an hour: of each node, or of the whole network.
    public struct Faults: Codable, Equatable, Sendable {
        /// A process dies; in an hour of a node.
        public var crashes: UInt64?
        /// A machine loses its power; in an hour of a node.
        public var powerLosses: UInt64?
        /// A store fails or is full; in an hour of a node.
        public var storeFailures: UInt64?
        /// A page of the first node's database decays; in an hour.
        public var rot: UInt64?
        /// Something befalls a relay: it is gone for a while, loses all, or is set back; in an hour.
        public var relays: UInt64?
        /// What can befall it; anything where left out.
        public var relayTroubles: [RelayTrouble]?
        /// A wall clock jumps by up to ten years; in an hour of a node.
        public var clockJumps: UInt64?
        /// An old copy is put in the place of a disk; in an hour of a node.
        public var restores: UInt64?
        /// The network parts, for a second up to ten minutes; in an hour.
        public var partitions: UInt64?
        /// Partings may be silent and in one direction only.
        public var oneWay: Bool?
        /// A link breaks; in an hour.
        public var resets: UInt64?
        /// A link stalls for up to 20 s; in an hour.
        public var stalls: UInt64?
        /// A bit turns over on its way; in an hour.
        public var flips: UInt64?
        /// Received operations wait for the disk at most so long, in milliseconds.
        public var diskDelayMs: UInt64?
    }

    /// What must come out.
    public struct Expectation: Codable, Equatable, Sendable {
        /// Promises that are judged, as `"I2"`; all where left out.
        public var invariants: [String]?
        /// Things that must have happened at least once, or the scenario did not try them.
        public var marks: [String]?
    }
}

extension Scenario {
    /// The names of the persons, which are those of their first devices.
    var persons: [String] { nodes.filter { $0.of == nil }.map(\.user) }

    /// Whose a device is.
    func person(of user: String) -> String {
        nodes.first { $0.user == user }?.of ?? user
    }

    /// A person's first device, and those that they link in the first phase.
    func earlyDevices(of person: String) -> [String] {
        let linked = (phases.first?.actions ?? []).compactMap { act -> String? in
            if case .link(let device) = act.do { device } else { nil }
        }
        return devices(of: person).filter { $0 == person || linked.contains($0) }
    }

    /// The devices of a person, the first one first.
    func devices(of person: String) -> [String] {
        nodes.map(\.user).filter { self.person(of: $0) == person }
    }
}
