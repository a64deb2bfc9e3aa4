import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyWire

/// A webhook, without its secret.
public struct WebhookView: Codable, Equatable, Sendable {
    /// Its name.
    public var name: String
    /// Its address.
    public var address: String
    /// The only conversation it is told about, in hex; nil for all.
    public var conversation: String?
    /// Since when, in Unix milliseconds.
    public var created: UInt64
    /// Its position.
    public var cursor: String
    /// The newest events that it did not take.
    public var deadLetters: [DeadLetter]
}

/// A webhook that was just made.
public struct FreshWebhook: Codable, Equatable, Sendable {
    /// With which it checks signatures, in hex. It is shown this once.
    public var secret: String
    /// The webhook.
    public var view: WebhookView
}

/// Has a program of this machine told what changes, from now on, while the node runs.
public struct CreateWebhook: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "newWebhook", RequestScope.admin,
        "Sends changes to a program on this machine, from now on; its secret is shown this once."
    )
    /// An example of the request.
    public static let example = CreateWebhook(
        called: "lights", address: "http://127.0.0.1:8000/changes", conversation: "home")

    /// Its name: letters, digits, dots, hyphens and underscores.
    public var called: String
    /// Its address, on this machine.
    public var address: String
    /// The only conversation it is told about: its name, its identifier or a start of that; nil for
    /// all.
    public var conversation: String?

    /// A request with these parameters.
    public init(called: String, address: String, conversation: String? = nil) {
        self.called = called
        self.address = address
        self.conversation = conversation
    }

    /// Answers the request.
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

/// The webhooks, by name, with the events that they did not accept.
public struct ListWebhooks: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "webhooks", RequestScope.admin,
        "All webhooks, by name, with the newest events that each did not accept."
    )
    /// An example of the request.
    public static let example = ListWebhooks()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [WebhookView] {
        try node.webhooks.all().map(WebhookView.init)
    }
}

/// Deletes a webhook; pending events are not sent to it.
public struct DeleteWebhook: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "deleteWebhook", RequestScope.admin,
        "Deletes a webhook; changes that were not sent yet are not sent."
    )
    /// An example of the request.
    public static let example = DeleteWebhook(called: "lights")

    /// Its name.
    public var called: String

    /// A request with these parameters.
    public init(called: String) { self.called = called }

    /// Answers the request.
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
