public import ParleyLedger
import ParleyWire

extension SQLiteStore {
    /// Salt and payload of an operation as a thief of the disk finds them; nil where there never
    /// were any, or they were erased.
    public func sealedPayload(of number: OperationNumber) throws(StoreError) -> [UInt8]? {
        let statement = statements.operationByNumber
        statement.bind(1, number.rawValue)
        defer { statement.reset() }
        guard try statement.step("reading an operation"), !statement.isNull(5) else { return nil }
        let tail = statement.array(5)
        return tail.count == Digest.byteCount ? nil : tail
    }
}
