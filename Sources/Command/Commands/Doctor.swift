import ArgumentParser
import Parley
import ParleyLocalAPI
import ParleyWire

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "check everything that is stored, and repair it",
        discussion: """
            Checks the database page by page, chains, signatures and keys, whether what is shown \
            follows from the log, and the search indexes. It continues past any damage, and says \
            what is lost and who may have it. Nothing more is written into a damaged database. \
            A node that runs looks through its database by itself, ten minutes after it began and \
            then once a day.

            With --repair, while the node is stopped, it saves what can be read into a new \
            database, and rebuilds what follows from the log. The old database is kept beside it \
            for 7 days. If a log lost something, the rest of that log is kept. What is lost comes \
            back from your other devices and contacts when the node runs. Of files, it removes \
            nothing that nobody else is known to have.

            Exits with 1 if something is wrong, or still is after a repair.

            Example:
              parley doctor
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Flag(name: .long, help: "repair what can be repaired; the old database is kept")
    var repair = false

    func run() async throws {
        var report = try await repair ? mended() : examined()
        // A program shows it to somebody who copies it.
        report.advice = report.advice.map(Advice.complete)
        try Output.show(report, json: output.json, as: Self.text(report))
        guard report.isFine else {
            let isDamaged = report.isDatabaseDamaged
            throw NodeError(
                isDamaged ? "damaged" : "unsound",
                "Something that is stored is wrong or damaged"
                    + (isDamaged ? "." : "; the database itself is not damaged."),
                hint: report.advice.first
                    ?? "Make a copy of the home before you do anything else.")
        }
    }

    private func mended() async throws -> DoctorReport {
        let place = place
        let line = ProgressLine()
        defer { line.end() }
        return try await World.reach(
            place.path,
            running: { client in
                await client.close()
                throw NodeError(
                    "running", "A node is running in \(place.path).",
                    hint: "Stop it (Ctrl-C where it runs), then run `parley doctor --repair`.")
            },
            home: { home in
                try await HomeNode.repair(home: home, passphrase: place.passphrase) {
                    meaning, count in
                    line.show { _ in "saving rows about \(meaning): \(count)" }
                }
            })
    }

    /// Why a node does not open whose files can be looked at all the same.
    private static let unopened: Set<String> = ["damaged", "database-gone", "no-keys"]

    private func examined() async throws -> DoctorReport {
        do {
            return try await World.current.lend(place) { try await $0.node.perform(CheckStore()) }
        } catch let error as NodeError where Self.unopened.contains(error.code) {
            return try await HomeNode.examine(
                home: place.path, passphrase: place.passphrase, unopened: error)
        }
    }

    /// Checks and their details stand beside each other on a terminal of at least so many columns.
    private static let columnsMin = 88

    static func text(_ report: DoctorReport) -> String {
        var parts: [String] = []
        let columnCount = World.current.output.columnCount
        if !report.checks.isEmpty {
            // A sentence is wrapped rather than cut where details have no room beside it.
            let isNarrow = columnCount.map { $0 < Self.columnsMin } ?? false
            let rows = report.checks.map { check in
                [Self.sign(check)]
                    + (isNarrow ? ["\(check.name) \(check.detail)"] : [check.name, check.detail])
            }
            parts.append(Table(rows, columnsMax: 72).text)
        }
        let sentences =
            report.losses.map(text) + report.mended.map(harmless)
            + report.advice.map(harmless)
        parts += sentences.flatMap { Advice.wrapped($0, to: columnCount) }
        return parts.joined(separator: "\n")
    }

    private static func sign(_ check: DoctorReport.Check) -> String {
        check.isSkipped ? "–" : check.isFine ? "✓" : "✗"
    }

    private static func text(_ loss: DoctorReport.Loss) -> String {
        let own = loss.ownCount > 0 ? ", \(loss.ownCount) of them written here" : ""
        let sources = VisibleName.list(loss.sources)
        let least = sources.isEmpty && loss.condition != nil ? "at least " : ""
        let way =
            sources.isEmpty
            ? loss.condition ?? "nobody else is known to have them"
            : "back from \(sources) \(loss.condition ?? "when one of them is reached")"
        return harmless(
            "lost in \(loss.name): \(least)\(counted(loss.operationCount, "operation"))\(own); \(way)"
        )
    }
}
