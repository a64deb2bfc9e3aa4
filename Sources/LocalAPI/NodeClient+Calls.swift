public import Parley

/// The part of `NodeService` that is about calls.
extension NodeClient {
    /// See `CallService.callSettings()`.
    public func callSettings() async throws -> CallSettingsView { try await call("callSettings") }

    /// See `CallService.setMediaProgram(_:)`.
    public func setMediaProgram(_ words: [String]) async throws -> CallSettingsView {
        try await call("setMediaProgram", ["words": words])
    }

    /// See `CallService.addTurnServer(_:name:password:secret:)`.
    public func addTurnServer(
        _ address: String, name: String?, password: String?, secret: String?
    ) async throws -> CallSettingsView {
        try await call(
            "addTurnServer",
            ["address": address, "name": name, "password": password, "secret": secret])
    }

    /// See `CallService.removeTurnServer(_:)`.
    public func removeTurnServer(_ address: String) async throws -> CallSettingsView {
        try await call("removeTurnServer", ["address": address])
    }

    /// See `CallService.call(conversation:media:)`.
    public func call(conversation: String, media: [String]) async throws -> CallView {
        try await call("call", ["conversation": conversation, "media": media])
    }

    /// See `CallService.calls()`.
    public func calls() async throws -> [CallView] { try await call("calls") }

    /// See `CallService.callRecords(conversation:)`.
    public func callRecords(conversation: String?) async throws -> [CallRecordView] {
        try await call("callRecords", ["conversation": conversation])
    }

    /// See `CallService.answer(call:media:)`.
    public func answer(call: String, media: [String]) async throws -> CallView {
        try await self.call("answer", ["call": call, "media": media])
    }

    /// See `CallService.reject(call:)`.
    public func reject(call: String) async throws {
        let _: Nothing = try await self.call("reject", ["call": call])
    }

    /// See `CallService.hangUp(call:)`.
    public func hangUp(call: String) async throws {
        let _: Nothing = try await self.call("hangUp", ["call": call])
    }

    /// See `CallService.setMedia(call:media:)`.
    public func setMedia(call: String, media: [String]) async throws -> CallView {
        try await self.call("setMedia", ["call": call, "media": media])
    }

    /// See `CallService.setTyping(conversation:on:)`.
    public func setTyping(conversation: String, on: Bool) async throws {
        let _: Nothing = try await call("setTyping", ["conversation": conversation, "on": on])
    }

    /// See `CallService.presences()`.
    public func presences() async throws -> PresenceReport { try await call("presences") }

    /// See `CallService.setPresence(_:)`.
    public func setPresence(_ word: String) async throws {
        let _: Nothing = try await call("setPresence", ["presence": word])
    }

    /// See `CallService.setPrivacy(_:person:)`.
    public func setPrivacy(_ word: String, person: String?) async throws -> PresenceReport {
        try await call("setPrivacy", ["told": word, "person": person])
    }
}
