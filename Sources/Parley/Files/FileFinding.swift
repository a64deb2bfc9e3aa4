import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// A sealed file that is not as it should be, and who else has it.
struct FileFinding: Sendable {
    /// As many are named one by one.
    static let namedCountMax = 20

    var blob: BlobID
    /// How it is cut, as the message says; nil where no message names it.
    var shape: BlobShape?
    /// A message that names it; nil where none does: then nobody needs it.
    var message: OperationNumber?
    /// The file and the message, as a person is told.
    var name: String
    /// Whether another device is known to have it or to have had it.
    var isElsewhere: Bool
    /// Who, as a clause.
    var who: String
    /// Whether parts of it are not here that should be, and nothing that is here is wrong.
    var isMissing = false
    /// Whether it will be fetched again: somebody asked for it, and another device has it or has
    /// had it.
    var isAwaited = false

    /// `“a.txt” of message 4 in ann`, and so on.
    static func names(_ findings: [FileFinding]) -> String {
        let names = findings.prefix(namedCountMax).map(\.name).joined(separator: ", ")
        let more = findings.count - namedCountMax
        return more > 0 ? "\(names) and \(more) more" : names
    }

    /// What is said about each of them.
    static func sentences(_ findings: [FileFinding]) -> [String] {
        let wrong = findings.filter { !$0.isAwaited }
        var sentences = wrong.prefix(namedCountMax).map {
            "\($0.isMissing ? "Missing" : "Damaged"): \($0.name); \($0.who)."
        }
        let more = wrong.count - namedCountMax
        if more > 0 {
            sentences.append(
                "\(counted(more, "more file is", "more files are")) damaged or missing.")
        }
        return sentences
    }
}

extension Views {
    /// What is known of files that are not as they should be.
    ///
    /// - Parameter damaged: those of which something is here that is wrong.
    func findings(_ damaged: [BlobID]) throws -> [FileFinding] {
        let missing = try missingFiles().subtracting(damaged).sorted()
        return try findings(of: damaged)
            + findings(of: missing).map { finding in
                var finding = finding
                finding.isMissing = true
                let isWanted = try WantedFile.kept(finding.blob, in: store)?.isAskedFor ?? false
                finding.isAwaited = isWanted && finding.isElsewhere
                return finding
            }
    }

    private func findings(of blobs: [BlobID]) throws -> [FileFinding] {
        try blobs.map { blob in
            let entries = try store.naming(blob, limit: NodeCore.namingCountMax)
            for entry in entries {
                guard let (file, name) = try named(blob, by: entry.operation) else { continue }
                let (isElsewhere, who) = try whoHas(blob)
                return FileFinding(
                    blob: blob, shape: BlobShape(file.size), message: entry.operation,
                    name: name, isElsewhere: isElsewhere, who: who)
            }
            return FileFinding(
                blob: blob, shape: nil, message: entries.first?.operation,
                name: "a file that no message here names", isElsewhere: false,
                who: "nobody needs it")
        }
    }

    /// A file of a message, and how a person is told of it.
    private func named(
        _ blob: BlobID, by operation: OperationNumber
    ) throws -> (file: Attachment, name: String)? {
        guard let payload = try store.operation(operation)?.operation.payload,
            let file = TextMessage(payload: payload)?.files.first(where: { $0.blob == blob }),
            let message = try message(operation),
            let space = try conversation(of: operation), let roster = try roster(of: space)
        else { return nil }
        let (name, place) = (FileName.harmless(file.name), try title(of: space, roster))
        return (file, "“\(name)” of message \(message.number) in “\(place)”")
    }

    /// Whether another device is known to have a file or to have had it, and who, as a clause.
    private func whoHas(_ blob: BlobID) throws -> (isElsewhere: Bool, who: String) {
        let row = try HeldFile.kept(blob, in: store)
        let holders = Set(row?.holders ?? [])
        let receivers = try HeldFile.receivers(of: blob, as: core.node.device, in: store)
            .subtracting(holders)
        let senders = try senders(of: blob).subtracting([ownPerson])
        if !holders.isEmpty {
            return (true, try list(holders) + (holders.count == 1 ? " has it" : " have it"))
        }
        if !receivers.isEmpty {
            let verb = receivers.count == 1 ? " has had it" : " have had it"
            return (true, try list(receivers) + verb)
        }
        if row?.canComeAgain ?? !senders.isEmpty {
            return (
                true,
                senders.isEmpty
                    ? "it came from another device" : "sent by \(try list(senders))"
            )
        }
        let again = senders.isEmpty ? "send it again" : "ask \(try list(senders)) for it"
        return (false, "nobody else is known to have it: \(again)")
    }

    private func list(_ persons: Set<PersonID>) throws -> String {
        let others = try sortedNames(of: persons.subtracting([ownPerson]))
        let own = persons.contains(ownPerson) ? ["another device of yours"] : []
        return VisibleName.list(own + others)
    }
}
