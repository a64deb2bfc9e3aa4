import ParleyLedger
import ParleyNodeCore
import ParleyWire

extension MemoryStore {
    /// Every byte string that is stored, as a disk would hold it before it is sealed.
    public var storedBytes: [[UInt8]] {
        var all: [[UInt8]] = contents.operations.compactMap(\.operation.payload)
        for table in ValueTable.allCases {
            guard let rows = contents.values[table] else { continue }
            all += rows.keys.map(\.bytes)
            all += Array(rows.values)
        }
        all += contents.events
        // In whatever order: who looks for something finds it all the same.
        all += contents.secrets.values.flatMap { Array($0.values) }
        return all
    }
}
