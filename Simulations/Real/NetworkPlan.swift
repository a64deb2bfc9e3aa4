public import ParleySimulate

/// A network to build, as the commands that build it: nothing here runs one.
///
/// Everybody has a namespace with one device in it. Either the kernel carries, over cables into a
/// switch in a namespace of its own, or ``Shuttle`` does, which can also delay.
public struct NetworkPlan: Equatable, Sendable {
    /// What carries packets between namespaces.
    public enum Carrier: String, Equatable, Sendable {
        /// veth pairs into a bridge.
        case cables
        /// A TUN device in each namespace, and a thread of ours between them.
        case shuttle
    }

    /// The one device in each namespace.
    static let device = "line0"
    /// Where addresses begin; they exist in our namespaces only.
    static let addressStem = "10.77.0."
    /// The port of every node.
    static let port = 7447

    /// Whose network it is: the number of the process that builds it.
    public let owner: Int32
    /// Everybody.
    public let users: [String]
    /// What carries.
    public let carrier: Carrier
    /// Whether the kernel's filter cuts and loses; else the shuttle does.
    public let isFiltered: Bool
    /// How many packets in a thousand are lost.
    public let lossPerMille: UInt64
    /// How ways behave.
    public let links: Scenario.Links

    /// Where somebody's node is.
    public func namespace(of user: String) -> String { Leftovers.name("-" + user, of: owner) }
    /// Where the switch is.
    public var wires: String { Leftovers.name(".switch", of: owner) }
    /// Every namespace.
    public var namespaces: [String] {
        users.map(namespace(of:)) + (carrier == .cables ? [wires] : [])
    }

    /// Somebody's address.
    public func address(of user: String) -> String {
        Self.addressStem + String((users.firstIndex(of: user) ?? 0) + 1)
    }

    /// What makes the namespaces, before any device is in them.
    var namespaceCommands: [[String]] {
        namespaces.flatMap { name in
            [["ip", "netns", "add", name], ["ip", "-n", name, "link", "set", "lo", "up"]]
        }
    }

    /// What lays the cables; nothing where the shuttle carries, whose devices exist once it runs.
    var cableCommands: [[String]] {
        guard carrier == .cables else { return [] }
        let inSwitch = ["ip", "-n", wires, "link"]
        let bridge = [
            inSwitch + ["add", "bridge0", "type", "bridge"],
            inSwitch + ["set", "bridge0", "up"],
        ]
        return bridge
            + users.enumerated().flatMap { index, user in
                let port = "port\(index)"
                return [
                    inSwitch + [
                        "add", port, "type", "veth", "peer", "name", Self.device, "netns",
                        namespace(of: user),
                    ],
                    inSwitch + ["set", port, "master", "bridge0", "up"],
                ]
            }
    }

    /// What gives everybody an address, and a rate where the kernel has to keep one.
    var addressCommands: [[String]] {
        users.flatMap { user -> [[String]] in
            let name = namespace(of: user)
            var commands = [
                ["ip", "-n", name, "addr", "add", address(of: user) + "/24", "dev", Self.device],
                ["ip", "-n", name, "link", "set", Self.device, "up"],
            ]
            if carrier == .cables, let rate = links.default.bytesPerSecond {
                commands.append(
                    ["tc", "-n", name, "qdisc", "add", "dev", Self.device, "root", "tbf"]
                        + ["rate", "\(rate * 8)bit", "burst", "16kb", "latency", "500ms"])
            }
            return commands
        }
    }

    /// What the filter in somebody's namespace does, as `nft -f` reads it: it replaces what was
    /// there in one step, so that no packet slips through between two partings.
    func rules(for user: String, cuts: Cuts) -> String {
        let silent = users.filter { $0 != user && cuts.isCut(from: $0, to: user) }
        var lines = ["add table ip parley", "delete table ip parley", "table ip parley {"]
        lines.append("  chain arrive {")
        lines.append("    type filter hook input priority 0; policy accept;")
        lines.append("    iifname != \"\(Self.device)\" accept")
        if !silent.isEmpty {
            let addresses = silent.map(address(of:)).joined(separator: ", ")
            lines.append("    ip saddr { \(addresses) } drop")
        }
        if lossPerMille > 0 { lines.append("    numgen random mod 1000 < \(lossPerMille) drop") }
        return (lines + ["  }", "}", ""]).joined(separator: "\n")
    }

    /// How packets travel from one to another where the shuttle carries.
    func line(from: String, to: String, cuts: Cuts) -> Line {
        let named = links.between
        let link = named?["\(from)-\(to)"] ?? named?["\(to)-\(from)"] ?? links.default
        var line = Line()
        let least = link.delayMs.first ?? 0
        line.delay = least * 1_000...max(least, link.delayMs.last ?? 0) * 1_000
        line.bytesPerSecond = link.bytesPerSecond
        if !isFiltered {
            line.lossPerMille = lossPerMille
            line.isCut = cuts.isCut(from: from, to: to)
        }
        return line
    }
}

extension NetworkPlan {
    /// The plan for these people on this machine; cables where nothing has to be delayed.
    public init(
        _ scenario: Scenario, owner: Int32, lossPerMille: UInt64, machine: Machine
    ) {
        self.owner = owner
        self.lossPerMille = lossPerMille
        users = scenario.nodes.map(\.user)
        links = scenario.links
        isFiltered = machine.hasFilter
        let ways = [links.default] + (links.between.map { Array($0.values) } ?? [])
        // A cable takes less than a millisecond by itself, and knows one rate for everybody.
        let isPlain = ways.allSatisfy { ($0.delayMs.last ?? 0) <= 1 } && links.between == nil
        carrier = machine.hasFilter && (isPlain || !machine.hasTunnels) ? .cables : .shuttle
    }

    /// In words, for people.
    public var text: String {
        let by = carrier == .cables ? "veth and a bridge" : "TUN and a shuttle"
        var words = ["\(users.count) namespaces, packets carried by \(by)"]
        words.append("cut by " + (isFiltered ? "nftables" : "the shuttle"))
        let delay = links.default.delayMs.map(String.init).joined(separator: "-")
        words.append(carrier == .shuttle ? "delay \(delay) ms" : "no delay")
        words.append("loss \(lossPerMille) in 1000")
        return words.joined(separator: ", ")
    }
}
