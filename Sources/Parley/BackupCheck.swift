import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

/// Why the contents of a backup are not taken, though it opened.
enum BackupFault: Error, Equatable {
    /// Its parts do not follow the form.
    case malformed(DecodingFailure)
    /// Its parts stand in an order that no backup has, or an end that does not fit them.
    case outOfOrder
    /// The identity log, a card or a conversation does not hold.
    case unproven(String)
    /// It is another person's than the recovery code's.
    case anotherPerson
}

/// Reads a backup and verifies everything in it, item by item, in bounded memory.
struct BackupCheck {
    /// The verified content of an item.
    enum Step {
        case about
        case value(ValueTable, key: [UInt8], value: [UInt8])
        case space(SpaceID, SpaceKind)
        case fork(ForkEvidence, in: SpaceID)
        case operations([VerifiedRun], in: SpaceID)
        case section(BlobSection)
        case chunk(BlobChunk)
        case end
    }

    private let root: DeviceID
    private(set) var about: BackupAbout?
    private(set) var identity: IdentityLog?
    private(set) var isAtEnd = false
    private(set) var spaceCount = 0
    private(set) var conversationCount = 0
    private(set) var logCount = 0
    private(set) var operationCount = 0
    /// The newest note about each person in the space of the own devices, and whether it makes them a contact. A
    /// card tells nothing of it: there is one of everybody who was ever met, also where the notes are lost.
    private var notes: [PersonID: (order: OrderKey, isContact: Bool)] = [:]
    /// Contacts that a device has which is made from it.
    var contactCount: Int { notes.values.count { $0.isContact } }
    private var space: SpaceID?
    private var isOwnSpace = false
    private var seen: Set<SpaceID> = []
    private var files = BackupFileCheck()
    /// Files of which there are pieces.
    var fileCount: Int { files.fileCount }
    /// The logs of the space at hand.
    private var logs: [LogID: LogRecord] = [:]

    /// Checks what belongs to the person of this recovery code.
    init(_ code: RecoveryCode) { self.init(root: code.rootKey.device) }

    /// Checks what belongs to the person of this root.
    init(root: DeviceID) { self.root = root }

    /// The author of the backup, and that person's devices as far as the backup and `found` know.
    /// Known once the first item was read.
    func maker(with found: FoundPerson?) throws -> (about: BackupAbout, identity: IdentityLog) {
        guard let about, let identity else { throw BackupFault.outOfOrder }
        guard let found else { return (about, identity) }
        guard found.identity.person == identity.person else { throw BackupFault.anotherPerson }
        do {
            return (about, try identity.merging(found.identity.operations))
        } catch {
            throw BackupFault.unproven("the identity log")
        }
    }

    /// Reads the next item and proves it; nil once everything was read.
    mutating func next(from reader: BackupReader) throws -> Step? {
        guard let head = try reader.read(BackupItem.headByteCount) else {
            guard isAtEnd else { throw BackupFault.outOfOrder }
            return nil
        }
        let item: BackupItem
        do {
            let count = try BackupItem.bodyByteCount(head: head)
            guard let body = count == 0 ? [] : try reader.read(count) else {
                throw BackupRejection.truncated
            }
            item = try BackupItem(kind: head[0], body: body)
        } catch let failure as DecodingFailure {
            throw BackupFault.malformed(failure)
        }
        return try take(item)
    }

    /// Takes an item as it is read, or as it is about to be written. One that does not hold changes nothing.
    mutating func take(_ item: BackupItem) throws -> Step {
        guard !isAtEnd else { throw BackupFault.outOfOrder }
        if case .about(let about) = item { return try take(about) }
        guard identity != nil else { throw BackupFault.outOfOrder }
        switch item {
        case .about:
            throw BackupFault.outOfOrder
        case .value(let table, let key, let value):
            if table == .card { try checkCard(value, of: key) }
            return .value(table, key: key, value: value)
        case .space(let id, let kind):
            guard seen.insert(id).inserted else { throw BackupFault.outOfOrder }
            (space, isOwnSpace, logs) = (id, kind == .own, [:])
            spaceCount += 1
            if kind != .own { conversationCount += 1 }
            return .space(id, kind)
        case .frame(let bytes):
            return try take(frame: bytes)
        case .end(let spaces, let operations):
            guard spaces == spaceCount, operations == operationCount else {
                throw BackupFault.outOfOrder
            }
            isAtEnd = true
            return .end
        }
    }

    private mutating func take(_ about: BackupAbout) throws -> Step {
        guard self.about == nil else { throw BackupFault.outOfOrder }
        let identity: IdentityLog
        do {
            identity = try IdentityLog(operations: about.identity)
        } catch {
            throw BackupFault.unproven("the identity log")
        }
        guard identity.root == root else { throw BackupFault.anotherPerson }
        (self.about, self.identity) = (about, identity)
        return .about
    }

    private func checkCard(_ bytes: [UInt8], of key: [UInt8]) throws {
        guard let person = PersonID(key), CardReader.holds(bytes, of: person) else {
            throw BackupFault.unproven("a card")
        }
    }

    private mutating func take(frame bytes: [UInt8]) throws -> Step {
        let frame: Frame?
        do throws(DecodingFailure) {
            frame = try Frame.decode(bytes)
        } catch { throw BackupFault.malformed(error) }
        if case .blobSection(let section)? = frame {
            try files.take(section)
            return .section(section)
        }
        if case .blobChunk(let chunk)? = frame {
            try files.take(chunk)
            return .chunk(chunk)
        }
        guard let space else { throw BackupFault.outOfOrder }
        switch frame {
        case .operations(let operations)? where operations.space == space:
            var pieces: [VerifiedRun] = []
            for run in operations.runs { pieces += try verified(run, in: space) }
            return .operations(pieces, in: space)
        case .fork(let proof)? where proof.space == space:
            guard let evidence = ForkEvidence(proof) else {
                throw BackupFault.unproven("the proof of a fork")
            }
            record(of: evidence.log, proof.left.device, proof.left.lane) {
                $0.proven = evidence.point
            }
            return .fork(evidence, in: space)
        default:
            throw BackupFault.outOfOrder
        }
    }

    private mutating func verified(_ run: Run, in space: SpaceID) throws -> [VerifiedRun] {
        let id = OperationHash.log(space: space, device: run.device, lane: run.lane)
        let pieces: [VerifiedRun]
        do {
            pieces = try OperationVerifier.verify(
                run, in: space, held: logs[id]?.spans ?? [], bound: bound(of: run, logs[id]?.fork),
                mayLeaveGaps: true)
        } catch {
            throw BackupFault.unproven("a log")
        }
        for piece in pieces {
            operationCount += piece.operations.count
            if isOwnSpace { piece.operations.forEach { note($0) } }
            record(of: id, run.device, run.lane) { $0.hold(piece) }
        }
        return pieces
    }

    private mutating func note(_ operation: VerifiedOperation) {
        guard let contact = Contact(said: operation) else { return }
        let order = operation.orderKey
        if let known = notes[contact.person], order < known.order { return }
        notes[contact.person] = (order, contact.state == .accepted)
    }

    /// Where a cut or others keep one branch of a forked log, that is in the backup, and signed.
    private func bound(of run: Run, _ fork: LogPoint?) -> LogPoint? {
        guard let fork, run.last < fork.sequence else { return nil }
        return fork
    }

    private mutating func record(
        of id: LogID, _ device: DeviceID, _ lane: Lane, _ change: (inout LogRecord) -> Void
    ) {
        if logs[id] == nil { logCount += 1 }
        var log =
            logs[id]
            ?? LogRecord(
                number: LogNumber(0), space: SpaceNumber(0), id: id, device: device, lane: lane)
        change(&log)
        logs[id] = log
    }
}
