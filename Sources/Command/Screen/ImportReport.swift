import Foundation
import ParleyImporting
import Synchronization

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
    var skipped: [Skipped]
    var repairedLines: Int
    var isStopped: Bool

    init(_ summary: ImportSummary) {
        files = summary.fileCount
        lines = summary.lineCount
        stored = summary.stored
        known = summary.known
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

/// One line that tells how far an import is: written over on a terminal, else once a second.
final class ProgressLine: Sendable {
    private let start = ContinuousClock.now
    private let lastShown = Mutex<ContinuousClock.Instant?>(nil)

    func show(_ progress: ImportProgress) {
        let now = ContinuousClock.now
        let world = World.current
        let pause: Duration = world.isTalkTerminal ? .milliseconds(100) : .seconds(1)
        let isDue = lastShown.withLock { last in
            if now - (last ?? start) < pause { return false }
            last = now
            return true
        }
        guard isDue else { return }
        let text = Self.text(progress, after: now - start)
        if world.isTalkTerminal { world.sayInPlace(text) } else { world.say(text) }
    }

    func end() {
        if World.current.isTalkTerminal, lastShown.withLock({ $0 != nil }) {
            World.current.sayInPlace("")
        }
    }

    static func text(_ progress: ImportProgress, after time: Duration) -> String {
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let rate = seconds > 0 ? Int(Double(progress.linesRead) / seconds) : 0
        let percent = progress.lineCount > 0 ? progress.linesRead * 100 / progress.lineCount : 100
        return "\(percent) %  file \(progress.fileNumber) of \(progress.fileCount)  "
            + "\(progress.linesRead) lines  \(rate) lines/s  \(harmless(progress.fileName))"
    }
}
