public import ParleyConversation
public import ParleyLedger
public import ParleySignalling
public import ParleyWire

/// What holds for the person on all of their devices.
/// Source: `Protocol/05-identity.md`, "Preferences".
extension NodeCore {
    /// Servers that are asked in a call: each makes every call slower to begin.
    public static let callServerCountMax = 8

    /// What a person may see of this person's presence, as it was set for them; nil if nothing was.
    ///
    /// - Parameter person: nil for everybody without a setting of their own.
    public static func privacy(
        for person: PersonID?, ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> PresenceBook.Privacy? {
        let value = try Overview.preference(
            .presence, about: person?.bytes ?? [], ownSpace: ownSpace, in: store)
        return value.map(privacy)
    }

    /// Where it is noted that this device came back by the recovery code alone.
    public static let recoveredKey = Array("recovered".utf8)

    /// Notes that this device came back by the recovery code alone: what the person had set, it does not
    /// know.
    public static func noteRecovered(in store: some NodeStore) throws(StoreError) {
        try store.setValue([1], .profile, recoveredKey)
    }

    /// The default: what an earlier version stored on this device, else everything. On a device
    /// that does not know the setting it is nothing.
    public static func privacyUnsaid(
        for person: PersonID?, in store: some NodeStore
    ) throws(StoreError) -> PresenceBook.Privacy {
        if let person, let former = try formerPrivacy(for: person, in: store) { return former }
        if let former = try formerPrivacy(for: nil, in: store) { return former }
        return try store.value(.profile, recoveredKey) == nil ? .everything : .nothing
    }

    /// The key under which earlier versions stored presence privacy, on each device separately.
    public static func formerPrivacyKey(_ person: PersonID?) -> [UInt8] {
        Array("presence".utf8) + (person?.bytes ?? [])
    }

    /// The stored value, until it is recorded for all devices.
    public static func formerPrivacy(
        for person: PersonID?, in store: some NodeStore
    ) throws(StoreError) -> PresenceBook.Privacy? {
        try store.value(.profile, formerPrivacyKey(person)).map { kept in
            // What cannot be read may have been meant to hide more.
            kept.first.flatMap { PresenceBook.Privacy(rawValue: $0) } ?? .nothing
        }
    }

    /// The presence privacy in a value.
    static func privacy(_ value: [UInt8]) -> PresenceBook.Privacy {
        // A value that only a newer device understands may be meant to hide more: nothing is
        // revealed.
        guard value.count == 1, value[0] > 0 else { return .nothing }
        return PresenceBook.Privacy(rawValue: value[0] - 1) ?? .nothing
    }

    /// The servers that help calls, in the order in which they were set. Devices that add some at a
    /// time may come to more than ``callServerCountMax``: those set first are asked.
    public static func callServers(
        ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [TurnServer] {
        try Overview.preferences(.callServer, ownSpace: ownSpace, in: store)
            .compactMap(callServer)
    }

    /// The server in a preference, or nil if it is invalid.
    static func callServer(_ said: Preference) -> TurnServer? {
        String(validating: said.topic, as: UTF8.self).flatMap {
            TurnServer(address: $0, bytes: said.value)
        }
    }

    /// Whether messages of the person get previews of links without being told; nil if they never said.
    public static func makesLinkPreviews(
        ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> Bool? {
        try Overview.preference(.linkPreviews, ownSpace: ownSpace, in: store)
            .map(makesLinkPreviews)
    }

    /// Whether a value says that they do. One that only a newer device understands may be meant to
    /// have fewer pages fetched, whose owners learn where the person is.
    static func makesLinkPreviews(_ value: [UInt8]) -> Bool { value == [1] }

    /// Performs commands about the person's preferences.
    mutating func prefer(_ command: Command, _ turn: inout some Turn) throws(StoreError) -> Result<
        CommandReply, CommandRefusal
    > {
        guard let ownSpace else { return .failure(.unknownConversation) }
        switch command {
        case .setPrivacy(let privacy, let person):
            if let person, try contact(person, turn.store) == nil {
                return .failure(.unknownPerson)
            }
            let said = Preference(
                .presence, about: person?.bytes ?? [], [privacy.rawValue + 1])
            try keep(said, &turn)
        case .setCallServer(let server):
            let known = try Self.callServers(ownSpace: ownSpace.number, in: turn.store)
            let isKnown = known.contains { $0.address == server.address }
            guard isKnown || known.count < Self.callServerCountMax else {
                return .failure(.tooManyServers(limit: Self.callServerCountMax))
            }
            let said = Preference(
                .callServer, about: Array(server.address.utf8), server.bytes)
            try keep(said, &turn)
        case .removeCallServer(let address):
            let said = Preference(.callServer, about: Array(address.utf8), [])
            try keep(said, &turn)
        case .noteRecoveryCheck(let time):
            let known = try Overview.number(
                .recoveryCheck, ownSpace: ownSpace.number, in: turn.store)
            guard time > known ?? 0 else { break }
            try keep(Preference(.recoveryCheck, number: time), &turn)
        case .setLinkPreviews(let isOn):
            // Off is said as well: a device on which they were on before must not take that for the
            // default.
            try keep(Preference(.linkPreviews, [isOn ? 1 : 2]), &turn)
        case .setDisclosure(let what, let isTold, let id):
            if let id, try conversation(id, turn.store) == nil {
                return .failure(.unknownConversation)
            }
            try keep(what.preference(isTold, in: id), &turn)
        case .setUsualLifetime(let seconds):
            guard seconds <= Limits.lifetimeSecondsMax else {
                return .failure(.impossibleLifetime(limit: Limits.lifetimeSecondsMax))
            }
            try keep(
                seconds == 0 ? Preference(.lifetime, []) : Preference(.lifetime, number: seconds),
                &turn)
        default: preconditionFailure("a command that is about no preference")
        }
        return .success(.done)
    }

    /// Says something to all own devices, unless it holds already.
    mutating func keep(_ said: Preference, _ turn: inout some Turn) throws(StoreError) {
        guard let ownSpace else { return }
        let known = try Overview.preference(
            said.key, about: said.topic, ownSpace: ownSpace.number, in: turn.store)
        guard said.value != known ?? [] else { return }
        _ = try write([said.draft()], in: ownSpace, &turn)
    }

    /// Applies the consequences of a changed preference, on whichever device it was set.
    mutating func heed(_ keys: Set<PreferenceKey>, _ turn: inout some Turn) throws(StoreError) {
        if keys.contains(.presence) {
            try tellPresenceAnew(&turn)
        }
        if keys.contains(.deleted) { try forgetDeleted(&turn) }
        if keys.contains(.reminder) { try scheduleRinging(&turn) }
        if keys.contains(.scheduled) { try scheduleSending(&turn) }
    }
}

extension Disclosure {
    /// Whether others in a conversation are let know it. A device that does not know what was set tells
    /// nothing.
    public func isTold(
        in space: SpaceID, ownSpace: SpaceNumber?, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let ownSpace else { return true }
        return try Overview.discloses(
            self, in: space, unsaid: store.value(.profile, NodeCore.recoveredKey) == nil,
            ownSpace: ownSpace, store)
    }
}

/// The word that a conversation was deleted on a device.
/// Source: `Protocol/05-identity.md`, "Preferences".
struct Deletion: Equatable {
    /// More than can hold side by side where people go and are removed in earnest.
    static let expulsionCountMax = Limits.departureCountMax
    private static let version: UInt8 = 1

    /// The operations that had removed the person from the group by then; none for a conversation
    /// of two. A person who comes back after these is in a group that was not deleted.
    var expulsions: [OperationID]

    init(expulsions: [OperationID]) { self.expulsions = expulsions }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(DecodingFailure) {
            guard try reader.byte() == Self.version else { return nil }
            let count = reader.remaining / OperationID.byteCount
            guard count <= Self.expulsionCountMax else { return nil }
            var found: [OperationID] = []
            for _ in 0..<count { found.append(try reader.identifier()) }
            try reader.finish()
            guard zip(found, found.dropFirst()).allSatisfy({ $0 < $1 }) else { return nil }
            expulsions = found
        } catch { return nil }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(Self.version)
        for operation in expulsions { writer.identifier(operation) }
        return writer.bytes
    }
}
