import Parley
import ParleyWire

/// Membership changes, as lines between messages.
enum MembershipLines {
    /// `ann added ben`, or nil for what changed nothing that is worth a line.
    static func text(_ event: MembershipView) -> String? {
        guard event.holds else { return nil }
        let name = harmless(event.name)
        let author = event.author.map(harmless)
        switch event.change {
        case "added":
            let role = event.role.map { $0 == "member" ? "" : " as \($0)" } ?? ""
            return "\(author ?? "somebody") added \(name)\(role)"
        case "joined":
            return author.map { "\(name) joined with a link of \($0)" } ?? "\(name) joined"
        case "removed": return "\(author ?? "somebody") removed \(name)" + hidden(event)
        case "left": return "\(name) left"
        case "declined": return "\(name) declined"
        case "role":
            return "\(author ?? "somebody") made \(name) \(event.role ?? "something else")"
                + hidden(event)
        case "devices-added": return "\(name) has a new device"
        case "device-revoked": return "a device of \(name) was revoked" + hidden(event)
        default: return nil
        }
    }

    private static func hidden(_ event: MembershipView) -> String {
        let (messages, changes) = (event.hiddenCount ?? 0, event.hiddenChangeCount ?? 0)
        let isOne = messages + changes == 1
        let what = [
            messages > 0 ? counted(messages, "message") : nil,
            changes > 0 ? counted(changes, "change") : nil,
        ].compactMap { $0 }
        if what.isEmpty { return "" }
        // Some were never shown: they came when that was known here.
        return ": \(what.joined(separator: " and ")) of theirs \(isOne ? "is" : "are") not shown, "
            + "because whoever did that did not have \(isOne ? "it" : "them")"
    }
}
