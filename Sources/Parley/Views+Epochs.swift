import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

extension Views {
    /// The keys of every conversation that this person is in, the newest first; those that are yet to
    /// be made before all.
    func epochs() throws -> [EpochView] {
        try store.spaces().filter { $0.kind != .own }.compactMap { try epoch(of: $0) }
            .sorted { ($0.madeAt ?? .max, $1.name) > ($1.madeAt ?? .max, $0.name) }
    }

    /// The keys of a conversation; nil if this device is not in it, or has not accepted.
    func epoch(of space: SpaceRecord) throws -> EpochView? {
        guard let roster = try roster(of: space), roster.takesPart(core.node.device) else {
            return nil
        }
        var view = EpochView(
            conversation: space.id.description, name: try title(of: space, roster),
            deviceCount: roster.devices.count)
        guard let epoch = try rosters.epoch(of: space, by: core, in: store) else { return view }
        view.id = epoch.id.description
        view.device = epoch.author.description
        view.author = try roster.person(of: epoch.author).map { try name(of: $0, in: roster) }
        view.madeAt = epoch.madeAt
        view.openedAt = epoch.openedAt
        view.isFaulted = epoch.isFaulted
        return view
    }
}
