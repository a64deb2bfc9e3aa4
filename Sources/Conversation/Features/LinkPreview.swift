import ParleyPayloads
import ParleyWire

/// What the author of a text saw behind an address in it.
///
/// It is the author's claim: a reader fetches nothing, and nobody vouches for it. It counts only
/// beside its address, which is in the text.
/// Source: `Protocol/13-files.md`, "Links".
public struct LinkPreview: Equatable, Sendable {
    /// As it stands in the text.
    public var address: String
    /// What the page calls itself; empty where it does not.
    public var title: String
    /// The page's description of itself; empty if it has none.
    public var description: String
    /// What the place of the page calls itself; empty where it does not.
    public var site: String
    /// A small picture; empty for none.
    public var picture: [UInt8]

    /// A preview with these fields.
    public init(
        address: String, title: String, description: String = "", site: String = "",
        picture: [UInt8] = []
    ) {
        self.address = address
        self.title = title
        self.description = description
        self.site = site
        self.picture = picture
    }

    /// The preview that a field holds, or nil where it breaks a limit or its address is not in the text.
    init?(_ field: PayloadLinkPreview, in text: String) {
        guard field.address.utf8.count <= Limits.linkAddressByteCountMax,
            field.title.utf8.count <= Limits.linkTitleByteCountMax,
            field.description_p.utf8.count <= Limits.linkDescriptionByteCountMax,
            field.site.utf8.count <= Limits.linkSiteByteCountMax,
            field.picture.count <= Limits.previewByteCountMax,
            Self.addresses(in: text).contains(field.address)
        else { return nil }
        address = field.address
        (title, description, site) = (field.title, field.description_p, field.site)
        picture = fieldBytes(field.picture)
    }

    var payload: PayloadLinkPreview {
        var field = PayloadLinkPreview()
        field.address = address
        (field.title, field.description_p, field.site) = (title, description, site)
        field.picture = ParleyPayloads.field(picture)
        return field
    }

    /// The addresses of pages that a text names, in their order.
    ///
    /// An address continues until a space, a bracket or a quotation mark; a mark that ends a
    /// sentence is not part of it. So no address is the beginning of another one that somebody
    /// reads in its place.
    public static func addresses(in text: String) -> [String] {
        text.split(whereSeparator: isEnd).compactMap { word in
            guard let start = word.firstRange(of: "://")?.lowerBound else { return nil }
            let scheme = ["https", "http"].first { word[..<start].lowercased().hasSuffix($0) }
            guard let scheme else { return nil }
            let first = word.index(start, offsetBy: -scheme.count)
            var address = word[first...]
            while let last = address.last, ".,;:!?)]}'*_".contains(last) { address.removeLast() }
            return address.count > scheme.count + 3 ? String(address) : nil
        }
    }

    private static func isEnd(_ character: Character) -> Bool {
        character.isWhitespace || "<>\"“”«»".contains(character)
    }
}
