import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// What people do with messages and conversations that are there.
extension Stage {
    /// The command of such a deed; nil where there is nothing to do it with.
    func curation(for deed: Deed, of node: SimulatedNode) throws -> Command? {
        switch deed {
        case .forward(let place, let rank, let target, let withOrigin):
            guard let message = try message(rank, in: place, of: node),
                let copy = message.forwarded(
                    namingAuthor: withOrigin
                        ? try CardReader.name(of: message.author, node.store) : nil)
            else { return nil }
            return try space(target, of: node).map { .send($0.id, [copy], replyingTo: nil) }
        case .star(let place, let rank, let isOn):
            return try message(rank, in: place, of: node).map { .star($0.number, isOn: isOn) }
        case .report(let place, let rank): return try report(rank, in: place, of: node)
        case .deleteForOneself(let place, let rank):
            return try message(rank, in: place, of: node).map { .deleteForOneself($0.number) }
        case .pin(let place, let rank, let isOn):
            return try message(rank, in: place, of: node).map { .pin($0.number, isOn: isOn) }
        case .archive(let place, let isOn):
            return try space(place, of: node).map { .archive($0.id, isOn: isOn) }
        case .keepFirst(let place, let isOn):
            return try space(place, of: node).map { .keepFirst($0.id, isOn: isOn) }
        case .draft(let place, let text):
            return try space(place, of: node).map { .keepUnsent($0.id, text) }
        case .profile(let number, let text):
            let subject = ProfileField.Subject(rawValue: UInt8(clamping: number)) ?? .status
            let value = subject == .status ? text : text.filter { $0 != " " }
            return ProfileField(subject, value).map { .say($0) }
        case .describe(let place, let text):
            return try space(place, of: node).map { .describe($0.id, text) }
        case .lifetime(let place, let seconds):
            let seconds = UInt64(max(0, seconds))
            guard let place else { return .setUsualLifetime(seconds: seconds) }
            return try space(place, of: node).map { .setLifetime($0.id, seconds: seconds) }
        case .rule(let place, let number, let isOpen):
            let all = GroupAct.allCases
            var rules = GroupRules()
            rules[all[abs(number % all.count)]] = isOpen ? .everybody : .admins
            return try space(place, of: node).map {
                .changeSettings($0.id, SpaceSettings(rules: rules))
            }
        case .discreet(let place, let isTyping, let how):
            let space = try place.flatMap { try self.space($0, of: node) }
            guard place == nil || space != nil else { return nil }
            return .setDisclosure(
                isTyping ? .typing : .reading, isTold: how == 2 ? nil : how == 0, in: space?.id)
        case .mention(let place, let users, let text, let edited):
            return try mention(users, text, in: place, editing: edited, of: node)
        case .unread(let place, let isOn):
            return try space(place, of: node).map { .markUnread($0.id, isOn: isOn) }
        default: return nil
        }
    }

    private func report(
        _ rank: Int, in place: Int, of node: SimulatedNode
    ) throws -> Command? {
        guard let group = try space(place, of: node), group.kind == .group,
            let message = try message(rank, in: place, of: node)
        else { return nil }
        let pairs = try node.conversations().filter { $0.kind == .direct }.map(\.id)
        return .report(message.number, text: "look at \(message.reference.sequence)", to: pairs)
    }

    /// A text that begins with the names of these, or with that of everybody.
    private func mention(
        _ users: [String], _ text: String, in place: Int, editing rank: Int?, of node: SimulatedNode
    ) throws -> Command? {
        var (written, mentions) = ("", Mentions(everyone: users.isEmpty))
        for user in users {
            guard let person = self.node(user)?.identity.person else { continue }
            let start = written.utf8.count
            written += "@\(user)"
            mentions.persons.append(.init(person, at: start..<written.utf8.count))
            written += " "
        }
        written += (users.isEmpty ? "@everyone " : "") + text
        if let rank {
            return try message(rank, in: place, of: node).map {
                .edit($0.number, text: written, mentions: mentions)
            }
        }
        return try space(place, of: node).map {
            .send($0.id, [TextMessage(text: written, mentions: mentions)], replyingTo: nil)
        }
    }

    /// A message by how many stand below it.
    func message(
        _ rank: Int, in place: Int, of node: SimulatedNode
    ) throws -> Message? {
        guard let space = try space(place, of: node), let roster = try node.roster(of: space),
            let row = try node.store.messages(in: space.number, before: nil, limit: rank + 1).last
        else { return nil }
        let timeline = ParleyConversation.Timeline(
            of: space, roster: roster, ownPerson: node.identity.person)
        return try timeline.message(row.operation, in: node.store)
    }
}
