import Parley
import ParleyWire

/// Messages that are to be sent later, as lines.
///
/// ```
/// 1a2b3c4d  1 Dec 2026 07:00  happy birthday!  in “trip”
/// 5e6f7a8b  1 Dec 2026 10:00  the hut is full  in “home”, phone sends it
/// ```
enum ScheduledLines {
    /// All of them, each in a line.
    static func text(_ scheduled: [ScheduledView]) -> String {
        let clock = Clock()
        return scheduled.map { one in
            "\(one.id.prefix(8))  \(clock.moment(one.time))  \(words(one))  "
                + facts(one).joined(separator: ", ")
        }.joined(separator: "\n")
    }

    /// Its text in one line, with a sign where more follows.
    private static func words(_ scheduled: ScheduledView) -> String {
        let lines = scheduled.text.split { $0 == "\n" || $0 == "\r\n" }
        return harmless(String(lines.first ?? "")) + (lines.count > 1 ? " …" : "")
    }

    /// Says where another device may send a message all the same.
    static func warn(of scheduled: ScheduledView) {
        guard scheduled.isOutOfReach else { return }
        let device = harmless(scheduled.device)
        World.current.say(
            "\(device) was to send it and is not connected: if the time comes before \(device) "
                + "learns of this, it is sent from there")
    }

    /// How many could not be sent, and where they are.
    static func failed(_ count: Int) -> String {
        let what = counted(count, "scheduled message", "scheduled messages")
        return "\(what), which could not be sent in time: " + Advice.complete("parley scheduled")
    }

    /// That one could not be sent, as it happens.
    static func failed(_ scheduled: ScheduledView) -> String {
        "\(words(scheduled))  " + facts(scheduled).joined(separator: ", ")
    }

    private static func facts(_ scheduled: ScheduledView) -> [String] {
        let name = scheduled.place.map { "“\(harmless($0))”" } ?? "a conversation that is not here"
        var facts = ["in \(name)"]
        let move = Advice.complete("`parley scheduled move \(scheduled.id.prefix(8)) --at 1m`")
        if scheduled.state == "failed" {
            let send = Advice.complete("`parley scheduled send \(scheduled.id.prefix(8))`")
            facts.append("could not be sent then: \(send) sends it, or says why not")
        } else if scheduled.isOrphaned {
            facts.append(
                scheduled.mayTake
                    ? "nobody sends it: \(move)"
                    : "nobody sends it: this device was revoked; send it on another device of yours"
            )
        } else if !scheduled.isHere {
            facts.append("\(harmless(scheduled.device)) sends it")
        }
        return facts
    }
}
