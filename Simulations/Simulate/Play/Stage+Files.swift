import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation

/// What people do with files.
extension Stage {
    /// The command of such a deed; nil where there is nothing to do it with.
    func filing(for deed: Deed, of node: SimulatedNode) throws -> Command? {
        switch deed {
        case .attach(let place, let byteCount, let number):
            guard let space = try space(place, of: node), byteCount > 0 else { return nil }
            let file = SampleFile(byteCount: byteCount, seed: UInt8(clamping: number))
            // A disk that takes nothing lets nobody send anything.
            do { try file.put(into: node.store.blobs) } catch { return nil }
            node.stagedFiles.insert(file.blob)
            return .send(
                space.id, [TextMessage(text: "file \(number)", files: [file.attachment])],
                replyingTo: nil)
        case .fetch(let place, let rank):
            return try message(rank, in: place, of: node).map { .file(.fetch($0.number)) }
        default: return nil
        }
    }
}
