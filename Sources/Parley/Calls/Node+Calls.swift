import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyWire

/// The part of ``CallService`` that is about calls as they go on, typing and presence.
extension Node {
    /// Calls everybody in a conversation.
    public func call(conversation: String, media: [String]) async throws -> CallView {
        let media = try Self.media(media)
        let space = try await space(conversation)
        try requireReach()
        try await requireProgram()
        guard case .call(let id) = try await running.perform(.call(space, media)) else {
            throw NodeError(.unknownConversation)
        }
        return try await view(of: id)
    }

    /// Calls that ring, go on, or go on without this device.
    public func calls() async throws -> [CallView] {
        let media = media
        return try await read { views in
            try views.core.calls.all.map {
                try views.view(of: $0, failure: media.failure(of: $0.id))
            }
        }
    }

    /// What became of calls: in one conversation, or in all.
    public func callRecords(conversation: String?) async throws -> [CallRecordView] {
        try await read { views in
            try views.callRecords(in: conversation.map { try views.conversation($0) })
        }
    }

    /// Answers a call that rings here, or comes into one that goes on.
    public func answer(call: String, media: [String]) async throws -> CallView {
        let media = try Self.media(media)
        let id = try await read { views in
            let rings = views.core.calls.all.contains { $0.phase == .ringing }
            return try views.call(call, "rings or goes on here") { found in
                // What rings is meant before what goes on elsewhere.
                found.phase == .ringing || (found.phase == .aside && !(rings && call.isEmpty))
            }.id
        }
        try requireReach()
        try await requireProgram()
        _ = try await running.perform(.act(id, .answer(media)))
        return try await view(of: id)
    }

    /// Does not answer a call that rings here.
    public func reject(call: String) async throws {
        let id = try await read { views in
            try views.call(call, "rings here") { $0.phase == .ringing }.id
        }
        _ = try await running.perform(.act(id, .decline))
    }

    /// Goes out of the call that this device is in, or gives one up.
    public func hangUp(call: String) async throws {
        _ = try await running.perform(.act(try await current(call), .hangUp))
    }

    /// Sends something else in the call that this device is in.
    public func setMedia(call: String, media: [String]) async throws -> CallView {
        let (media, id) = (try Self.media(media), try await current(call))
        _ = try await running.perform(.act(id, .setMedia(media)))
        return try await view(of: id)
    }

    /// Lets others know that the person types, or has stopped.
    public func setTyping(conversation: String, on: Bool) async throws {
        _ = try await running.perform(.types(try await space(conversation), on))
    }

    /// Who is there.
    public func presences() async throws -> PresenceReport { try await read { try $0.presences() } }

    /// Whether the person is at this device.
    public func setPresence(_ word: String) async throws {
        guard let presence = Presence(word: word) else {
            throw NodeError(
                "bad-presence", "“\(word)” is no presence.", hint: "Say online, away or offline.")
        }
        _ = try await running.perform(.setPresence(presence))
    }

    /// What others are let know of when the person is there.
    public func setPrivacy(_ word: String, person: String?) async throws -> PresenceReport {
        guard let privacy = PresenceBook.Privacy(word: word) else {
            throw NodeError(
                "bad-privacy", "“\(word)” is nothing that can be told.",
                hint: "Say everything, now (not when you were there last) or nothing.")
        }
        let id = try await person.asyncMap { name in try await read { try $0.person(name) } }
        _ = try await running.perform(.setPrivacy(privacy, for: id))
        return try await presences()
    }

    /// Tells the others of a call that this node goes, and ends its program; and tells everybody
    /// that nobody is there.
    func hangUp() async {
        // A node that cannot be read has no call to end.
        if let id = try? await read({ $0.core.calls.current?.id }) {
            // It ends with the process in any case.
            _ = try? await running.perform(.act(id, .hangUp))
        }
        // Where no link ends, others would believe otherwise for ten minutes more.
        _ = try? await running.perform(.setPresence(.offline))
        await media.shutdown()
    }

    private func current(_ call: String) async throws -> CallID {
        try await read { views in
            try views.call(call, "goes on with this device") { found in
                switch found.phase {
                case .calling, .joining, .talking: true
                case .ringing, .aside, .ended: false
                }
            }.id
        }
    }

    private func view(of id: CallID) async throws -> CallView {
        let failure = media.failure(of: id)
        return try await read { views in
            guard let call = views.core.calls[id] else {
                throw NodeError(
                    "call-over", failure.map { "The call is over: \($0)." } ?? "The call is over.")
            }
            return try views.view(of: call, failure: failure)
        }
    }

    /// A call is now or never: nothing of it may wait until the node is back.
    private func requireReach() throws {
        guard network.isOffline else { return }
        throw NodeError(
            "offline", "This node is offline: nobody can be reached.",
            hint: "`parley offline off` brings it back.")
    }

    private func requireProgram() async throws {
        guard try await read({ try CallSettings.read(in: $0.store).program.isEmpty }) else {
            return
        }
        throw NodeError(
            "no-media-program", "This device has no program for sound and pictures.",
            hint: "`parley calls media PROGRAM` names one.")
    }

    private static func media(_ words: [String]) throws -> MediaState {
        guard let media = MediaState(words: words) else {
            throw NodeError(
                "bad-media", "“\(words.joined(separator: " "))” cannot be sent.",
                hint: "Say microphone, camera or screen.")
        }
        return media
    }
}

extension Optional {
    /// What becomes of the value where there is one.
    fileprivate func asyncMap<R>(_ body: (Wrapped) async throws -> R) async rethrows -> R? {
        guard let value = self else { return nil }
        return try await body(value)
    }
}
