import Foundation
import Parley

/// Names and numbers that a node knows, for a person who types one.
struct NameBook {
    let node: any NodeService

    /// What there is of a kind, in the order in which lists show it.
    func names(of kind: NameKind) async throws -> [Completer.Candidate] {
        switch kind {
        case .conversation:
            // A person stands for the conversation with them, be it begun or not.
            let all = try await node.perform(ListConversations())
            let begun = all.filter { $0.kind == "direct" }.map(\.name)
            let others = try await people().filter { !begun.contains($0.word) }
            return all.flatMap { Self.named($0.name, $0.id, $0.kind) } + others
        case .group:
            let all = try await node.perform(ListConversations()).filter { $0.kind == "group" }
            let waiting = try await node.perform(ListInvitations()).waiting
            return all.flatMap { Self.named($0.name, $0.id, "group") }
                + waiting.flatMap { Self.named($0.name, $0.id, "invitation") }
        case .person: return try await people()
        case .device: return try await devices()
        case .relay:
            return try await node.perform(ListRelays()).flatMap {
                Self.named($0.addresses.first ?? "", $0.relay, "relay")
            }
        case .item:
            return try await node.perform(ListItems()).map { Self.numbered($0.number, $0.title) }
        case .poll:
            return try await node.perform(ListPolls()).map { Self.numbered($0.number, $0.title) }
        case .note:
            return try await node.perform(ListNotes()).map { Self.numbered($0.number, $0.title) }
        case .decision:
            return try await node.perform(ListDecisions(limit: ListDecisions.limitMax))
                .decisions.map { Self.numbered($0.number, $0.title) }
        case .reminder:
            return try await node.perform(ListReminders()).map {
                Completer.Candidate(word: String($0.id.prefix(8)), meaning: Self.short($0.text))
            }
        case .scheduled:
            return try await node.perform(ListScheduled()).map {
                Completer.Candidate(word: String($0.id.prefix(8)), meaning: Self.short($0.text))
            }
        case .invite:
            return try await node.perform(ListInvites()).map {
                Completer.Candidate(word: $0.id, meaning: "invite")
            }
        case .home: return []
        case .anything:
            return try await names(of: .conversation) + devices()
        }
    }

    private func people() async throws -> [Completer.Candidate] {
        try await node.perform(ListContacts()).flatMap {
            Self.named($0.name, $0.person, $0.state == "accepted" ? "contact" : $0.state)
        }
    }

    private func devices() async throws -> [Completer.Candidate] {
        try await node.perform(ListDevices()).flatMap {
            Self.named($0.name, $0.device, $0.isThis ? "this device" : "device")
        }
    }

    /// By the name, and where that cannot stand on a line as it is, by the identifier: a name may hold
    /// anything that somebody wrote, and moves no cursor and ends no line here.
    private static func named(
        _ name: String, _ id: String, _ what: String
    ) -> [Completer.Candidate] {
        let start = String(id.prefix(8))
        guard !name.isEmpty, harmless(name) == name, !name.contains(where: \.isNewline),
            !name.hasPrefix("-"), !name.allSatisfy(\.isWhitespace)
        else { return [Completer.Candidate(word: start, meaning: "\(what) \(short(name))")] }
        return [Completer.Candidate(word: name, meaning: what)]
    }

    private static func numbered(_ number: Int64, _ title: String) -> Completer.Candidate {
        Completer.Candidate(word: "\(number)", meaning: short(title))
    }

    /// A few words of a text, on one line.
    private static func short(_ text: String) -> String {
        let line = harmless(text.replacing("\t", with: " "))
        return line.count > 40 ? line.prefix(39) + "…" : line
    }
}
