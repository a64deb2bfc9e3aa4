import Parley

/// Reminders as lines.
///
/// ```
/// 1a2b3c4d  1 Dec 2026 09:00  call the hut
/// 5e6f7a8b  1 Dec 2026 10:00  “the hut is full”  in “trip”, rings on phone
/// ```
enum ReminderLines {
    /// All of them, each in a line.
    static func text(_ reminders: [ReminderView]) -> String {
        let clock = Clock()
        return reminders.map { reminder in
            let facts = facts(reminder).joined(separator: ", ")
            return "\(reminder.id.prefix(8))  \(clock.moment(reminder.time))  \(words(reminder))"
                + (facts.isEmpty ? "" : "  \(facts)")
        }.joined(separator: "\n")
    }

    /// What it is about, in one line, with a sign where more follows.
    static func words(_ reminder: ReminderView) -> String {
        if reminder.isHidden { return MessageLines.hidden }
        let lines = reminder.text.split { $0 == "\n" || $0 == "\r\n" }
        guard let line = lines.first else {
            return reminder.isDeleted
                ? "(what it is about was deleted)" : "(what it is about is not here)"
        }
        return harmless(String(line)) + (lines.count > 1 ? " …" : "")
    }

    private static func facts(_ reminder: ReminderView) -> [String] {
        var facts: [String] = []
        if let place = reminder.place { facts.append("in “\(harmless(place))”") }
        switch reminder.state {
        case "rung": facts.append("has rung")
        case "done": facts.append("done")
        default:
            if reminder.isOrphaned {
                let command = "parley reminders here \(reminder.id.prefix(8))"
                facts.append(
                    reminder.mayTake
                        ? "rings nowhere: " + Advice.complete("`\(command)`")
                        : "rings nowhere: “\(command)” on another device of yours that lists it, "
                            + "else set it there anew")
            } else if !reminder.isHere {
                facts.append("rings on \(harmless(reminder.device))")
            }
        }
        return facts
    }
}
