import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyWire

/// A webhook, without its secret.
public struct WebhookView: Codable, Equatable, Sendable {
    /// What it is called.
    public var name: String
    /// Where it is told.
    public var address: String
    /// The one conversation that it is told of, in hex; nil for all.
    public var conversation: String?
    /// Since when, in Unix milliseconds.
    public var created: UInt64
    /// How far it was told.
    public var cursor: String
    /// The newest events that it did not take.
    public var deadLetters: [DeadLetter]
}

/// A webhook that was just made.
public struct FreshWebhook: Codable, Equatable, Sendable {
    /// With which it checks signatures, in hex. It is shown this once.
    public var secret: String
    /// What it is.
    public var view: WebhookView
}

/// Has a program of this machine told what changes, from now on, while the node runs.
public struct CreateWebhook: NodeRequest {
    /// The method, what a token must allow, and what it is for.
    public static let (name, scope, summary) = (
        "newWebhook", RequestScope.admin,
        "Has a program of this machine told what changes, from now on; its secret is told this once."
    )
    /// As somebody would ask it.
    public static let example = CreateWebhook(
        called: "lights", address: "http://127.0.0.1:8000/changes", conversation: "home")

    /// What it is to be called: letters, digits, dots, hyphens and underscores.
    public var called: String
    /// Where it is told, on this machine.
    public var address: String
    /// The one conversation that it is told of: its name, its identifier or a start of that; nil for all.
    public var conversation: String?

    /// A request with these parameters.
    public init(called: String, address: String, conversation: String? = nil) {
        self.called = called
        self.address = address
        self.conversation = conversation
    }

    /// Answers it.
    public func perform(on node: Node) async throws -> FreshWebhook {
        let space = try await node.read { views in
            try conversation.map { try views.conversation($0).id.description }
        }
        let cursor = try await node.perform(ReadChanges(limit: 1)).cursor
        var random = SystemRandom()
        let webhook = Webhook(
            name: called, address: address, conversation: space, secret: hex(random.bytes(32)),
            cursor: cursor, created: SystemClock.now.wall)
        try node.webhooks.create(webhook)
        return FreshWebhook(secret: webhook.secret, view: WebhookView(webhook))
    }
}

/// The webhooks that there are, by name, with what they did not take.
public struct ListWebhooks: NodeRequest {
    /// The method, what a token must allow, and what it is for.
    public static let (name, scope, summary) = (
        "webhooks", RequestScope.admin,
        "The webhooks that there are, by name, with the newest events that each did not take."
    )
    /// As somebody would ask it.
    public static let example = ListWebhooks()

    /// The request, which takes nothing.
    public init() {}

    /// Answers it.
    public func perform(on node: Node) async throws -> [WebhookView] {
        try node.webhooks.all().map(WebhookView.init)
    }
}

/// Ends a webhook; what it was not told yet it is not told.
public struct DeleteWebhook: NodeRequest {
    /// The method, what a token must allow, and what it is for.
    public static let (name, scope, summary) = (
        "deleteWebhook", RequestScope.admin,
        "Ends a webhook; what it was not told yet it is not told."
    )
    /// As somebody would ask it.
    public static let example = DeleteWebhook(called: "lights")

    /// What it is called.
    public var called: String

    /// A request with these parameters.
    public init(called: String) { self.called = called }

    /// Answers it.
    public func perform(on node: Node) async throws -> NoReply {
        try node.webhooks.delete(called)
        return NoReply()
    }
}

extension WebhookView {
    init(_ webhook: Webhook) {
        self.init(
            name: webhook.name, address: webhook.address, conversation: webhook.conversation,
            created: webhook.created, cursor: webhook.cursor, deadLetters: webhook.deadLetters)
    }
}
