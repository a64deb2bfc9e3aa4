public import Parley

/// How far an import is.
public struct ImportProgress: Equatable, Sendable {
    /// The file being read.
    public var fileName: String
    /// Its number, from 1.
    public var fileNumber: Int
    /// How many files there are.
    public var fileCount: Int
    /// Lines read until now, of all files.
    public var linesRead: Int
    /// Lines of all files.
    public var lineCount: Int
}

/// The result of an import.
public struct ImportSummary: Equatable, Sendable {
    /// Files that are wholly in.
    public var fileCount = 0
    /// Lines read.
    public var lineCount = 0
    /// Messages stored now.
    public var stored = 0
    /// Messages that were in before.
    public var known = 0
    /// How many of these were found to be deleted since. They stay so.
    public var deleted = 0
    /// Lines that became no message.
    public var skipped = SkippedLines()
    /// Lines that were no UTF-8 and were read as Latin-1.
    public var repairedLineCount = 0
    /// Messages that got the time of a line above, for theirs is before it.
    public var heldBack = NotedLines()
    /// Files whose clock counts twelve hours, by name.
    public var halfDayFiles: [String] = []
    /// Whether it was stopped before the end. Running it again goes on where it stopped.
    public var isStopped = false

    /// Nothing yet.
    public init() {}
}

/// Brings logs into one conversation of a node, in bounded batches.
///
/// Each batch is stored in one transaction together with the note of how far its file got, so it
/// can be stopped anywhere, killed too, and run again: nothing is doubled and nothing is left out.
/// What that note does not tell, as of a log whose beginning is gone, the node tells by the words.
/// Cancelling the task stops it between two batches.
public struct Importer: Sendable {
    /// Messages in a batch: enough to share the cost of a transaction.
    public static let batchRowCountMax = 2_000
    /// Bytes of text in a batch: escaped at worst as six letters a byte, it must still fit one
    /// line of the local socket.
    public static let batchByteCountMax = 1 << 20

    private let node: any NodeService
    private let conversation: String
    /// So many lines of a file, spread over all of it, are asked about before anything is stored.
    static let askedRowCountMax = 1_000

    private let isAnyway: Bool
    private let report: @Sendable (ImportProgress) -> Void

    /// An importer into this conversation.
    ///
    /// - Parameters:
    ///   - isAnyway: whether to import also what other members have imported.
    ///   - report: hears how far it is, after each batch and each file.
    public init(
        node: any NodeService, conversation: String, isAnyway: Bool = false,
        report: @escaping @Sendable (ImportProgress) -> Void = { _ in }
    ) {
        self.node = node
        self.conversation = conversation
        self.isAnyway = isAnyway
        self.report = report
    }

    /// Imports these files, by date. Throws what the node throws; stored rows stay.
    public func run(_ sources: [ImportSource]) async throws -> ImportSummary {
        if !isAnyway {
            for source in ImportSource.inDateOrder(sources) { try await requireNew(source) }
        }
        var summary = ImportSummary()
        var progress = ImportProgress(
            fileName: "", fileNumber: 0, fileCount: sources.count, linesRead: 0,
            lineCount: sources.reduce(0) { $0 + $1.lineCount })
        for (index, source) in ImportSource.inDateOrder(sources).enumerated() {
            progress.fileName = source.name
            progress.fileNumber = index + 1
            summary.isStopped = Task.isCancelled
            if !summary.isStopped { try await runTelling(source, &summary, &progress) }
            if summary.isStopped { return summary }
            summary.fileCount += 1
        }
        return summary
    }

    /// Refuses a log that another member has imported: everybody would have it twice.
    private func requireNew(_ source: ImportSource) async throws {
        var log = IRCLog(day: source.day, clock: source.clock)
        var alike = LinesAlike()
        var rows: [ImportMessages.Row] = []
        for line in source.lines {
            if case .message(let read) = log.read(line) {
                rows.append(alike.add(read, mayGrow: false))
            }
        }
        let step = max(1, (rows.count + Self.askedRowCountMax - 1) / Self.askedRowCountMax)
        var byteCount = 0
        let asked = stride(from: 0, to: rows.count, by: step).map { rows[$0] }.prefix { row in
            byteCount += row.text.utf8.count + row.author.utf8.count
            return byteCount < Self.batchByteCountMax
        }
        if asked.isEmpty { return }
        let found = try await node.perform(
            FindImported(conversation: conversation, rows: Array(asked)))
        guard found.count > 0 else { return }
        let names = found.names.joined(separator: " and ")
        throw NodeError(
            "imported-by-others",
            "\(names) imported \(source.name), or a part of it, into this conversation before: "
                + "\(found.count) of \(asked.count) lines that were compared stand there.",
            hint: "Everybody would have them twice. Nothing was stored; with --anyway the files "
                + "are imported all the same.")
    }

    /// What stops it midway leaves what was stored before: that is said.
    private func runTelling(
        _ source: ImportSource, _ summary: inout ImportSummary, _ progress: inout ImportProgress
    ) async throws {
        do {
            try await run(source, &summary, &progress)
        } catch let error as NodeError where error.code == "disk-full" && summary.stored > 0 {
            let stored = summary.stored == 1 ? "1 message is" : "\(summary.stored) messages are"
            throw NodeError(
                error.code, "The disk is full: \(stored) stored, and the rest is not.",
                hint: "Free some space, and run the same command again: it continues from here.")
        }
    }

    private func run(
        _ source: ImportSource, _ summary: inout ImportSummary, _ progress: inout ImportProgress
    ) async throws {
        let done = try await doneCount(of: source)
        var log = IRCLog(day: source.day, clock: source.clock)
        var names = LineNames(day: source.day)
        var alike = LinesAlike()
        var rows: [ImportMessages.Row] = []
        var byteCount = 0
        if source.clock == .halfDay { summary.halfDayFiles.append(source.name) }
        let before = (lines: summary.lineCount, repaired: summary.repairedLineCount)
        for line in source.lines {
            // A line that nothing ends may still grow: what is above it is noted by itself.
            if log.lineCount + 1 == source.openLine, log.lineCount > done {
                try await store(rows, through: names, &summary)
                (rows, byteCount) = ([], 0)
            }
            names.add(line)
            let isOpen = log.lineCount + 1 == source.openLine
            let heldBackCount = log.heldBackCount
            switch log.read(isOpen ? ImportSource.withoutCutLetter(line) : line) {
            case .message(let read):
                let row = alike.add(read, mayGrow: isOpen)
                guard row.line > done else {
                    summary.known += 1
                    break
                }
                rows.append(row)
                byteCount += row.text.utf8.count + row.author.utf8.count
            case .skipped(let reason):
                summary.skipped.add(reason, file: source.name, line: log.lineCount)
            }
            if log.heldBackCount > heldBackCount {
                summary.heldBack.add(file: source.name, line: log.lineCount)
            }
            summary.lineCount = before.lines + log.lineCount
            summary.repairedLineCount = before.repaired + log.repairedLineCount
            let isFull =
                rows.count == Self.batchRowCountMax || byteCount >= Self.batchByteCountMax
            guard isFull else { continue }
            try await store(rows, through: names, &summary)
            (rows, byteCount) = ([], 0)
            progress.linesRead = summary.lineCount
            report(progress)
            summary.isStopped = Task.isCancelled
            if summary.isStopped { return }
        }
        if log.lineCount > done { try await store(rows, through: names, &summary) }
        progress.linesRead = summary.lineCount
        report(progress)
    }

    /// How many lines of a file are in, of whatever file that began with them.
    private func doneCount(of source: ImportSource) async throws -> Int {
        var names = LineNames(day: source.day)
        for line in source.lines { names.add(line) }
        if try await isIn(names) { return names.lineCount }
        // The longest beginning that is known tells how far a file with it got.
        for (power, beginning) in names.beginnings.enumerated().reversed() {
            let end = try await noted(beginning)
            guard end > 0 else { continue }
            // The last line may have been cut short when it was read.
            for count in [end, end - 1] where count < names.lineCount {
                let part = LineNames(day: source.day, source.lines.prefix(count))
                if try await isIn(part) { return count }
            }
            return 1 << power
        }
        return try await noted(source.fileHash)
    }

    private func isIn(_ names: LineNames) async throws -> Bool {
        guard names.lineCount > 0 else { return false }
        return try await noted(names.name) >= names.lineCount
    }

    private func noted(_ name: String) async throws -> Int {
        try await node.perform(CountImportedLines(conversation: conversation, fileHash: name))
    }

    private func store(
        _ rows: [ImportMessages.Row], through names: LineNames, _ summary: inout ImportSummary
    ) async throws {
        let result = try await node.perform(
            ImportMessages(
                conversation: conversation, fileHash: names.name, throughLine: names.lineCount,
                rows: rows, beginnings: names.beginnings))
        summary.stored += result.stored
        summary.known += result.known
        summary.deleted += result.deleted ?? 0
    }
}
