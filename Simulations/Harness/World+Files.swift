import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleyRelaying
import ParleyRoster
import ParleySealing
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
    /// conversation in which a message names it; or all of it lies at a relay that the node reads.
    func lackedFile(at node: SimulatedNode, besides other: SimulatedNode) throws -> String? {
        // What does not fit waits for room.
        let wanted = try WantedFile.all(in: node.store).filter {
            !node.core.hasNoRoom(for: $0.blob)
        }
        guard !wanted.isEmpty, !node.isDown else { return nil }
        for file in wanted {
            if let relay = try relay(keeping: file, for: node, by: other) {
                return
                    "\(node.name) lacks a file of \(file.shape.size) bytes that lies at \(relay.name)"
            }
        }
        guard !other.isDown, node.isLinked(to: other), other.isLinked(to: node) else { return nil }
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

extension World {
    /// The relay at which all of a file lies that another node laid there, and that a node reads. What a relay
    /// holds back or tells in another order comes when it comes.
    private func relay(
        keeping file: WantedFile, for node: SimulatedNode, by other: SimulatedNode
    ) throws -> SimulatedRelay? {
        guard let source = try node.source(of: file, by: other),
            let writer = ShelfWriter(file.blob, file.shape, key: source.key)
        else { return nil }
        let read = node.core.relayStates.filter { $0.isRead && $0.isConnected && $0.isDrained }
        return try relays.first { relay in
            guard !relay.isDown, relay.isFaithful, read.contains(where: { $0.relay == relay.key })
            else { return false }
            return try relay.envelopeCount(in: MailboxID(shelf: source.shelf))
                == writer.pieceCount
        }
    }
}

extension SimulatedRelay {
    /// Whether it does as it should.
    fileprivate var isFaithful: Bool {
        !mischief.isShuffling && !mischief.isStale && !mischief.isLyingAboutDays
            && !mischief.isLyingAboutStarts && mischief.cutEvery == 0 && lossEvery == 0
    }

    /// How many envelopes lie in a mailbox.
    fileprivate func envelopeCount(in mailbox: MailboxID) throws -> Int {
        var count = 0
        var range = RelayRange(after: 0, byteCountMax: .max)
        var store = store
        while case .answer(.entries(let entries, let hasMore, _))? =
            try store.perform([.get(mailbox, range)], at: 0).first
        {
            count += entries.count
            guard hasMore, let last = entries.last else { break }
            range.after = last.counter
        }
        return count
    }
}

extension SimulatedNode {
    /// The shelf of another node that a message of theirs names for a file, and the key to it.
    fileprivate func source(
        of file: WantedFile, by other: SimulatedNode
    ) throws -> (shelf: DeviceID, key: [UInt8])? {
        let element = try store.locator(file.blob.bytes)
        for entry in try store.naming(blob: element, limit: NodeCore.namingCountMax) {
            guard let stored = try store.operation(entry.operation),
                try store.log(stored.log)?.device == other.identity.device,
                let message = stored.operation.payload.flatMap(TextMessage.init(payload:))
            else { continue }
            for attachment in message.files {
                guard case .blob(file.blob, let key) = attachment.content,
                    let shelf = attachment.shelf, attachment.size == file.shape.size
                else { continue }
                return (shelf, key)
            }
        }
        return nil
    }

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
