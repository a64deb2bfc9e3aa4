import Foundation
import ParleyImporting
import ParleyWire

/// The result of an import, as it is shown and as programs get it.
struct ImportReport: Encodable {
    /// Lines of one reason.
    struct Skipped: Encodable {
        var reason: String
        var count: Int
        var examples: [String]
    }
    /// Lines of which something is told.
    struct Lines: Encodable {
        var count: Int
        var examples: [String]
    }
    var files: Int
    var lines: Int
    var stored: Int
    var known: Int
    var deleted: Int
    var skipped: [Skipped]
    var repairedLines: Int
    var heldBack: Lines
    var halfDayFiles: [String]
    var isStopped: Bool

    init(_ summary: ImportSummary) {
        files = summary.fileCount
        lines = summary.lineCount
        stored = summary.stored
        known = summary.known
        deleted = summary.deleted
        skipped = summary.skipped.groups.map {
            Skipped(reason: $0.reason.words, count: $0.count, examples: $0.examples)
        }
        repairedLines = summary.repairedLineCount
        heldBack = Lines(count: summary.heldBack.count, examples: summary.heldBack.examples)
        halfDayFiles = summary.halfDayFiles
        isStopped = summary.isStopped
    }

    var text: String {
        var table = Table()
        table.add("stored", counted(stored, "message"))
        table.add("known", "\(known) that \(known == 1 ? "was" : "were") imported before")
        if deleted > 0 {
            let one = deleted == 1
            table.add(
                "deleted",
                "\(deleted) of them \(one ? "was" : "were") deleted since, and \(one ? "stays" : "stay") so"
            )
        }
        for group in skipped {
            let places = Self.places(group.examples, of: group.count)
            table.add("skipped", "\(group.reason): \(group.count) (\(places))")
        }
        if heldBack.count > 0 {
            let places = Self.places(heldBack.examples, of: heldBack.count)
            table.add(
                "set back",
                "\(counted(heldBack.count, "message")) whose time is before that of a line "
                    + "above (\(places)), and which got the time of that line")
        }
        for file in halfDayFiles {
            table.add(
                "clock",
                "\(file) has a twelve-hour clock: each time that it starts over, the next "
                    + "half of a day begins"
            )
        }
        table.add("repaired", "\(counted(repairedLines, "line")) that were Latin-1")
        table.add("from", "\(counted(files, "whole file")), \(counted(lines, "line"))")
        return table.text
    }

    private static func places(_ examples: [String], of count: Int) -> String {
        (examples + (count > examples.count ? ["…"] : [])).joined(separator: ", ")
    }
}
