import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyStorage
import ParleyWire

/// Settings that earlier versions stored on one device and that belong to the person: presence
/// privacy, the servers that help calls, and whether links get previews.
/// Source: `Protocol/05-identity.md`, "Preferences".
struct FormerSettings: Sendable {
    /// A server as it stood in the row of calls.
    private struct Server: Decodable {
        var address: String
        var name: String?
        var password: String?
        var secret: String?

        /// The server as the room of calls has it; nil for what cannot be one.
        var server: TurnServer? {
            switch (name, password, secret) {
            case (nil, nil, nil): TurnServer(address: address, access: .open)
            case (let name?, let password?, nil):
                TurnServer(address: address, access: .fixed(name: name, password: password))
            case (nil, nil, let secret?): TurnServer(address: address, access: .secret(secret))
            default: nil
            }
        }
    }

    private struct Row: Decodable {
        var servers: [Server]?
    }

    /// What one person may see, or everybody without a setting of their own.
    private(set) var privacies: [(person: PersonID?, privacy: PresenceBook.Privacy)] = []
    /// Servers, in the order in which they were added.
    private(set) var servers: [TurnServer] = []
    /// Whether links got previews; nil where that was never set.
    private(set) var makesLinkPreviews: Bool?
    private var presenceKeys: [[UInt8]] = []
    private var hasServers = false

    /// Whether no row of those is left.
    var isEmpty: Bool { presenceKeys.isEmpty && !hasServers && makesLinkPreviews == nil }

    init(in store: SQLiteStore) throws {
        let start = NodeCore.formerPrivacyKey(nil)
        for (key, _) in try store.values(.profile) where key.starts(with: start) {
            let person = PersonID(Array(key.dropFirst(start.count)))
            guard key == start || person != nil,
                let privacy = try NodeCore.formerPrivacy(for: person, in: store)
            else { continue }
            presenceKeys.append(key)
            privacies.append((person, privacy))
        }
        makesLinkPreviews = try FormerLinkSettings.isOn(in: store)
        guard let bytes = try store.value(.profile, CallSettings.key) else { return }
        let row = try JSONDecoder().decode(Row.self, from: Data(bytes))
        hasServers = row.servers != nil
        servers = (row.servers ?? []).compactMap(\.server)
    }

    /// Drops the rows. The program for sound and pictures, which belongs to this device, stays.
    func remove(from store: SQLiteStore) throws {
        let settings = try CallSettings.read(in: store)
        try store.transact(.full) {
            for key in presenceKeys + [FormerLinkSettings.key] {
                try store.setValue(nil, .profile, key)
            }
            if hasServers { try settings.set(in: store) }
        }
    }
}

extension Node {
    /// Records for all of the person's devices what an earlier version stored on this one. Nobody
    /// is told anything before.
    ///
    /// What tells less holds where something was noted already: another device may have kept something
    /// else, and neither knew of the other.
    func takeOverFormerSettings() async {
        guard await running.bar == nil else { return }
        do {
            let former = try await running.read { try FormerSettings(in: $0.store) }
            guard !former.isEmpty else { return }
            try await note(former)
            try await running.write { try former.remove(from: $0) }
        } catch {
            // This device may not write yet, or its disk takes nothing: the next start takes it over. Until
            // then the rows hold here.
        }
    }

    private func note(_ former: FormerSettings) async throws {
        for (person, privacy) in former.privacies {
            let known = try await running.read { try $0.privacy(for: person) }
            if let known, known.rawValue >= privacy.rawValue { continue }
            try await note(.setPrivacy(privacy, for: person))
        }
        let known = Set(try await running.read { try $0.callServers().map(\.address) })
        for server in former.servers where !known.contains(server.address) {
            try await note(.setCallServer(server))
        }
        guard let isOn = former.makesLinkPreviews else { return }
        let said = try await running.read { try $0.linkPreviewsSaid() }
        if !isOn || said == nil { try await note(.setLinkPreviews(isOn)) }
    }

    private func note(_ command: Command) async throws {
        do {
            _ = try await running.perform(command)
        } catch let error as NodeError
            where ["unknown-person", "too-many-servers"].contains(error.code)
        {
            // A person who is no contact is told nothing anyway; and what does not fit is not used.
        }
    }
}
