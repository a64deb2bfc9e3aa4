import Foundation
import Parley

/// Previews of links as lines.
enum LinkLines {
    /// A preview, as it stands below its message: the machine's name is the address's, whatever the page
    /// calls itself.
    static func text(_ link: LinkPreviewView) -> String {
        let place = host(link.address)
        var words = "“\(harmless(link.title))”"
        if !link.description.isEmpty { words += ": \(shortened(harmless(link.description)))" }
        return "[link to \(harmless(place)): \(words)]"
    }

    private static func host(_ address: String) -> String {
        guard let mark = address.firstRange(of: "://") else { return address }
        let rest = address[mark.upperBound...].prefix { !"/?#\\".contains($0) }
        // What stands before a place's name only looks like one.
        return String(rest.split(separator: "@", omittingEmptySubsequences: false).last ?? rest)
    }

    private static func shortened(_ text: String) -> String {
        text.count <= 160 ? text : text.prefix(159) + "…"
    }
}
