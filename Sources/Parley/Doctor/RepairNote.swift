import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

/// What repairs have lost and what has not come back since, as the node keeps it: a repaired database
/// has no damage any more, and would tell nobody that something is missing.
struct RepairNote: Codable, Equatable {
    /// Places of a log that were held.
    struct Hole: Codable, Equatable {
        /// The conversation, in hex.
        var conversation: String
        /// The log, in hex.
        var log: String
        /// The first place, and the last.
        var first: UInt64
        var last: UInt64
    }
    /// What is missing of the remaining conversations.
    var holes: [Hole] = []
    /// Conversations of which nothing is left.
    var removed: [DoctorReport.Loss] = []

    private static let name = Array("repair losses".utf8)

    /// Records what a space has lost of these logs, as they were.
    mutating func add(
        _ logs: [LogRecord], of space: SpaceRecord, in store: some Store
    ) throws(StoreError) {
        guard let kept = try store.space(space.number) else { return }
        for log in logs {
            guard let left = try store.log(log.number) else { continue }
            // A record that does not open says nothing: the rest tells what lies between.
            let between = left.spans.last.map { top in
                Span(first: log.base, last: top.last, anchor: top.anchor, tip: top.tip)
            }
            let before = log.spans.isEmpty ? [between].compactMap(\.self) : log.spans
            let lost = before.flatMap { Self.places($0.first...$0.last, without: left.spans) }
            for (first, last) in lost {
                holes.append(
                    Hole(
                        conversation: kept.id.description, log: log.id.description, first: first,
                        last: last))
            }
        }
    }

    /// Notes that nothing is left of a log.
    mutating func add(_ log: LogID, through last: UInt64, of space: SpaceRecord) {
        holes.append(
            Hole(
                conversation: space.id.description, log: log.description, first: 0, last: last))
    }

    /// The logs of a space of which something is missing and nothing is held, with how many operations.
    func absentLogs(of space: SpaceRecord, beside held: [LogRecord]) -> [(log: String, count: Int)]
    {
        let name = space.id.description
        let here = Set(held.map(\.id.description))
        let absent = Set(holes.filter { $0.conversation == name }.map(\.log)).subtracting(here)
        return absent.sorted().map { ($0, missingCount(of: $0, holding: [])) }
    }

    /// Keeps it beside what earlier repairs have noted.
    func keep(in store: some Store) throws {
        guard !holes.isEmpty || !removed.isEmpty else { return }
        var all = try Self.kept(in: store)
        all.holes += holes
        all.removed += removed
        try store.setValue(Array(JSONEncoder().encode(all)), .profile, Self.name)
    }

    /// The records.
    static func kept(in store: some Store) throws -> RepairNote {
        guard let bytes = try store.value(.profile, name) else { return RepairNote() }
        return try JSONDecoder().decode(RepairNote.self, from: Data(bytes))
    }

    /// How many of the places of a log have not come back.
    func missingCount(of log: LogRecord) -> Int {
        missingCount(of: log.id.description, holding: log.spans)
    }

    private func missingCount(of name: String, holding spans: [Span]) -> Int {
        var (count, next) = (0, UInt64(0))
        for hole in holes.filter({ $0.log == name }).sorted(by: { $0.first < $1.first }) {
            // Two repairs may have lost the same place.
            guard hole.last >= next else { continue }
            let lost = Self.places(max(hole.first, next)...hole.last, without: spans)
            next = hole.last + 1
            for (first, last) in lost {
                count += Int(clamping: last - first) + 1
            }
        }
        return count
    }

    /// The places that lie in none of these spans, which ascend.
    private static func places(
        _ range: ClosedRange<UInt64>, without spans: [Span]
    ) -> [(first: UInt64, last: UInt64)] {
        var found: [(first: UInt64, last: UInt64)] = []
        var next = range.lowerBound
        for span in spans where span.last >= next && span.first <= range.upperBound {
            if span.first > next { found.append((next, span.first - 1)) }
            next = span.last + 1
        }
        if next <= range.upperBound { found.append((next, range.upperBound)) }
        return found
    }
}

extension Views {
    /// What repairs have lost and what is still missing, by conversation.
    func lostByRepairs() throws -> [DoctorReport.Loss] {
        let note = try RepairNote.kept(in: store)
        guard note != RepairNote() else { return [] }
        let gone = try gone(note)
        let isCutOff = try core.node.log.devices.count <= 1 && lacksOfOwnSpace()
        return losses(absent: note) { note.missingCount(of: $0) }
            + (isCutOff ? gone.map(\.afterContacts) : gone)
    }

    /// Whether a repair lost something of the space of the own devices that has not come back: part
    /// of it, or all of an earlier one.
    func hasRepairLostSettings() throws -> Bool {
        let note = try RepairNote.kept(in: store)
        if try gone(note).contains(where: { $0.name == SpaceRecord.ownName }) { return true }
        guard let own = core.ownSpace else { return false }
        let logs = try store.logs(in: own.number)
        return logs.contains { note.missingCount(of: $0) > 0 }
            || !note.absentLogs(of: own, beside: logs).isEmpty
    }

    /// The spaces of which a repair left nothing, and that have not come back, or not as a whole.
    private func gone(_ note: RepairNote) throws -> [DoctorReport.Loss] {
        try note.removed.compactMap { loss in
            guard let id = bytes(hex: loss.conversation).flatMap({ SpaceID($0) }),
                let space = try store.space(id)
            else { return loss }
            return try left(of: loss, in: space)
        }
    }
}

extension DoctorReport.Loss {
    /// Whether something that this device wrote is lost where nobody else is: then it never has its
    /// whole past back.
    var isBeyondOthers: Bool { ownCount > 0 && sources.isEmpty && condition == nil }

    /// The same, where it comes back from others only when they are contacts again.
    var afterContacts: Self {
        guard !sources.isEmpty else { return self }
        var loss = self
        loss.condition = Self.needsContacts
        return loss
    }
}
