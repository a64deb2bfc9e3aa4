import Parley
import ParleyWire

/// A call, as lines for a person while it is in progress.
struct CallLines {
    private var last: CallView?

    /// The news about the call, or nothing.
    mutating func add(_ call: CallView) -> [String] {
        defer { last = call }
        let former = last?.call == call.call ? last : nil
        var lines: [String] = []
        if former?.state != call.state, let line = Self.state(call) { lines.append(line) }
        let rings = call.rings.filter { former?.rings.contains($0) != true }
        if call.state == "calling" { lines += rings.map { "ringing at \(harmless($0))" } }
        if call.state == "talking" {
            let connected = Self.connected(call)
            let before = former.map(Self.connected) ?? []
            lines += connected.filter { !before.contains($0) }.map { "connected to \($0)" }
            lines += before.filter { !connected.contains($0) }.map { name in
                call.members.contains { harmless($0.name) == name }
                    ? "the connection to \(name) is broken" : "\(name) left"
            }
        }
        return lines
    }

    private static func connected(_ call: CallView) -> [String] {
        call.members.filter { $0.connection == "connected" }.map { harmless($0.name) }
    }

    private static func state(_ call: CallView) -> String? {
        let name = harmless(call.name)
        switch call.state {
        case "calling": return "calling \(name)"
        case "ringing":
            let place = call.name == call.caller ? "" : " in \(name)"
            return "\(harmless(call.caller)) calls\(place): parley answer, or parley reject"
        case "joining": return "answering \(name)"
        case "connecting", "talking": return nil
        case "ended", "aside":
            guard let reason = call.reason else {
                return call.state == "aside"
                    ? "a call is in progress in \(name)" : "the call is over"
            }
            return harmless(reason) + length(call)
        default: return nil
        }
    }

    /// How long it was, as minutes and seconds.
    private static func length(_ call: CallView) -> String {
        call.milliseconds.map { ", after \(callTime($0))" } ?? ""
    }

    /// How far a call is, in a word.
    private static func word(_ call: CallView) -> String {
        guard call.state == "talking", connected(call).isEmpty else { return call.state }
        let isBroken = call.members.contains { $0.connection == "broken" }
        return isBroken ? "broken" : "connecting"
    }

    /// What became of a call, or nil where that is worth no line.
    static func text(_ record: CallRecordView) -> String? {
        let name = record.isOwn ? "you" : harmless(record.caller)
        if record.isMissed { return "missed call from \(name)" }
        if record.isDeclined { return "\(name) called, and you declined" }
        let others = (record.wasIn && !record.isOwn ? ["you"] : []) + record.others.map(harmless)
        switch record.outcome {
        case "talked":
            let length = callTime(record.milliseconds)
            return "\(name) called \(VisibleName.list(others)), \(length)"
        case "begun": return "\(name) called"
        case "unanswered": return "\(name) called, and nobody answered"
        case "cancelled": return "\(name) called, and gave up"
        case "refused": return "\(name) called, and nobody could come"
        case "declined":
            return "\(name) called, and \(record.declinedBy.map(harmless) ?? "everybody") declined"
        case "failed": return "\(name) called, and no connection could be made"
        default: return nil
        }
    }

    /// All calls in one table.
    static func table(_ calls: [CallView]) -> String {
        Table(
            calls.map { call in
                [
                    String(call.call.prefix(8)), call.name, word(call),
                    VisibleName.list(call.members.map(\.name)),
                    call.milliseconds.map(callTime) ?? "",
                    call.reason ?? "",
                ]
            }
        ).text
    }
}
