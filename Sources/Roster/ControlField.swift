import ParleyLedger
import ParleyPayloads
import ParleySealing
import ParleyWire
import SwiftProtobuf

/// Reads fields of control payloads, each within its bound.
enum ControlField {
    /// The most prekeys in one operation: those of a person's devices.
    static let prekeyCountMax = 64

    static func identifier<Subject>(
        _ data: some Collection<UInt8>
    ) throws(ControlRejection) -> Identifier<Subject> {
        guard let identifier = Identifier<Subject>(data) else { throw .malformed }
        return identifier
    }

    static func role(_ number: UInt32) throws(ControlRejection) -> Role {
        guard let role = UInt8(exactly: number).flatMap(Role.init) else { throw .malformed }
        return role
    }

    static func name(_ text: String) throws(ControlRejection) -> String {
        guard text.utf8.count <= Limits.nameByteCountMax else { throw .malformed }
        return text
    }

    static func identity(
        _ operations: [some Collection<UInt8>]
    ) throws(ControlRejection) -> [[UInt8]] {
        guard operations.count <= IdentityLog.operationCountMax else { throw .malformed }
        return operations.map { Array($0) }
    }

    static func departures(
        _ operations: [some Collection<UInt8>]
    ) throws(ControlRejection) -> [OperationID] {
        guard operations.count <= Limits.departureCountMax else { throw .malformed }
        var departures: [OperationID] = []
        for bytes in operations {
            let departure: OperationID = try identifier(bytes)
            if let last = departures.last, last >= departure { throw .malformed }
            departures.append(departure)
        }
        return departures
    }

    static func prekeys(
        _ certificates: [some Collection<UInt8>]
    ) throws(ControlRejection) -> [PrekeyCertificate] {
        guard certificates.count <= prekeyCountMax else { throw .malformed }
        var prekeys: [PrekeyCertificate] = []
        for bytes in certificates {
            do throws(DecodingFailure) {
                prekeys.append(try PrekeyCertificate(bytes: Array(bytes)))
            } catch { throw .malformed }
        }
        return prekeys
    }
}

extension Payload {
    /// A message of the control lane.
    static func control<M: Message>(
        _ type: M.Type, _ bytes: [UInt8]
    ) throws(ControlRejection) -> M {
        guard let message = decode(type, bytes) else { throw .malformed }
        return message
    }
}

extension Draft {
    /// An operation of the control lane: never erased, so its payload needs no salt.
    static func control(_ kind: OperationKind, _ payload: some Message) -> Draft {
        Draft(
            kind: kind, lane: .control, payload: Payload.encode(payload), isErasable: false)
    }
}
