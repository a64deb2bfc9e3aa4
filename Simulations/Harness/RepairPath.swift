import ParleyNodeCore

/// A way by which a node mends what was lost behind relays. One of them hides that another does not
/// work, so a world can be without some.
public enum RepairPath: String, Codable, CaseIterable, Sendable {
    /// A node asks through relays for what it finds missing.
    case questions
    /// A node tells those again who have not said that they hold what it wrote.
    case reminders

    /// Whether this timer does it.
    func uses(_ timer: TimerID) -> Bool {
        switch (self, timer) {
        case (.questions, .repair), (.reminders, .reminder): true
        default: false
        }
    }
}
