import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyWire

extension World {
    /// Whether a frame is about files: what these take is no part of what a heal may cost.
    static func isOfFile(_ bytes: [UInt8]) -> Bool {
        switch bytes.first.flatMap(Frame.Kind.init(rawValue:)) {
        case .blobAsk, .blobHave, .blobWant, .blobSection, .blobChunk: true
        default: false
        }
    }

    /// What a node wants of files that another one holds and would give: both are linked and take part in a
    /// conversation in which a message names it.
    func lackedFile(at node: SimulatedNode, besides other: SimulatedNode) throws -> String? {
        let wanted = try WantedFile.all(in: node.store)
        guard !wanted.isEmpty, !node.isDown, !other.isDown, node.isLinked(to: other),
            other.isLinked(to: node)
        else { return nil }
        for file in wanted
        where try other.store.blobs.heldBlob(file.blob)?.chunks.isWhole == true {
            if try node.names(file, with: other), try other.names(file, with: node) {
                return
                    "\(node.name) lacks a file of \(file.shape.size) bytes that \(other.name) has"
            }
        }
        return nil
    }
}

extension SimulatedNode {
    fileprivate func isLinked(to other: SimulatedNode) -> Bool {
        core.linkedPeers.contains { $0.device == other.identity.device }
    }

    /// Whether a message names a file in a conversation that both take part in, by what this node knows.
    fileprivate func names(_ file: WantedFile, with other: SimulatedNode) throws -> Bool {
        return try store.naming(file.blob, limit: NodeCore.namingCountMax).contains { entry in
            guard let space = try store.space(entry.space), let roster = try roster(of: space)
            else {
                return false
            }
            return roster.takesPart(identity.device) && roster.takesPart(other.identity.device)
        }
    }
}
