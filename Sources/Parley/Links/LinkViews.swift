import ParleyConversation

/// What the author of a message saw behind an address in it. No reader of the message fetched
/// anything, and nobody but the author vouches for it.
public struct LinkPreviewView: Codable, Equatable, Sendable {
    /// As it stands in the text.
    public var address: String
    /// What the page calls itself.
    public var title: String
    /// The page's description of itself; empty if it has none.
    public var description: String
    /// What the place of the page calls itself; empty where it does not. The address says where it is.
    public var site: String
    /// Whether a small picture came along: ``ReadPreview`` gives it.
    public var hasPicture: Bool

    init(_ preview: LinkPreview) {
        (address, title) = (preview.address, preview.title)
        (description, site) = (preview.description, preview.site)
        hasPicture = PreviewForm.type(of: preview.picture) != nil
    }
}

/// A preview that was made, and waits for its message.
public struct StagedLink: Codable, Equatable, Sendable {
    /// Names it in ``SendMessages``.
    public var ticket: String
    /// What readers will see.
    public var preview: LinkPreviewView
}

/// Whether messages get previews of links without being told.
public struct LinkSettingsView: Codable, Equatable, Sendable {
    /// Off, unless the person said otherwise on this device.
    public var isOn: Bool
}
