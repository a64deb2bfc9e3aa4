import ParleyConversation
import ParleyNodeCore
import ParleySealing
import ParleySignalling
import ParleySimulation
import ParleyWire

/// I8, the disk's part: no text that anybody wrote stands readable in any file of a node.
///
/// All bytes of all files are searched, the log of changes included. A text that a person is
/// known by, as a name, counts too; texts below eight bytes could stand there by chance.
final class NoPlaintextOnDisk: Checker {
    static let invariant = "I8"
    static let needsDisk = true
    private(set) var checkCount = 0
    private var texts = ByteSearch()

    func observed(_ step: StepReport) throws {
        guard case .command(_, let command) = step.input else { return }
        switch command {
        case .send(_, let messages, _), .sendOnce(_, let messages, _, _):
            for message in messages { add(message.text) }
        case .edit(_, let text, _), .report(_, let text, _): add(text)
        case .createGroup(let name, _): add(name)
        // None is ended by an empty one, which stands everywhere.
        case .keepUnsent(_, let text), .describe(_, let text): if !text.isEmpty { add(text) }
        case .say(let field):
            if field.subject == .status, !field.value.isEmpty { add(field.value) }
        case .rename(_, let name), .renameDevice(_, let name): add(name)
        case .importMessages(_, _, let rows, _, _): for row in rows { add(row.message.text) }
        case .setProfile(let name, _): add(name ?? "")
        case .acceptInvite(_, let alias), .requestContact(_, let alias),
            .setAlias(_, let alias):
            add(alias)
        case .addDevice(let request): add(request.name)
        case .joinGroup(let link): add(link.name)
        case .delete, .deleteForOneself, .react, .star, .pin, .archive, .keepFirst, .markUnread,
            .markRead, .mute,
            .createInvite,
            .markVerified,
            .revokeInvite,
            .createGroupInvite, .endGroupInvite, .withdrawJoin, .answerContact, .revokeDevice,
            .addMember,
            .removeMember, .setRole, .leave, .changeSettings, .chooseRelays, .call, .act, .types,
            .setPresence, .setPrivacy, .acceptInvitation, .declineInvitation, .setAdditionPolicy,
            .deleteConversation, .removeCallServer, .noteRecoveryCheck, .setLinkPreviews, .file,
            .setPicture, .setLifetime, .setUsualLifetime, .setDisclosure:
            break
        case .together(.ask(_, let question)): add(question.question)
        case .together(.begin(_, let item, _)):
            add(item.title)
            add(item.notes)
        case .together(.note(_, let title, let text)):
            add(title.text)
            if !text.isEmpty { add(text) }
        case .together(.retitle(_, let title)): add(title.text)
        case .together(.write(_, let text, _)): if !text.isEmpty { add(text) }
        case .together(.propose(_, let proposal, _)):
            add(proposal.title)
            add(proposal.text)
        case .remind(.add(let text, _, _)): add(text)
        case .schedule(.add(let message, _, _)): add(message.text)
        case .together, .remind, .schedule: break
        case .setCallServer(let server): add(server.address)
        }
    }

    private func add(_ text: String) { texts.add(Array(text.utf8)) }

    func settled(_ world: World) throws {
        for node in world.nodes {
            for file in node.store.files {
                checkCount += texts.count
                guard texts.firstHit(in: file.bytes) == nil else {
                    throw violation("\(node.name) keeps a readable text in its \(file.name)")
                }
            }
        }
    }
}
