import ArgumentParser
import Parley

/// The days between which something was written.
struct DayOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("only what was written from this day on", valueName: "2026-12-01"))
    var since: String?
    @Option(
        name: .long,
        help: ArgumentHelp("only what was written until this day", valueName: "2026-12-01"))
    var until: String?

    func validate() throws {
        try ActionEdit.check(since)
        try ActionEdit.check(until)
    }

    /// The first moment, in Unix milliseconds by this clock; nil for no bound.
    func start(by clock: Clock) -> UInt64? {
        since.flatMap(CalendarDay.day).map { clock.start(ofDay: $0) }
    }

    /// The moment right behind the last day.
    func end(by clock: Clock) -> UInt64? {
        until.flatMap(CalendarDay.day).map { clock.start(ofDay: $0 + 1) }
    }
}
