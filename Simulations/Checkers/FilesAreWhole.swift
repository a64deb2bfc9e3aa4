import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I40: what is here of a file is what was sent; a file that came and that a message names is here, wanted or
/// given up for others, so that nothing is forgotten; of a file that no message names nothing is left; what
/// files are noted to take is what they take; and where that is more than they may, nothing is left that could
/// be given up.
///
/// What was sent is known from outside: simulated people send files whose bytes follow from their size and
/// key. It is looked at when all is settled: what was deleted a moment before is still there.
final class FilesAreWhole: Checker {
    static let invariant = "I40"
    private(set) var checkCount = 0
    private var samples: [BlobID: SampleFile] = [:]
    /// The largest file that surely came by itself to a device, whatever it was set to.
    private var limits: [DeviceID: UInt64] = [:]
    /// Persons who gave messages stars: what these name is not given up.
    private var keepers: Set<PersonID> = []
    /// Devices whose store was set back: they forgot what they had given up since.
    private var forgetful: Set<DeviceID> = []

    func observed(_ step: StepReport) throws {
        guard case .command(_, let command) = step.input else { return }
        switch command {
        case .file(.set(let settings)):
            let own = FileSettings.Kind.allCases.map {
                settings.fetchByteCountMaxByKind[$0] ?? settings.fetchByteCountMax
            }
            let known = limits[step.node.identity.device] ?? FileSettings().fetchByteCountMax
            limits[step.node.identity.device] = min(known, own.min() ?? 0)
        case .star: keepers.insert(step.node.identity.person)
        default: break
        }
    }

    func wasSetBack(_ node: SimulatedNode) { forgetful.insert(node.identity.device) }

    func settled(_ world: World) throws {
        for node in world.honestNodes where !node.isDown {
            let named = try files(at: node)
            for (file, isOwn) in named { try look(at: file, isOwn: isOwn, of: node) }
            try count(node, in: world)
            let blobs = Set(named.compactMap(\.0.blob))
            // What a person was about to send no message may name: the shell lets go of that.
            for blob in try node.store.blobs.blobs()
            where !blobs.contains(blob) && !node.stagedFiles.contains(blob) {
                checkCount += 1
                guard node.timers[.collection] != nil else {
                    throw violation("\(node.name) keeps a file that no message names")
                }
            }
        }
    }

    private func count(_ node: SimulatedNode, in world: World) throws {
        checkCount += 1
        let noted = try HeldFile.all(in: node.store).reduce(0) { $0 + $1.byteCount }
        guard noted == node.core.fileByteCount else {
            throw violation(
                "\(node.name) reckons with \(node.core.fileByteCount) bytes of files, and notes \(noted)"
            )
        }
        let settings = try FileSettings.kept(in: node.store)
        guard noted > Int(settings.roomByteCount), settings.keptDayCount == 0,
            !keepers.contains(node.identity.person)
        else { return }
        // One whose clock was ahead when it came is young for a while; and who holds what is asked again
        // after a while.
        guard node.clock.skew == 0, node.timers[.fileRetry] == nil, node.timers[.fileRoom] == nil
        else { return }
        let linked = node.core.linkedPeers.compactMap { peer in
            world.honestNodes.first { $0.identity.device == peer.device && !$0.isDown }
        }
        let now = World.epoch + world.now
        let spare = try HeldFile.all(in: node.store).first { file in
            guard file.state == .whole, file.canComeAgain, file.lastUse.value <= now else {
                return false
            }
            return try linked.contains {
                try $0.store.blobs.heldBlob(file.blob)?.chunks.isWhole == true
                    && $0.store.names(file.blob)
            }
        }
        guard spare == nil else {
            throw violation("\(node.name) keeps a file for which there is no room")
        }
    }

    /// The files that messages name, and whether this device wrote the message.
    private func files(at node: SimulatedNode) throws -> [(Attachment, Bool)] {
        var found: [(Attachment, Bool)] = []
        for entry in try node.store.files(in: nil, before: nil, limit: .max) {
            guard let stored = try node.store.operation(entry.operation),
                let log = try node.store.log(stored.log),
                let message = stored.operation.payload.flatMap(TextMessage.init(payload:))
            else { continue }
            found += message.files.map { ($0, log.device == node.identity.device) }
        }
        return found
    }

    private func look(at file: Attachment, isOwn: Bool, of node: SimulatedNode) throws {
        guard case .blob(let blob, let key) = file.content, let shape = BlobShape(file.size) else {
            return
        }
        let sample =
            samples[blob] ?? SampleFile(byteCount: Int(file.size.value), seed: key.first ?? 0)
        samples[blob] = sample
        // Somebody else's than a simulated person's: its bytes are not known.
        guard sample.blob == blob else { return }
        let held = try node.store.blobs.heldBlob(blob)
        for index in sample.chunks.indices where held?.chunks.contains(index) == true {
            checkCount += 1
            let chunk = sample.chunk(index)
            guard try node.store.blobs.chunk(chunk.index, of: blob) == chunk.bytes else {
                throw violation("\(node.name) holds a piece of a file that nobody sent")
            }
        }
        checkCount += 1
        let isWhole = held?.chunks.isWhole == true && held?.shape == shape
        // What a device itself sent and lost, as with a store that was set back, it does not ask for.
        let isGivenUp = try HeldFile.kept(blob, in: node.store)?.state == .givenUp
        let limit = limits[node.identity.device] ?? FileSettings().fetchByteCountMax
        guard
            try isWhole || isOwn || isGivenUp || file.size.value > limit
                || forgetful.contains(node.identity.device)
                || WantedFile.kept(blob, in: node.store) != nil
        else {
            throw violation("\(node.name) neither has nor wants a file that a message brings")
        }
    }
}
