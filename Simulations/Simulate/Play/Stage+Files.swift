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
            var attachment = file.attachment
            // What it is by its sender's word.
            if number % 3 == 0 { attachment.type = "image/png" }
            // A disk that takes nothing lets nobody send anything, and nothing is left of what it began to take.
            do {
                try file.put(into: node.store.blobs)
            } catch {
                node.remove(file.blob)
                return nil
            }
            node.stagedFiles.insert(file.blob)
            return .send(
                space.id, [TextMessage(text: "file \(number)", files: [attachment])],
                replyingTo: nil)
        case .fetch(let place, let rank):
            return try message(rank, in: place, of: node).map { .file(.fetch($0.number)) }
        case .forget(let place, let rank):
            return try message(rank, in: place, of: node).map {
                .file(.forget([$0.number], anyway: false))
            }
        case .room(let byteCount, let limit, let pictures):
            var settings = FileSettings(
                roomByteCount: UInt64(clamping: byteCount),
                fetchByteCountMax: UInt64(clamping: limit), keptDayCount: 0)
            settings.fetchByteCountMaxByKind[.picture] = UInt64(clamping: pictures)
            return .file(.set(settings))
        case .picture(let place, let byteCount):
            let content = (0..<max(0, byteCount)).map { UInt8(truncatingIfNeeded: $0) }
            return try space(place, of: node).map { .setPicture($0.id, content) }
        default: return nil
        }
    }
}
