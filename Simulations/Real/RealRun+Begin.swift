internal import Parley
internal import ParleySimulate

extension RealRun {
    /// How long all introductions may take, in seconds.
    private static let meetingSeconds: Double = 120
    /// What everybody's group is called.
    static let groupName = "all"

    /// Makes the nodes, lets people meet, and founds the group of all.
    func populate(plan: NetworkPlan, folder: String) async throws {
        for user in plan.users {
            devices.append(
                try Device(user, plan: plan, program: settings.program, folder: folder))
        }
        for device in devices {
            try await device.start()
            try await device.node().perform(SetAdditionPolicy(policy: .contacts))
        }
        for (first, second) in introductions() {
            let link = try await devices[first].node().perform(CreateInvite(hours: 2)).link
            let alias = devices[first].user
            try await devices[second].node().perform(AcceptInvite(link: link, alias: alias))
        }
        try await eventually("everybody meets", within: Self.meetingSeconds) {
            for (first, second) in introductions() {
                let known = try await devices[first].node().perform(ListContacts())
                guard known.contains(where: { $0.name == devices[second].user }) else {
                    return false
                }
            }
            return true
        }
        let others = devices.dropFirst().map(\.user)
        try await devices[0].node().perform(
            CreateConversation(name: Self.groupName, members: Array(others)))
        try await eventually("everybody has the group", within: Self.meetingSeconds) {
            for device in devices {
                let held = try await device.node().perform(ListConversations())
                guard held.contains(where: { $0.name == Self.groupName }) else { return false }
            }
            return true
        }
    }

    /// Who invites whom, by place.
    private func introductions() -> [(Int, Int)] {
        let count = devices.count
        var pairs: [(Int, Int)] = []
        for first in 0..<count {
            for second in (first + 1)..<max(count, first + 1) {
                let isNext = second == first + 1
                let isKnown =
                    switch scenario.acquaintance {
                    case .everyone: true
                    case .first: first == 0
                    case .circle: first == 0 || isNext
                    }
                if isKnown { pairs.append((first, second)) }
            }
        }
        return pairs
    }
}
