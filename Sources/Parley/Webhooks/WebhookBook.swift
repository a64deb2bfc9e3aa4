import Foundation
import ParleySealing
import ParleyStorage
import ParleyWire
import Synchronization

/// An event that a webhook did not accept, however often it was tried. Its content is not kept: it
/// is read again by its cursor, as far as the log goes back.
public struct DeadLetter: Codable, Equatable, Sendable {
    /// Where to resume after it.
    public var cursor: String
    /// Of what kind it was.
    public var kind: String
    /// When it was given up, in Unix milliseconds.
    public var time: UInt64
    /// What went wrong the last time: `http-500`, `no-answer`.
    public var reason: String

    /// A letter with these fields.
    public init(cursor: String, kind: String, time: UInt64, reason: String) {
        (self.cursor, self.kind, self.time, self.reason) = (cursor, kind, time, reason)
    }
}

/// A local program that is told what changes.
public struct Webhook: Codable, Equatable, Sendable {
    /// Its name.
    public var name: String
    /// Its address: `http://127.0.0.1:8000/changes`.
    public var address: String
    /// The only conversation it is told about, in hex; nil for all.
    public var conversation: String?
    /// What both sides know, and signatures are made with: 32 bytes, in hex.
    public var secret: String
    /// The position after which it is told changes.
    public var cursor: String
    /// Since when, in Unix milliseconds.
    public var created: UInt64
    /// The newest events that it did not take.
    public var deadLetters: [DeadLetter] = []
}

/// The webhooks of a node, in a file of mode 0600: their secrets sign, and open nothing of the node.
///
/// Source: `Protocol/14-local-api.md`, "Webhooks".
public final class WebhookBook: Sendable {
    /// So many there may be.
    public static let countMax = 16
    /// So many dead letters of each are kept: the newest.
    public static let deadLetterCountMax = 100
    private static let fileByteCountMax = 1 << 20

    private struct File: Codable {
        var version = 1
        var webhooks: [Webhook]
    }

    private struct State {
        /// Nil before the file was read.
        var webhooks: [Webhook]?
        var hasChanged = false
        var watchers: [@Sendable () -> Void] = []
    }

    private let file: HomeFile<File>
    private let state = Mutex(State())

    init(of home: Home) {
        file = HomeFile("webhooks", of: home, atMost: Self.fileByteCountMax) { path in
            NodeError(
                "webhooks-damaged", "The webhooks in \(path) cannot be read.",
                hint: "Remove that file: all webhooks end, and new ones can be made.")
        }
    }

    /// All of them, by name.
    public func all() throws -> [Webhook] {
        try state.withLock { try read(&$0) }.sorted { $0.name < $1.name }
    }

    /// Has something done whenever one comes or goes.
    public func watch(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.watchers.append(body) }
    }

    /// Records the position of one. It is on disk after ``flush()``, or the next write.
    public func advance(_ name: String, to cursor: String) throws {
        try state.withLock { state in
            var webhooks = try read(&state)
            guard let place = webhooks.firstIndex(where: { $0.name == name }) else { return }
            webhooks[place].cursor = cursor
            (state.webhooks, state.hasChanged) = (webhooks, true)
        }
    }

    /// Records that one did not accept an event, and continues.
    public func giveUp(_ letter: DeadLetter, of name: String) throws {
        try change { webhooks in
            guard let place = webhooks.firstIndex(where: { $0.name == name }) else { return }
            webhooks[place].deadLetters.append(letter)
            let extra = webhooks[place].deadLetters.count - Self.deadLetterCountMax
            if extra > 0 { webhooks[place].deadLetters.removeSubrange(..<extra) }
            webhooks[place].cursor = letter.cursor
        }
    }

    /// Writes pending records to disk.
    public func flush() throws {
        try state.withLock { state in
            guard state.hasChanged, let webhooks = state.webhooks else { return }
            try write(webhooks)
            state.hasChanged = false
        }
    }

    func create(_ webhook: Webhook) throws {
        guard AccessTokens.isName(webhook.name) else {
            throw NodeError(
                "bad-webhook-name",
                "The name of a webhook must have 1 to 64 letters a–z, digits, dots, hyphens or "
                    + "underscores.")
        }
        guard Self.isNear(webhook.address) else {
            throw NodeError(
                "bad-address", "A webhook must be on this machine, over http.",
                hint:
                    "Give one such as http://127.0.0.1:8000/changes; a program there may pass changes on."
            )
        }
        try change { webhooks in
            guard !webhooks.contains(where: { $0.name == webhook.name }) else {
                throw NodeError(
                    "webhook-exists", "There is already a webhook “\(webhook.name)”.",
                    hint: "`parley webhook delete \(webhook.name)` deletes it.")
            }
            guard webhooks.count < Self.countMax else {
                throw NodeError(
                    "too-many-webhooks", "There are \(Self.countMax) webhooks already.")
            }
            webhooks.append(webhook)
        }
        tellWatchers()
    }

    func delete(_ name: String) throws {
        try change { webhooks in
            guard let place = webhooks.firstIndex(where: { $0.name == name }) else {
                throw NodeError(
                    "unknown-webhook", "There is no webhook “\(name)”.",
                    hint: "`parley webhook list` shows them.")
            }
            webhooks.remove(at: place)
        }
        tellWatchers()
    }

    private func tellWatchers() {
        for watcher in state.withLock({ $0.watchers }) { watcher() }
    }

    private func change(_ body: (inout [Webhook]) throws -> Void) throws {
        try state.withLock { state in
            var webhooks = try read(&state)
            try body(&webhooks)
            try write(webhooks)
            (state.webhooks, state.hasChanged) = (webhooks, false)
        }
    }

    private func read(_ state: inout State) throws -> [Webhook] {
        if let webhooks = state.webhooks { return webhooks }
        let webhooks =
            try file.read { file in
                file.version == 1 && file.webhooks.count <= Self.countMax
                    && file.webhooks.allSatisfy { Self.isNear($0.address) }
            }?.webhooks ?? []
        state.webhooks = webhooks
        return webhooks
    }

    private func write(_ webhooks: [Webhook]) throws { try file.write(File(webhooks: webhooks)) }

    /// Whether an address is on this machine. The content is readable, so it must not leave.
    static func isNear(_ address: String) -> Bool {
        guard address.utf8.count <= 2_000, address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URLComponents(string: address), url.scheme == "http", url.user == nil,
            url.password == nil, url.fragment == nil, let host = url.host,
            (1...65_535).contains(url.port ?? 80)
        else { return false }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isFour =
            parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in UInt8(part).map { "\($0)" == part } ?? false }
        return isFour || ["localhost", "::1", "[::1]"].contains(host)
    }
}
