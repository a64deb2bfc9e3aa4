internal import Glibc

/// The network of one run, as it stands.
final class Network {
    let plan: NetworkPlan
    private(set) var cuts: Cuts
    private var shuttle: ShuttleThread?

    /// Builds it. What was built before something failed is removed again.
    init(_ plan: NetworkPlan, seed: UInt64) throws(RealFailure) {
        self.plan = plan
        cuts = Cuts(users: plan.users)
        do throws(RealFailure) {
            for command in plan.namespaceCommands + plan.cableCommands { try Tool.run(command) }
            if plan.carrier == .shuttle {
                shuttle = try ShuttleThread(
                    Shuttle(placeCount: plan.users.count, seed: seed),
                    namespaces: plan.users.map(plan.namespace(of:)), device: NetworkPlan.device)
            }
            for command in plan.addressCommands { try Tool.run(command) }
            try set(cuts)
        } catch {
            tearDown()
            throw error
        }
    }

    /// Cuts what is to be cut from now on, and nothing else.
    func set(_ cuts: Cuts) throws(RealFailure) {
        self.cuts = cuts
        if plan.isFiltered {
            for user in plan.users {
                let words = ["ip", "netns", "exec", plan.namespace(of: user), "nft", "-f", "-"]
                try Tool.run(words, input: plan.rules(for: user, cuts: cuts))
            }
        }
        shuttle?.change { shuttle in
            for (from, sender) in plan.users.enumerated() {
                for (to, receiver) in plan.users.enumerated() where to != from {
                    shuttle[from, to] = plan.line(from: sender, to: receiver, cuts: cuts)
                }
            }
        }
    }

    /// Breaks what one has open to another, as when a router forgets it. Returns whether there was
    /// anything, and whether this kernel does that.
    func reset(from: String, to: String) throws(RealFailure) -> Bool {
        let words = ["ip", "netns", "exec", plan.namespace(of: from), "ss", "-K", "-H"]
        let (status, output) = try Tool.attempt(words + ["dst", plan.address(of: to)])
        return status == 0 && output.contains("tcp")
    }

    /// Packets that the shuttle delivered and lost; nil where the kernel carries.
    var counts: (delivered: Int, lost: Int)? { shuttle?.counts }

    /// Ends what runs in it, and removes it.
    func tearDown() {
        shuttle?.end()
        shuttle = nil
        Leftovers.remove(namespaces: plan.namespaces)
    }
}
