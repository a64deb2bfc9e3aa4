import ParleyLedger
import ParleyWire

/// What gives the settings of a space: of each field the newest operations that hold, of which the
/// senior one counts.
struct SettingRegisters: Sendable {
    private var history = LiveLists()
    private var rotation = LiveLists()
    private var rules = GroupAct.allCases.map { _ in LiveLists() }

    /// Takes one in that holds, or out that holds no more.
    mutating func file(_ node: Int, _ index: AuthorityIndex, isLive: Bool) {
        guard let given = Self.given(node, index) else { return }
        let mark = LiveLists.Mark(log: index[node].log)
        func put(in lists: inout LiveLists) {
            if isLive { lists.insert(node, mark) } else { lists.remove(node, mark) }
        }
        if given.history != nil { put(in: &history) }
        if given.rotationHours != nil { put(in: &rotation) }
        for (place, act) in GroupAct.allCases.enumerated() where given.rules[act] != nil {
            put(in: &rules[place])
        }
    }

    func values(_ index: AuthorityIndex) -> SpaceSettings {
        func senior(_ lists: LiveLists) -> SpaceSettings? {
            index.senior(index.newest(lists.lasts)).flatMap { Self.given($0, index) }
        }
        var settings = SpaceSettings()
        settings.history = senior(history)?.history
        settings.rotationHours = senior(rotation)?.rotationHours
        for (place, act) in GroupAct.allCases.enumerated() {
            settings.rules[act] = senior(rules[place])?.rules[act]
        }
        return settings
    }

    private static func given(_ node: Int, _ index: AuthorityIndex) -> SpaceSettings? {
        switch index[node].deed {
        case .genesis(_, _, let settings), .settings(let settings): settings
        case .add, .remove, .setRole, .leave, .addDevices, .revokeDevice, .invite, .endInvite,
            .redeem:
            nil
        }
    }
}
