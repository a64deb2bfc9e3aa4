import ParleyConversation
import ParleyLedger
import ParleyNodeCore

/// Fetches the page behind the first address in a text, once, and makes a preview for its message.
///
/// The owner of that page learns this machine's address and the time. No reader of the message
/// fetches anything.
public struct MakeLinkPreview: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "makeLinkPreview", RequestScope.write,
        "Fetches the page behind the first address in a text, and makes a preview for its message."
    )
    /// An example of the request.
    public static let example = MakeLinkPreview(text: "look: https://hut.example/")

    /// What the message will say.
    public var text: String

    /// A request with these parameters.
    public init(text: String) { self.text = text }

    /// Answers the request.
    public func perform(on node: Node) async throws -> StagedLink {
        let (ticket, preview) = try await node.links.make(of: text)
        return StagedLink(ticket: ticket, preview: LinkPreviewView(preview))
    }
}

/// Whether messages get previews of links without being told.
public struct GetLinkSettings: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "linkSettings", RequestScope.read,
        "Whether messages get previews of links automatically."
    )
    /// An example of the request.
    public static let example = GetLinkSettings()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> LinkSettingsView {
        try await node.read { LinkSettingsView(isOn: try $0.makesLinkPreviews()) }
    }
}

/// Makes previews of links for messages without being told, on all of the person's devices, or no longer.
public struct SetLinkSettings: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setLinkSettings", RequestScope.admin,
        "Turns automatic previews of links on or off, on all of the person's devices."
    )
    /// An example of the request.
    public static let example = SetLinkSettings(isOn: true)

    /// Whether they are made.
    public var isOn: Bool

    /// A request with these parameters.
    public init(isOn: Bool) { self.isOn = isOn }

    /// Answers the request.
    public func perform(on node: Node) async throws -> LinkSettingsView {
        _ = try await node.running.perform(.setLinkPreviews(isOn))
        return try await node.perform(GetLinkSettings())
    }
}
