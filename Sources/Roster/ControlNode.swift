import ParleyLedger
import ParleyWire

/// A log of the control lane in a graph.
struct ControlLog: Sendable {
    let tag: LogTag
    let device: DeviceID
    /// By place.
    var nodes: [Int] = []
    /// The place after the last one that another operation named.
    var coveredEnd = 0
    /// Its number in the authority graph, where it has operations that rosters are made of.
    var authorityLog: Int?
    /// Where those stand, ascending.
    var authoritySequences: [UInt64] = []

    init(tag: LogTag, device: DeviceID) {
        self.tag = tag
        self.device = device
    }

    func authorityCount(below end: UInt64) -> Int {
        authoritySequences.firstIndex(afterAll: { $0 < end })
    }
}

/// An operation of the control lane, without its payload.
struct ControlNode: Sendable {
    let id: OperationID
    let log: Int
    let sequence: UInt64
    let kind: OperationKind
    let device: DeviceID
    /// Where it stands in lane 0: above nothing that it follows from.
    let stand: UInt64
    let wallClock: UInt64
    /// All that it follows from.
    let past: ClosedSet
    /// Its number in the authority graph.
    var authority: Int?
    /// Why it changes no roster, where it asks to.
    var rejection: ControlRejection?
    /// The affected person.
    var subject: PersonID?

    init(
        _ operation: VerifiedOperation, log: Int, device: DeviceID, past: ClosedSet, stand: UInt64
    ) {
        id = operation.id
        self.log = log
        sequence = operation.sequence
        kind = operation.operation.header.kind
        self.device = device
        self.stand = stand
        wallClock = operation.operation.header.wallClock
        self.past = past
    }
}

extension Candidate.Wish {
    init(_ kind: OperationKind, _ payload: [UInt8]) throws(ControlRejection) {
        switch kind {
        case .genesis:
            do throws(GenesisRejection) {
                self = .genesis(try Genesis(payload: payload))
            } catch { throw .malformed }
        case .addMember:
            let addition = try AddMember(payload: payload)
            self = .add(addition.newcomer, addition.role)
        case .removeMember:
            let removal = try RemoveMember(payload: payload)
            self = .remove(removal.person, removal.cut)
        case .setRole:
            let change = try SetRole(payload: payload)
            self = .setRole(change.person, change.role, change.cut)
        case .leave:
            _ = try Leave(payload: payload)
            self = .leave
        case .ident: self = .ident(try Ident(payload: payload))
        case .settings: self = .settings(try SpaceSettings(payload: payload))
        case .groupInvite: self = .invite(try GroupInvite(payload: payload))
        case .redeem: self = .redeem(try Redeem(payload: payload))
        // Kinds are numbers, not an enumeration of ours.
        default: throw .malformed
        }
    }

    var subject: PersonID? {
        switch self {
        case .add(let newcomer, _): newcomer.person
        case .remove(let person, _), .setRole(let person, _, _): person
        case .ident(let ident): ident.person
        case .redeem(let redeem): redeem.newcomer.person
        case .genesis, .leave, .settings, .invite: nil
        }
    }
}
