public import ParleyLedger
import ParleySealing
public import ParleyWire

/// All control operations of a space with their causes, and the rosters that follow from them.
///
/// A deterministic function of the *set* of operations: whatever the order they came in, everyone
/// who holds the same ones sees the same roster. Source: `Protocol/08-roster.md`.
public struct ControlGraph: Sendable {
    /// The space.
    public let space: SpaceID
    private var genesis: (VerifiedOperation, DeviceID)?

    /// An empty graph.
    ///
    /// - Parameter forks: the places of proven forks in logs of the control lane. What stands at or
    ///   above them is not taken, and who names it names what stands below. Where another proof
    ///   comes, the graph is made anew.
    public init(space: SpaceID, forks: [LogTag: UInt64] = [:]) {
        self.space = space
    }

    /// Takes an operation of the control lane of any kind, after all that it names.
    ///
    /// - Returns: whether it is in the graph now. It is not where a cause is missing or the place
    ///   does not follow the log's last one.
    @discardableResult
    public mutating func add(_ operation: VerifiedOperation, by device: DeviceID) -> Bool {
        if genesis == nil { genesis = (operation, device) }
        return true
    }

    /// Who belongs to the space by all operations; without a genesis nobody.
    public mutating func roster() -> Roster { stub() }

    /// Who belongs to it by what somebody had seen, or nil where a tip is not in the graph.
    public mutating func roster(at tips: ControlTips) -> Roster? { stub() }

    /// Tips with what an operation names besides, or nil where that is not in the graph.
    public func merge(_ tips: ControlTips, _ named: [OperationReference]) -> ControlTips? { tips }

    /// The tips of everything.
    public func tips() -> ControlTips { ControlTips() }

    /// Tips that are known to have this authority, for content whose own log is not held yet.
    public func tips(underAuthority authority: UInt64) -> ControlTips? { nil }

    private func stub() -> Roster {
        let empty = Roster(
            kind: .group, members: [], authority: OperationHash.authority([]),
            digest: digest(.roster, []), settings: SpaceSettings(), invites: [],
            standings: Standings())
        guard let (operation, device) = genesis, let payload = operation.operation.payload,
            // A stub.
            let genesis = try? Genesis(payload: payload),
            // A stub.
            let logs = try? genesis.check(by: device, in: space)
        else { return empty }
        var standings = Standings()
        let members = zip(genesis.founders, logs).map { founder, log in
            for device in log.devices { standings.persons[device.device] = founder.person }
            return Member(
                person: founder.person, role: founder.role, rank: 0, name: founder.name,
                devices: log.devices.map {
                    MemberDevice($0, prekeys: [], horizon: Horizon())
                })
        }
        return Roster(
            kind: genesis.kind, members: members,
            authority: OperationHash.authority([operation.id]),
            digest: digest(.roster, operation.id.bytes), settings: genesis.settings,
            invites: [], standings: standings)
    }
}
