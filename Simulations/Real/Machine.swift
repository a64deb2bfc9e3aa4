internal import Glibc

/// What this machine can do for a run.
public struct Machine: Equatable, Sendable {
    /// Whether `nft` filters packets.
    public var hasFilter: Bool
    /// Whether TUN devices can be made.
    public var hasTunnels: Bool
    /// Why no run is possible here, or nil.
    public var lack: String?

    /// A machine that can do this.
    public init(hasFilter: Bool, hasTunnels: Bool, lack: String? = nil) {
        self.hasFilter = hasFilter
        self.hasTunnels = hasTunnels
        self.lack = lack
    }

    /// Tries everything once, in a namespace that is gone again afterwards.
    ///
    /// A tool that is installed may still not be allowed to work, as in a container: only trying
    /// tells.
    public static func probe() -> Machine {
        var machine = Machine(hasFilter: false, hasTunnels: false)
        guard Tool.path(of: "ip") != nil else {
            machine.lack = "ip (iproute2) is not installed"
            return machine
        }
        let name = Leftovers.name(".probe", of: getpid())
        defer { Leftovers.remove(namespaces: [name]) }
        do {
            try Tool.run(["ip", "netns", "add", name])
        } catch {
            machine.lack = "network namespaces cannot be made: \(error)"
            return machine
        }
        machine.hasFilter = canFilter(in: name)
        machine.hasTunnels = canTunnel(in: name)
        if !machine.hasFilter, !machine.hasTunnels {
            machine.lack = "neither nft (nftables) nor /dev/net/tun works here"
        }
        return machine
    }

    private static func canFilter(in name: String) -> Bool {
        guard Tool.path(of: "nft") != nil else { return false }
        let rules =
            "table ip probe { chain c { type filter hook input priority 0; "
            + "ip saddr { 10.77.0.1 } drop; numgen random mod 1000 < 1 drop; }; }"
        let words = ["ip", "netns", "exec", name, "nft", "-f", "-"]
        // Any failure means the same: no filter.
        return (try? Tool.run(words, input: rules)) != nil
    }

    private static func canTunnel(in name: String) -> Bool {
        let shuttle = Shuttle(placeCount: 1, seed: 0)
        do {
            let thread = try ShuttleThread(
                shuttle, namespaces: [name], device: NetworkPlan.device)
            thread.end()
            return true
        } catch {
            // Whatever the reason: no tunnels.
            return false
        }
    }
}
