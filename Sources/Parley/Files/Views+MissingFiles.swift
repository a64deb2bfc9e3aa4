import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

extension Views {
    /// Files that this device sent, or said to hold, and of which it does not hold everything. Files
    /// that were freed, and those of which the first part has come again, are left out.
    func missingFiles() throws -> Set<BlobID> {
        var missing: Set<BlobID> = []
        do {
            for entry in try store.files(in: nil, before: nil, limit: .max) {
                missing.formUnion(try missingFiles(of: entry.operation))
            }
        } catch let error as StoreError where error.code == .corrupt {
            // Damage of the database is told by other checks; what was found so far counts.
        }
        return missing
    }

    private func missingFiles(of operation: OperationNumber) throws -> [BlobID] {
        guard let stored = try store.operation(operation),
            let log = try store.log(stored.log),
            let files = stored.operation.payload.flatMap(TextMessage.init(payload:))?.files,
            try wasHere(stored, of: log)
        else { return [] }
        return try files.filter(isMissing).compactMap(\.blob)
    }

    /// Whether this device sent a message, or reported that all its files are here.
    private func wasHere(_ message: StoredOperation, of log: LogRecord) throws -> Bool {
        let device = core.node.device
        return try log.device == device
            || Receipts.tell(device, holdsFilesAt: message.sequence, of: log, store)
    }

    private func isMissing(_ file: Attachment) throws -> Bool {
        guard let blob = file.blob, try store.blobs.heldBlob(blob)?.chunks.isWhole != true else {
            return false
        }
        switch try HeldFile.kept(blob, in: store)?.state {
        case .begun, .givenUp: return false
        // A start drops the record of a file of which nothing is left.
        case .whole, nil: return true
        }
    }
}
