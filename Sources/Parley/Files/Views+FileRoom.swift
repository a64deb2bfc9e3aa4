import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// What files take here, as screens and programs see it.
extension Views {
    /// What files take and may take.
    func fileRoom() throws -> FileRoomView {
        let settings = try FileSettings.kept(in: store)
        let files = try HeldFile.all(in: store).filter { $0.state == .whole }
        let onlyHere = files.filter { !$0.canComeAgain }
        return FileRoomView(
            usedByteCount: try takenByteCount(),
            roomByteCount: settings.roomByteCount,
            fetchByteCountMax: settings.fetchByteCountMax,
            fetchByteCountMaxByKind: Dictionary(
                uniqueKeysWithValues: settings.fetchByteCountMaxByKind.map { ($0.word, $1) }),
            keptDayCount: settings.keptDayCount,
            fileCount: files.count, onlyHereCount: onlyHere.count,
            onlyHereByteCount: UInt64(onlyHere.reduce(0) { $0 + $1.byteCount }),
            diskFullCount: try WantedFile.all(in: store).count {
                core.outlook(for: $0.blob).isRefusedByDisk
            })
    }

    /// Bytes that files take now. Room is kept for all of those that are being fetched.
    func takenByteCount() throws -> UInt64 {
        var taken = UInt64(max(0, core.fileByteCount))
        for wanted in try WantedFile.all(in: store)
        where try HeldFile.kept(wanted.blob, in: store)?.state == .begun {
            taken -= min(try missingByteCount(of: wanted), taken)
        }
        return taken
    }

    private func missingByteCount(of wanted: WantedFile) throws -> UInt64 {
        let held = try store.blobs.heldBlob(wanted.blob)?.chunks.count ?? 0
        let bytes = UInt64(held * Limits.plainChunkByteCount)
        return wanted.shape.size.value - min(bytes, wanted.shape.size.value)
    }

    /// Messages of a conversation whose files take room here or are wanted.
    ///
    /// - Parameter onlyHere: whether those are among them that no other device is known to have.
    func messagesWithFiles(in argument: String, onlyHere: Bool) throws -> [OperationNumber] {
        let space = try conversation(argument)
        var (numbers, last) = ([OperationNumber](), Entry?.none)
        while true {
            let page = try store.files(
                in: space.number, before: last, limit: FileView.countMax)
            for entry in page where try takesRoom(entry, onlyHere: onlyHere) {
                numbers.append(entry.operation)
            }
            guard page.count == FileView.countMax else { return numbers }
            last = page.last
        }
    }

    /// Files that are examined for possible holders, or for devices that lack them.
    private static let lookedCountMax = 200

    /// The wanted files, who can deliver them, and the files that others are not known to have.
    func fileStatus() throws -> NodeStatus.Files {
        var status = NodeStatus.Files()
        status.takenByteCount = try takenByteCount()
        var sources: Set<PersonID> = []
        for (place, wanted) in try WantedFile.all(in: store).enumerated() {
            status.wantedCount += 1
            status.wantedByteCount += try missingByteCount(of: wanted)
            if core.hasNoRoom(for: wanted.blob) { status.noRoomCount += 1 }
            guard place < Self.lookedCountMax else { continue }
            let outlook = core.outlook(for: wanted.blob)
            if outlook.isRefusedByDisk { status.diskFullCount += 1 }
            sources.formUnion(outlook.holders)
        }
        status.sources = try sources.map { try name(of: $0) }.sorted()
        status.lackedBy = try lackedFiles()
        return status
    }

    /// Who is not known to have which files that were sent from here.
    private func lackedFiles() throws -> [NodeStatus.Files.Lack] {
        // One that nobody is known to have is lacked by all for good.
        let files = try HeldFile.all(in: store).filter { file in
            file.state == .whole || file.state == .givenUp && file.canComeAgain
        }.sorted { ($0.lastUse, $0.blob) > ($1.lastUse, $1.blob) }
        let own = files.filter { !$0.cameFromOthers }.prefix(Self.lookedCountMax)
        let again = try files.filter(\.cameFromOthers).prefix(Self.lookedCountMax).filter {
            try HeldFile.isSent($0.blob, by: core.node.device, in: store)
        }
        var counts: [PersonID: Int] = [:]
        for file in own + again {
            let receivers = try HeldFile.receivers(of: file.blob, as: core.node.device, in: store)
            let holders = receivers.union(file.holders).union([ownPerson])
            for person in try persons(given: file.blob).subtracting(holders) {
                counts[person, default: 0] += 1
            }
        }
        return try counts.map { try NodeStatus.Files.Lack(name: name(of: $0.key), count: $0.value) }
            .sorted { ($0.name, $0.count) < ($1.name, $1.count) }
    }

    /// Everybody who takes part in a conversation and is given a message there that names a file: newcomers may
    /// not be.
    func persons(given blob: BlobID) throws -> Set<PersonID> {
        var persons: Set<PersonID> = []
        for entry in try store.naming(blob, limit: NodeCore.namingCountMax) {
            guard let space = try store.space(entry.space), let roster = try roster(of: space),
                let stored = try store.operation(entry.operation),
                let log = try store.log(stored.log)
            else { continue }
            for person in roster.participants {
                let isGiven = person.devices.contains { device in
                    let place = device.horizon.place(of: log.device, log.lane)
                    return place.map { $0.sequence < stored.sequence } ?? true
                }
                if isGiven { persons.insert(person.person) }
            }
        }
        return persons
    }

    private func takesRoom(_ entry: Entry, onlyHere: Bool) throws -> Bool {
        let message = try store.operation(entry.operation)?.operation.payload
            .flatMap(TextMessage.init(payload:))
        let blobs = message?.files.compactMap(\.blob) ?? []
        let rows = try blobs.compactMap { try HeldFile.kept($0, in: store) }
        if !onlyHere, rows.contains(where: { $0.state != .givenUp && !$0.canComeAgain }) {
            return false
        }
        let isWanted = try blobs.contains { try WantedFile.kept($0, in: store) != nil }
        return isWanted || rows.contains { $0.state != .givenUp }
    }
}
