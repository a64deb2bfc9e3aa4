import ParleyConversation
public import ParleyLedger
import ParleyRoster
public import ParleySealing
public import ParleyWire

extension NodeIdentity {
    /// The identity log of this device's person, reconstructed from operations: the node's notes
    /// were lost with it. The longest that names the device, or nil if none does.
    ///
    /// It may lack the newest part; the next peer delivers that, as always.
    public static func found(
        for device: DeviceID, in store: some Store
    ) throws(StoreError) -> IdentityLog? {
        var best: IdentityLog?
        func consider(_ operations: [[UInt8]]) {
            // A space is told only what it has not seen yet: that alone may not be a complete log.
            let known = best?.encoded ?? []
            let all = known + operations.filter { !known.contains($0) }
            // What does not hold is nobody's log.
            let joined = try? IdentityLog(operations: all)
            // The same: what arrived complete may be valid by itself.
            let alone = try? IdentityLog(operations: operations)
            guard let log = joined ?? alone,
                log.certificate(of: device) != nil || log.revoked.contains(device),
                log.operations.count > best?.operations.count ?? 0
            else { return }
            best = log
        }
        for (_, bytes) in try store.values(.card) {
            consider(CardReader.claimed(bytes)?.identity ?? [])
        }
        for space in try store.spaces() {
            for log in try store.logs(in: space.number) where log.lane == .control {
                try log.eachReadable(in: store) { stored throws(StoreError) in
                    for operations in said(by: stored) { consider(operations) }
                }
            }
        }
        return best
    }

    private static func said(by stored: StoredOperation) -> [[[UInt8]]] {
        guard let payload = stored.operation.payload else { return [] }
        switch stored.operation.header.kind {
        // A payload that does not decode says nothing.
        case .genesis: return (try? Genesis(payload: payload))?.founders.map(\.identity) ?? []
        // As above.
        case .ident: return (try? Ident(payload: payload)).map { [$0.identity] } ?? []
        default: return []
        }
    }
}
