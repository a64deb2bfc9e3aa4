import ParleyConversation
public import ParleyLedger
import ParleyRoster
public import ParleyWire

/// A group that this person was added to and has not accepted, as it was when its control log was
/// last looked at.
/// Source: `Protocol/08-roster.md`, "Consent".
public struct Invitation: Equatable, Sendable {
    /// How it stands.
    public enum State: UInt8, Sendable {
        /// The control log does not say yet that this person was added.
        case unknown = 0
        /// It waits for an answer.
        case waiting = 1
        /// This person declined, or was taken out before they answered.
        case over = 2
    }

    /// How it stands.
    public var state = State.unknown
    /// The person who brought it to this node and is charged for it: the owner of another own
    /// device, or the likely inviter.
    public var bringer: PersonID
    /// When it was first heard of, in Unix milliseconds.
    public var since: UInt64
    /// About how many bytes of the control log are held.
    var byteCount: UInt64 = 0
    /// Who invites.
    public var inviter: PersonID
    /// How many persons are in the group, invited ones included.
    public var memberCount: UInt64 = 0
    /// What the inviter says that it is called; empty for no name.
    public var name = ""

    init(broughtBy bringer: PersonID, since: UInt64) {
        self.bringer = bringer
        self.since = since
        inviter = bringer
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(DecodingFailure) {
            guard let state = State(rawValue: try reader.byte()) else { return nil }
            self.state = state
            bringer = try reader.identifier()
            since = try reader.uint64()
            byteCount = try reader.uint64()
            inviter = try reader.identifier()
            memberCount = try reader.uint64()
            let count = try reader.count("name", atMost: Limits.nameByteCountMax)
            name = String(decoding: try reader.slice(count), as: UTF8.self)
            try reader.finish()
        } catch { return nil }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(state.rawValue)
        writer.identifier(bringer)
        writer.uint64(since)
        writer.uint64(byteCount)
        writer.identifier(inviter)
        writer.uint64(memberCount)
        writer.counted(Array(name.utf8))
        return writer.bytes
    }

    /// The one into this group, or nil.
    public static func into(
        _ space: SpaceID, in store: some NodeStore
    ) throws(StoreError) -> Invitation? {
        try store.value(.invitation, space.bytes).flatMap(Invitation.init)
    }

    /// All that wait for an answer, ascending by group.
    public static func waiting(
        in store: some NodeStore
    ) throws(StoreError) -> [(space: SpaceID, invitation: Invitation)] {
        try all(in: store).filter { $0.invitation.state == .waiting }
    }

    static func all(
        in store: some NodeStore
    ) throws(StoreError) -> [(space: SpaceID, invitation: Invitation)] {
        try store.values(.invitation).compactMap { key, value in
            guard let space = SpaceID(key), let invitation = Invitation(value) else { return nil }
            return (space, invitation)
        }
    }
}

extension RosterReader {
    /// The last name that the group's control log had for this person, used while nothing else is
    /// held: as given by whoever admitted them. Empty for no name.
    public static func nameTold(
        of space: SpaceRecord, to person: PersonID, in store: some LogStore
    ) throws(StoreError) -> String {
        var newest: (time: UInt64, name: String) = (0, "")
        for log in try store.logs(in: space.number) where log.lane == .control && log.end > 0 {
            for stored in try store.operations(in: log.number, 0...log.end - 1, limit: .max) {
                let header = stored.operation.header
                guard let payload = stored.operation.payload, header.wallClock >= newest.time else {
                    continue
                }
                if header.kind == .genesis {
                    // What does not parse admits nobody.
                    let said = try? Genesis(payload: payload)
                    newest = said.map { (header.wallClock, $0.name) } ?? newest
                } else if header.kind == .addMember {
                    // Likewise.
                    let said = try? AddMember(payload: payload)
                    guard let said, said.newcomer.person == person else { continue }
                    newest = (header.wallClock, said.conversation)
                }
            }
        }
        return newest.name
    }
}

/// How many conversations somebody has brought within an hour.
struct AdoptionCount {
    /// Unix milliseconds.
    var since: UInt64
    var count: UInt64

    init(since: UInt64, count: UInt64) {
        self.since = since
        self.count = count
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(DecodingFailure) {
            since = try reader.uint64()
            count = try reader.uint64()
            try reader.finish()
        } catch { return nil }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.uint64(since)
        writer.uint64(count)
        return writer.bytes
    }
}
