import Synchronization

@testable import Parley

extension FakeNode {
    func callSettings() async throws -> CallSettingsView {
        CallSettingsView(
            program: ["/usr/bin/media", "-q"],
            servers: [.init(address: "turn:turn.example:3478", access: "name", name: "ada")])
    }

    func setMediaProgram(_ words: [String]) async throws -> CallSettingsView {
        state.withLock { $0.calls.append("setMediaProgram \(words)") }
        var settings = try await callSettings()
        settings.program = words
        return settings
    }

    func addTurnServer(
        _ address: String, name: String?, password: String?, secret: String?
    ) async throws -> CallSettingsView {
        let words = [address, name, password, secret].map { $0 ?? "-" }.joined(separator: " ")
        state.withLock { $0.calls.append("addTurnServer \(words)") }
        return try await callSettings()
    }

    func removeTurnServer(_ address: String) async throws -> CallSettingsView {
        state.withLock { $0.calls.append("removeTurnServer \(address)") }
        var settings = try await callSettings()
        settings.servers = []
        return settings
    }
}

extension FakeNode {
    static func call(_ state: String) -> CallView {
        CallView(
            call: "0123456789abcdef0123456789abcdef",
            conversation: String(repeating: "ab", count: 32),
            name: "home", caller: "ben", isOwn: false, state: state, media: ["microphone"],
            members: [], rings: [], milliseconds: nil, end: nil, reason: nil)
    }

    func call(conversation: String, media: [String]) async throws -> CallView {
        state.withLock { $0.calls.append("call \(conversation) \(media)") }
        return Self.call("calling")
    }

    func calls() async throws -> [CallView] { [Self.call("ringing")] }

    func callRecords(conversation: String?) async throws -> [CallRecordView] {
        state.withLock { $0.records }
    }

    static func record(_ outcome: String, isOwn: Bool = false, isMissed: Bool = false)
        -> CallRecordView
    {
        CallRecordView(
            call: "fedcba98", conversation: String(repeating: "ab", count: 32), name: "home",
            caller: isOwn ? "ada" : "ben", isOwn: isOwn, time: 1_700_000_030_000, outcome: outcome,
            milliseconds: outcome == "talked" ? 62_000 : 0,
            people: outcome == "talked" ? ["ada", "ben"] : ["ben"], isMissed: isMissed)
    }

    func answer(call: String, media: [String]) async throws -> CallView {
        state.withLock { $0.calls.append("answer \(call) \(media)") }
        return Self.call("joining")
    }

    func reject(call: String) async throws {
        state.withLock { $0.calls.append("reject \(call)") }
    }

    func hangUp(call: String) async throws {
        state.withLock { $0.calls.append("hangUp \(call)") }
    }

    func setMedia(call: String, media: [String]) async throws -> CallView {
        state.withLock { $0.calls.append("setMedia \(call) \(media)") }
        return Self.call("talking")
    }

    func setTyping(conversation: String, on: Bool) async throws {
        state.withLock { $0.calls.append("setTyping \(conversation) \(on)") }
    }

    func presences() async throws -> PresenceReport {
        PresenceReport(
            own: "online", told: "now",
            people: [
                .init(
                    person: "cc", name: "ben", presence: "away", lastSeen: 1_700_000_000_000,
                    told: "nothing")
            ])
    }

    func setPresence(_ word: String) async throws {
        state.withLock { $0.calls.append("setPresence \(word)") }
    }

    func setPrivacy(_ word: String, person: String?) async throws -> PresenceReport {
        state.withLock { $0.calls.append("setPrivacy \(word) \(person ?? "-")") }
        return try await presences()
    }
}
