import Dispatch
import Logging
import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

/// Sealed files that messages are about to name.
extension RunningNode {
    /// Takes in a file that was sealed, and keeps it until ``unstage(_:)``. Where the same content is here
    /// already, that is taken in its place: it is stored once.
    ///
    /// - Returns: the name and the key to send.
    func take(_ finished: BlobWriter.Finished) throws -> (BlobID, key: [UInt8]) {
        guard let store = opened, let folder = store.blobs as? BlobFolder else {
            BlobFolder.drop(finished)
            throw NodeError("stopped", "The node is shut down.")
        }
        let known = try Node.explaining { try OwnFile.kept(finished.content, in: store) }
        if let known,
            try Node.explaining({ try store.blobs.heldBlob(known.blob)?.chunks.isWhole })
                == true
        {
            BlobFolder.drop(finished)
            stagedFiles[known.blob, default: 0] += 1
            return (known.blob, known.key)
        }
        try Node.explaining {
            try folder.take(finished)
            try store.begin(.normal)
            do throws(StoreError) {
                try OwnFile(blob: finished.blob, key: finished.key)
                    .keep(for: finished.content, in: store)
                try store.commit()
            } catch {
                store.rollback()
                removeFile(finished.blob)
                throw error
            }
        }
        stagedFiles[finished.blob, default: 0] += 1
        return (finished.blob, finished.key)
    }

    /// How a file with this content was sealed before, if this device does not hold all of that any
    /// more.
    func lostFile(_ content: Digest) throws -> OwnFile? {
        guard let store = opened else { return nil }
        return try Node.explaining {
            guard let known = try OwnFile.kept(content, in: store),
                try store.blobs.heldBlob(known.blob)?.chunks.isWhole != true
            else { return nil }
            return known
        }
    }

    /// A file is named by a message now, or is not to be: nobody else names it, so it goes.
    func unstage(_ blob: BlobID) {
        guard let count = stagedFiles[blob] else { return }
        stagedFiles[blob] = count > 1 ? count - 1 : nil
        if stagedFiles[blob] == nil { removeFile(blob) }
    }

    /// Disks take long over large files, and no message waits for that: it is done one after the other beside
    /// the node.
    private static let disk = DispatchQueue(label: "parley.disk", qos: .utility)

    /// Makes a file survive a crash of the machine, and tells the core once it does. What that takes all the
    /// same is found not to be what its hash says, and fetched again.
    func keepFile(_ blob: BlobID) {
        guard let folder = opened?.blobs as? BlobFolder else { return }
        let (path, logger) = (folder.path, logger)
        Self.disk.async { [weak self] in
            do {
                try BlobFolder(path).makeDurable(blob)
                self?.offer(.fileKept(blob, isDurable: true))
            } catch {
                logger.warning(
                    "a file may not survive a loss of power", metadata: ["why": "\(error)"])
                self?.offer(.fileKept(blob, isDurable: false))
            }
        }
    }

    /// Somebody else found a part of a file to be damaged: its record is read again.
    func reread(_ blob: BlobID) { (opened?.blobs as? BlobFolder)?.reread(blob) }
}
