import Foundation
import ParleyImporting

/// What an import did, as it is shown and as programs get it.
struct ImportReport: Encodable {
    /// Lines of one reason.
    struct Skipped: Encodable {
        var reason: String
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
        isStopped = summary.isStopped
    }

    var text: String {
        var table = Table()
        table.add("stored", counted(stored, "message"))
        table.add("known", "\(known) that \(known == 1 ? "was" : "were") in before")
        if deleted > 0 {
            let one = deleted == 1
            table.add(
                "deleted",
                "\(deleted) of them \(one ? "was" : "were") deleted since, and \(one ? "stays" : "stay") so"
            )
        }
        for group in skipped {
            let places = group.examples.joined(separator: ", ")
            let more = group.count > group.examples.count ? ", …" : ""
            table.add("skipped", "\(group.reason): \(group.count) (\(places)\(more))")
        }
        table.add("repaired", "\(counted(repairedLines, "line")) that were Latin-1")
        table.add("from", "\(counted(files, "whole file")), \(counted(lines, "line"))")
        return table.text
    }
}
