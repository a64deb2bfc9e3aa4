import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Files of messages, as screens and programs see them.
extension Views {
    /// The files of a message, in its order; none of one that was deleted.
    func files(
        of message: Message, in space: SpaceRecord, _ roster: Roster
    ) throws -> [FileView] {
        guard !message.flags.contains(.deleted), let files = message.content?.files else {
            return []
        }
        var views = try files.enumerated().map { try view($1, number: $0 + 1) }
        guard files.contains(where: { $0.blob != nil }), message.author == ownPerson,
            let log = try store.log(message.reference.tag, in: space.number),
            log.device == core.node.device,
            roster.participants.contains(where: { $0.person != ownPerson })
        else { return views }
        let receivers = try receivers(of: message.reference, in: log, roster)
        for (place, file) in files.enumerated() {
            guard let blob = file.blob else { continue }
            let holders = Set(try HeldFile.kept(blob, in: store)?.holders ?? []).intersection(
                roster.participants.map(\.person))
            views[place].holders = try sortedNames(of: holders.subtracting([ownPerson]))
            views[place].receivers = try sortedNames(of: receivers.subtracting(holders))
        }
        return views
    }

    /// The files of what an own message said that is in no timeline.
    func files(of said: TextMessage) throws -> [FileView] {
        try said.files.enumerated().map { try view($1, number: $0 + 1) }
    }

    /// Who has received all files of a message of this device, by receipts in its own conversation.
    private func receivers(
        of message: OperationReference, in log: LogRecord, _ roster: Roster
    ) throws -> Set<PersonID> {
        var found: Set<PersonID> = []
        // Those who left since as well: they have had it.
        for device in roster.everyDevice {
            guard let person = roster.person(of: device), person != ownPerson,
                !found.contains(person)
            else { continue }
            if try Receipts.tell(device, holdsFilesAt: message.sequence, of: log, store) {
                found.insert(person)
            }
        }
        return found
    }

    private func view(_ file: Attachment, number: Int) throws -> FileView {
        let (state, held) = try state(of: file)
        return FileView(
            number: number, name: FileName.harmless(file.name), size: file.size.value,
            type: FileKind.shown(file.type), state: state, heldByteCount: held,
            width: Int(file.look.width), height: Int(file.look.height),
            duration: Int(file.look.duration), isVoice: file.look.isVoice,
            waveform: file.look.waveform, transcript: file.look.transcript,
            hasPreview: PreviewForm.type(of: file.look.preview) != nil, blob: file.blob?.description
        )
    }

    private func state(of file: Attachment) throws -> (String, UInt64) {
        guard let blob = file.blob, let shape = BlobShape(file.size) else {
            return ("here", file.size.value)
        }
        let chunks = try store.blobs.heldBlob(blob)?.chunks
        if chunks?.isWhole == true { return ("here", file.size.value) }
        let held = UInt64((chunks?.count ?? 0) * Limits.plainChunkByteCount)
        let bytes = min(held, shape.size.value)
        guard try WantedFile.kept(blob, in: store) != nil else { return ("absent", bytes) }
        if core.hasNoRoom(for: blob) { return ("full", bytes) }
        if core.outlook(for: blob).isRefusedByDisk { return ("disk-full", bytes) }
        return (core.isFetching(blob) ? "fetching" : "waiting", bytes)
    }

    /// One file of a message, by its place among them, from 1; the only one where that is nil.
    func file(_ number: Int?, of reference: MessageReference) throws -> Attachment {
        let message = try content(of: reference)
        let files = message.content?.files ?? []
        guard !files.isEmpty else { throw NodeError(.noFile) }
        if number == nil, files.count > 1 {
            throw NodeError(
                "which-file", "That message has \(files.count) files.",
                hint: "Choose one with --number, from 1 to \(files.count).")
        }
        guard files.indices.contains((number ?? 1) - 1) else {
            throw NodeError(
                "which-file", "That message has no file \(number ?? 1).",
                hint: "Its files are counted from 1 to \(files.count).")
        }
        return files[(number ?? 1) - 1]
    }

    /// A message that was not deleted, and is shown.
    private func content(of reference: MessageReference) throws -> Message {
        let found = try message(reference)
        guard let space = try conversation(of: found), let roster = try roster(of: space),
            let message = try timeline(of: space, roster).message(found, in: store)
        else { throw NodeError(.unknownMessage) }
        if message.flags.contains(.deleted) { throw NodeError(.deleted) }
        if try hides(message.author, in: space) { throw NodeError.hidden }
        return message
    }

    /// What the author of a message saw behind an address in it.
    func link(of reference: MessageReference) throws -> LinkPreview? {
        try content(of: reference).link
    }

    /// A page of the messages that bring files, of a conversation or of all.
    func files(in argument: String?, limit: Int, from cursor: String?) throws -> FileList {
        let space = try argument.map { try conversation($0) }
        let unaccepted = try unaccepted()
        var list = FileList(entries: [])
        var last = try cursor.map { try EntryCursor.entry($0, of: .files) }
        while list.entries.count < limit {
            let count = limit - list.entries.count
            let found = try store.files(in: space?.number, before: last, limit: count)
            for entry in found {
                last = entry
                guard let place = try store.space(entry.space), !unaccepted.contains(place.id),
                    let roster = try roster(of: place), let message = try message(entry.operation)
                else { continue }
                list.entries.append(
                    FileEntry(message: message, place: try title(of: place, roster)))
            }
            if found.count < count { return list }
        }
        list.next = last.map(EntryCursor.text)
        return list
    }

    /// Why a file is not here, and who can deliver it.
    func explanation(of file: Attachment) throws -> [String] {
        let (state, held) = try state(of: file)
        guard let blob = file.blob else { return ["It is on this device."] }
        let shelves = try core.shelfStates(of: blob, in: store).map(Self.line)
        if state == "here" {
            return try ["It is on this device."] + whereElse(blob) + shelves
        }
        let heldLine =
            held == 0
            ? "Nothing of it is on this device."
            : "\(held) of its \(counted(file.size.value, "byte")) are on this device."
        if state == "absent" {
            let isGivenUp = try HeldFile.kept(blob, in: store)?.state == .givenUp
            return [
                heldLine,
                isGivenUp
                    ? "It was here and was removed: `parley files get MESSAGE` fetches it again."
                    : "Nobody asked for it yet: `parley files get MESSAGE` fetches it.",
            ]
        }
        if state == "full" { return try [heldLine] + roomLines() }
        let outlook = core.outlook(for: blob)
        if outlook.isRefusedByDisk {
            return [
                heldLine,
                "The disk has no space for it beside what is kept free for messages. The node "
                    + "tries again every ten minutes, and when you use `parley files get MESSAGE`.",
            ]
        }
        return try [heldLine] + sources(of: blob, outlook) + shelves
    }

    /// Who else has a file that was sent from here, and who has had it.
    private func whereElse(_ blob: BlobID) throws -> [String] {
        guard let row = try HeldFile.kept(blob, in: store),
            try HeldFile.isSent(blob, by: core.node.device, in: store)
        else { return [] }
        let holders = Set(row.holders)
        let receivers = try HeldFile.receivers(of: blob, as: core.node.device, in: store)
            .subtracting(holders)
        var lines: [String] = []
        if holders.contains(ownPerson) { lines.append("On another device of yours.") }
        let others = holders.subtracting([ownPerson])
        if !others.isEmpty { lines.append("On devices of: \(try names(of: others)).") }
        if !receivers.isEmpty {
            lines.append(
                "Fetched by: \(try names(of: receivers)). They may have removed it since.")
        }
        if lines.isEmpty, try persons(given: blob).contains(where: { $0 != ownPerson }) {
            lines.append("Nobody else has fetched it yet, as far as is known here.")
        }
        return lines
    }

    private func sources(of blob: BlobID, _ outlook: FileOutlook) throws -> [String] {
        var lines: [String] = []
        if !outlook.holders.isEmpty {
            lines.append("Being fetched from: \(try names(of: outlook.holders)).")
        }
        if !outlook.others.isEmpty {
            lines.append("Asked, without having any of it: \(try names(of: outlook.others)).")
        }
        if !outlook.asked.isEmpty {
            lines.append("Asked, and not answered yet: \(try names(of: outlook.asked)).")
        }
        let relays = core.relaysAsked(for: blob).compactMap(\.first).sorted()
        if !relays.isEmpty {
            lines.append("Being looked for at: relay \(relays.joined(separator: ", relay ")).")
        }
        let rosters = try store.naming(blob, limit: NodeCore.namingCountMax)
            .compactMap { try store.space($0.space) }.compactMap { try roster(of: $0) }
        if !rosters.isEmpty, rosters.allSatisfy({ isOut(of: $0) }) {
            lines.append(
                "You are no longer in that conversation, so nobody there sends it to you.")
        } else if outlook.holders.isEmpty, outlook.asked.isEmpty, relays.isEmpty {
            lines.append(
                "Nobody who can be reached now has it: it arrives when somebody who has it is "
                    + "reached.")
        }
        let linked = Set(core.linkedPeers.map(\.person))
        let away = try senders(of: blob).subtracting(linked).subtracting([ownPerson])
        if outlook.holders.isEmpty, !away.isEmpty {
            lines.append("Sent by \(try names(of: away)), who cannot be reached now.")
        }
        return lines
    }

    /// The authors of the messages with a file.
    func senders(of blob: BlobID) throws -> Set<PersonID> {
        var senders: Set<PersonID> = []
        for entry in try store.naming(blob, limit: NodeCore.namingCountMax) {
            guard let stored = try store.operation(entry.operation),
                let log = try store.log(stored.log), let space = try store.space(entry.space),
                let person = try roster(of: space)?.person(of: log.device)
            else { continue }
            senders.insert(person)
        }
        return senders
    }

    /// The state of a file that this device puts on a relay.
    private static func line(_ shelf: ShelfState) -> String {
        let place = shelf.addresses.first ?? "a relay"
        let devices = counted(shelf.lackingCount, "device")
        if shelf.isTooLarge { return "It is larger than the relay at \(place) accepts." }
        guard shelf.laidCount >= shelf.pieceCount else {
            let count = "\(shelf.laidCount) of its \(shelf.pieceCount) pieces"
            return "\(count) are at \(place), for \(devices)."
        }
        let lack = shelf.lackingCount == 1 ? "lacks" : "lack"
        return "It is at \(place), for \(devices) that \(lack) it."
    }

    private func names(of persons: Set<PersonID>) throws -> String {
        VisibleName.list(try sortedNames(of: persons))
    }

    func sortedNames(of persons: Set<PersonID>) throws -> [String] {
        try persons.map { try name(of: $0) }.sorted()
    }
}

extension Views {
    /// Why a file does not fit.
    private func roomLines() throws -> [String] {
        let room = try fileRoom()
        return [
            "It does not fit: files may take \(room.roomByteCount) bytes here, and take "
                + "\(room.usedByteCount). Files stay that have a star, arrived or were opened in "
                + "the last \(room.keptDayCount) days, or are known to be only here.",
            "`parley files room` shows and sets how much they may take.",
        ]
    }
}

extension FileKind {
    /// A word for what its sender says that a file is.
    static func word(_ file: Attachment) -> String {
        if file.look.isVoice { return "voice" }
        let kinds = ["image": "picture", "video": "video", "audio": "sound"]
        return kinds[String(file.type.prefix { $0 != "/" })] ?? "file"
    }

    /// A type as it is shown: what breaks its form is left out.
    static func shown(_ type: String) -> String {
        let isType =
            type.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && type.split(separator: "/", omittingEmptySubsequences: false).count == 2
        return isType ? type : ""
    }
}
