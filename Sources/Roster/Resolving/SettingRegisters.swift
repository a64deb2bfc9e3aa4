import ParleyLedger
import ParleyWire

/// What gives the settings of a space: of each field the newest operations that hold, of which the
/// senior one counts.
struct SettingRegisters: Sendable {
    private var history: [Int] = []
    private var rotation: [Int] = []

    init() {}

    /// By these operations, all of which hold.
    init(_ nodes: [Int], _ index: AuthorityIndex) {
        for node in nodes { take(node, index) }
    }

    /// Takes one that holds in: those that it had seen give nothing any more.
    mutating func take(_ node: Int, _ index: AuthorityIndex) {
        guard let given = Self.given(node, index) else { return }
        if given.history != nil { history = index.newest(history + [node]) }
        if given.rotationHours != nil { rotation = index.newest(rotation + [node]) }
    }

    func values(_ index: AuthorityIndex) -> SpaceSettings {
        func senior(_ nodes: [Int]) -> SpaceSettings? {
            nodes.min { index[$0].key < index[$1].key }.flatMap { Self.given($0, index) }
        }
        var settings = SpaceSettings()
        settings.history = senior(history)?.history
        settings.rotationHours = senior(rotation)?.rotationHours
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
