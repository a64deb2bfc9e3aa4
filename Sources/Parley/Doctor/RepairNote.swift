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
    /// What is missing of conversations that are left.
    var holes: [Hole] = []
    /// Conversations of which nothing is left.
    var removed: [DoctorReport.Loss] = []

    private static let name = Array("repair losses".utf8)

    /// Notes what a space has lost of these logs, as they were.
    mutating func add(
        _ logs: [LogRecord], of space: SpaceRecord, in store: some Store
    ) throws(StoreError) {
        guard let kept = try store.space(space.number) else { return }
        for log in logs {
            guard let left = try store.log(log.number) else { continue }
            // A record that does not open promises nothing: what is left tells what lies between.
            let between = left.spans.last.map { top in
                Span(first: log.base, last: top.last, anchor: top.anchor, tip: top.tip)
            }
            let before = log.spans.isEmpty ? [between].compactMap(\.self) : log.spans
            for (first, last) in before.flatMap({ $0.places(without: left.spans) }) {
                holes.append(
                    Hole(
                        conversation: kept.id.description, log: log.id.description, first: first,
                        last: last))
            }
        }
    }

    /// Keeps it beside what earlier repairs have noted.
    func keep(in store: some Store) throws {
        guard !holes.isEmpty || !removed.isEmpty else { return }
        var all = try Self.kept(in: store)
        all.holes += holes
        all.removed += removed
        try store.setValue(Array(JSONEncoder().encode(all)), .profile, Self.name)
    }

    /// What was noted.
    static func kept(in store: some Store) throws -> RepairNote {
        guard let bytes = try store.value(.profile, name) else { return RepairNote() }
        return try JSONDecoder().decode(RepairNote.self, from: Data(bytes))
    }

    /// How many of the places of a log have not come back.
    func missingCount(of log: LogRecord) -> Int {
        let name = log.id.description
        var (count, next) = (0, UInt64(0))
        for hole in holes.filter({ $0.log == name }).sorted(by: { $0.first < $1.first }) {
            // Two repairs may have lost the same place.
            guard hole.last >= next else { continue }
            let lost = Span(
                first: max(hole.first, next), last: hole.last, anchor: log.tip, tip: log.tip)
            next = hole.last + 1
            for (first, last) in lost.places(without: log.spans) {
                count += Int(clamping: last - first) + 1
            }
        }
        return count
    }
}

extension Span {
    /// The places of this span in none of the others, which ascend.
    fileprivate func places(without others: [Span]) -> [(first: UInt64, last: UInt64)] {
        var found: [(first: UInt64, last: UInt64)] = []
        var next = first
        for other in others where other.last >= next && other.first <= last {
            if other.first > next { found.append((next, other.first - 1)) }
            next = other.last + 1
        }
        if next <= last { found.append((next, last)) }
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
        return losses { note.missingCount(of: $0) }
            + (isCutOff ? gone.map(\.afterContacts) : gone)
    }

    /// Whether a repair lost something of the space of the own devices that has not come back: part
    /// of it, or all of what was one before this.
    func hasRepairLostSettings() throws -> Bool {
        let note = try RepairNote.kept(in: store)
        if try gone(note).contains(where: { $0.name == SpaceRecord.ownName }) { return true }
        guard let own = core.ownSpace else { return false }
        return try store.logs(in: own.number).contains { note.missingCount(of: $0) > 0 }
    }

    /// The spaces of which a repair left nothing, and that have not come back.
    private func gone(_ note: RepairNote) throws -> [DoctorReport.Loss] {
        try note.removed.filter { loss in
            try bytes(hex: loss.conversation).flatMap { SpaceID($0) }
                .flatMap { try store.space($0) } == nil
        }
    }
}

extension DoctorReport.Loss {
    /// The same, where it comes back from others only when they are contacts again.
    var afterContacts: Self {
        guard !sources.isEmpty else { return self }
        var loss = self
        loss.condition = Self.needsContacts
        return loss
    }
}
