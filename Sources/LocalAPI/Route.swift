internal import Foundation
internal import Parley

/// A method of the local socket: its name, its parameters (those with `?` may be left out), and
/// the function of the node behind it.
struct Route: Sendable {
    typealias Handler =
        @Sendable (any NodeService, Arguments) async throws -> any Encodable & Sendable

    let name: String
    let parameters: [String]
    private let handler: Handler

    init(_ name: String, _ parameters: [String] = [], _ handler: @escaping Handler) {
        self.name = name
        self.parameters = parameters
        self.handler = handler
    }

    /// Everything that can be asked, besides `follow`, which ``ServerConnection`` itself answers.
    static let all: [Route] =
        [
            Route("status") { node, _ in try await node.status() },
            Route("invite", ["hours", "uses?"]) { node, a in
                try await node.invite(uses: a.optional("uses") ?? 1, hours: a("hours"))
            },
            Route("invites") { node, _ in try await node.invites() },
            Route("revokeInvite", ["id"]) { node, a in
                try await node.revokeInvite(a("id"))
                return Nothing()
            },
            Route("accept", ["link", "alias?"]) { node, a in
                try await node.accept(link: a("link"), alias: a.optional("alias"))
            },
            Route("card") { node, _ in try await node.card() },
            Route("requestContact", ["card", "alias?"]) { node, a in
                try await node.requestContact(card: a("card"), alias: a.optional("alias"))
            },
            Route("decide", ["person", "decision"]) { node, a in
                try await node.decide(about: a("person"), a("decision"))
            },
            Route("setAlias", ["person", "alias?"]) { node, a in
                try await node.setAlias(person: a("person"), alias: a.optional("alias"))
            },
            Route("contacts") { node, _ in try await node.contacts() },
            Route("conversations") { node, _ in try await node.conversations() },
            Route("conversation", ["conversation"]) { node, a in
                try await node.conversation(a("conversation"))
            },
            Route("newConversation", ["name", "members"]) { node, a in
                try await node.newConversation(name: a("name"), members: a("members"))
            },
            Route("group", ["conversation"]) { node, a in try await node.group(a("conversation")) },
            Route("addMember", ["conversation", "person", "role"]) { node, a in
                try await node.addMember(
                    conversation: a("conversation"), person: a("person"), role: a("role"))
            },
            Route("removeMember", ["conversation", "person"]) { node, a in
                try await node.removeMember(conversation: a("conversation"), person: a("person"))
            },
            Route("setRole", ["conversation", "person", "role"]) { node, a in
                try await node.setRole(
                    conversation: a("conversation"), person: a("person"), role: a("role"))
            },
            Route("leave", ["conversation", "anyway?"]) { node, a in
                try await node.leave(
                    conversation: a("conversation"), anyway: a.optional("anyway") ?? false)
                return Nothing()
            },
            Route("invitations") { node, _ in try await node.invitations() },
            Route("answerInvitation", ["conversation", "accepting"]) { node, a in
                try await node.answerInvitation(
                    conversation: a("conversation"), accepting: a("accepting"))
            },
            Route("setAdditionPolicy", ["policy"]) { node, a in
                try await node.setAdditionPolicy(a("policy"))
            },
            Route("deleteConversation", ["conversation"]) { node, a in
                try await node.deleteConversation(a("conversation"))
                return Nothing()
            },
            Route("changeSettings", ["conversation", "history?", "rotationHours?"]) { node, a in
                try await node.changeSettings(
                    conversation: a("conversation"), history: a.optional("history"),
                    rotationHours: a.optional("rotationHours"))
            },
            Route("inviteToGroup", ["conversation", "role", "uses", "hours"]) { node, a in
                try await node.inviteToGroup(
                    conversation: a("conversation"), role: a("role"), uses: a("uses"),
                    hours: a("hours"))
            },
            Route("joinGroup", ["link"]) { node, a in try await node.joinGroup(link: a("link")) },
            Route("joins") { node, _ in try await node.joins() },
            Route("events", ["conversation"]) { node, a in
                try await node.events(conversation: a("conversation"))
            },
            Route("why", ["subject", "conversation?"]) { node, a in
                try await node.why(a("subject"), conversation: a.optional("conversation"))
            },
            Route("renameSelf", ["name"]) { node, a in
                try await node.rename(to: a("name"))
                return Nothing()
            },
            Route("rename", ["conversation", "name"]) { node, a in
                try await node.rename(conversation: a("conversation"), to: a("name"))
                return Nothing()
            },
            Route("mute", ["conversation", "on"]) { node, a in
                try await node.mute(conversation: a("conversation"), on: a("on"))
                return Nothing()
            },
            Route("markRead", ["conversation", "messages", "last?"]) { node, a in
                try await node.markRead(
                    conversation: a("conversation"), messages: a("messages"),
                    last: a.optional("last"))
            },
            Route("unread", ["conversation", "limit"]) { node, a in
                try await node.unread(conversation: a("conversation"), limit: a.limit())
            },
            Route("history", ["message", "from"]) { node, a in
                try await node.history(message: a("message"), from: a("from"))
            },
            Route("messages", ["conversation", "before?", "limit"]) { node, a in
                try await node.messages(
                    conversation: a("conversation"), before: a.optional("before"), limit: a.limit())
            },
            Route("changes", ["after?", "limit"]) { node, a in
                try await node.changes(after: a.optional("after"), limit: a("limit"))
            },
            Route("safetyNumber", ["person"]) { node, a in
                try await node.safetyNumber(person: a("person"))
            },
            Route("verify", ["person", "code"]) { node, a in
                try await node.verify(person: a("person"), code: a("code"))
            },
            Route("markVerified", ["person"]) { node, a in
                try await node.markVerified(person: a("person"))
                return Nothing()
            },
            Route("devices") { node, _ in try await node.devices() },
            Route("openLink") { node, _ in try await node.openLink() },
            Route("closeLink") { node, _ in
                try await node.closeLink()
                return Nothing()
            },
            Route("revokeDevice", ["device", "recoveryCode?"]) { node, a in
                try await node.revoke(
                    device: a("device"), recoveryCode: a.optional("recoveryCode"))
                return Nothing()
            },
            Route("renameDevice", ["device", "name"]) { node, a in
                try await node.rename(device: a("device"), to: a("name"))
                return Nothing()
            },
            Route("digests") { node, _ in try await node.digests() },
            Route("doctor") { node, _ in try await node.doctor() },
            Route("createBackup", ["file", "replacing?"]) { node, a in
                let file: String = try a("file")
                guard file.hasPrefix("/"), file.utf8.count < 4096 else {
                    throw Failure.invalidParameters("\"file\" must be an absolute path")
                }
                return try await node.createBackup(
                    file: file, replacing: a.optional("replacing") ?? false)
            },
            Route("noteRecoveryCode", ["root", "backupKey", "signature"]) { node, a in
                try await node.noteRecoveryCode(
                    root: a("root"), backupKey: a("backupKey"), signature: a("signature"))
            },
        ] + aboutRelays + aboutSearch + aboutCalls

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The route of this name.
    static func named(_ name: String) throws(Failure) -> Route {
        guard let route = byName[name] else { throw .unknownMethod(name) }
        return route
    }

    /// Asks the node, once the parameters are known to be ours.
    func answer(
        _ arguments: Arguments, from node: any NodeService
    ) async throws -> any Encodable & Sendable {
        try Self.check(arguments, allowed: parameters, method: name)
        return try await handler(node, arguments)
    }

    static func check(
        _ arguments: Arguments, allowed: [String], method: String
    ) throws(Failure) {
        let known = allowed.map { $0.hasSuffix("?") ? String($0.dropLast()) : $0 }
        guard let stranger = arguments.names.first(where: { !known.contains($0) }) else { return }
        throw .invalidParameters(
            "\"\(method)\" has no parameter \"\(stranger.prefix(64))\"")
    }
}

extension Arguments {
    /// How many messages are asked for, within what one line can carry.
    fileprivate func limit() throws -> Int {
        let limit: Int = try self("limit")
        guard (1...LocalAPI.pageMessageCountMax).contains(limit) else {
            throw Failure.invalidParameters(
                "\"limit\" must be 1 to \(LocalAPI.pageMessageCountMax)")
        }
        return limit
    }
}
