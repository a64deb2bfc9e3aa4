import Testing

@testable import ParleyAssistant

@Suite("Days that sentences name")
struct DayTests {
    /// A Friday.
    static let today = ActionTests.day("2026-11-27")

    static func day(_ text: String, _ cues: Cues, on today: CivilDay) -> String? {
        let sentence = Sentence.all(of: Talk.said(["ann: \(text)"])[0], at: 0).first
        let found = DayReader(
            words: sentence?.words ?? [], language: cues.days, today: today
        ).day()
        return found.map { "\($0.parts.year)-\($0.parts.month)-\($0.parts.day)" }
    }

    @Test(
        "in English",
        arguments: [
            ("today", "2026-11-27"), ("by tomorrow evening", "2026-11-28"),
            ("the day after tomorrow", "2026-11-29"), ("on Friday", "2026-12-4"),
            ("by Mon", "2026-11-30"), ("next Monday", "2026-11-30"), ("next Friday", "2026-12-4"),
            ("in 2 days", "2026-11-29"), ("in two weeks", "2026-12-11"),
            ("within a month", "2026-12-27"), ("by 2027-01-15", "2027-1-15"),
            ("5 Dec", "2026-12-5"), ("on the 5th of December", "2026-12-5"),
            ("Dec 24th", "2026-12-24"), ("3 January", "2027-1-3"), ("March 3 2028", "2028-3-3"),
            ("until the end of the month", "2026-11-30"), ("end of week", "2026-11-29"),
            ("last Friday", nil), ("since Monday", nil), ("2026-02-30", nil), ("31 June", nil),
            ("it may work", nil), ("in the end", nil), ("march on", nil),
            ("1 November", nil), ("1 September", "2027-9-1"), ("2025-01-01", nil),
            ("in 9999 weeks", nil),
        ] as [(String, String?)])
    func english(text: String, day: String?) throws {
        let today = try #require(Self.today)
        #expect(Self.day(text, .english, on: today) == day, "\(text)")
    }

    @Test(
        "in German",
        arguments: [
            ("heute", "2026-11-27"), ("bis morgen", "2026-11-28"), ("übermorgen", "2026-11-29"),
            ("am Montag", "2026-11-30"), ("nächsten Freitag", "2026-12-4"),
            ("in einer Woche", "2026-12-4"), ("in 3 Tagen", "2026-11-30"),
            ("bis zum 5. Dezember", "2026-12-5"), ("5. Dez", "2026-12-5"),
            ("Ende des Monats", "2026-11-30"), ("bis Monatsende", "2026-11-30"),
            ("guten Morgen", nil), ("am Morgen", nil), ("letzten Montag", nil),
            ("seit Dienstag", nil),
            ("so ist es", nil), ("mit Mi", nil), ("den 31. April", nil),
        ] as [(String, String?)])
    func german(text: String, day: String?) throws {
        let today = try #require(Self.today)
        #expect(Self.day(text, .german, on: today) == day, "\(text)")
    }

    @Test(
        "in Spanish",
        arguments: [
            ("hoy", "2026-11-27"), ("mañana", "2026-11-28"), ("pasado mañana", "2026-11-29"),
            ("el lunes", "2026-11-30"), ("el próximo viernes", "2026-12-4"),
            ("en dos días", "2026-11-29"), ("dentro de una semana", "2026-12-4"),
            ("antes del 5 de diciembre", "2026-12-5"), ("3 de enero de 2028", "2028-1-3"),
            ("a finales de mes", "2026-11-30"), ("por la mañana", nil), ("desde ayer", nil),
            ("desde lunes", nil), ("el 31 de junio", nil),
        ] as [(String, String?)])
    func spanish(text: String, day: String?) throws {
        let today = try #require(Self.today)
        #expect(Self.day(text, .spanish, on: today) == day, "\(text)")
    }

    @Test("every day has one number and comes back from it")
    func calendar() {
        var last = -1
        for year in 1970...2420 {
            for month in 1...12 {
                for day in 1...31 {
                    guard let found = CivilDay(year: year, month: month, day: day) else { continue }
                    #expect(found.number == last + 1)
                    #expect(found.parts == (year, month, day))
                    last = found.number
                }
            }
        }
        #expect(CivilDay(0).weekday == 3)
        #expect(CivilDay(year: 9999, month: 12, day: 31)?.number == CivilDay.last)
    }
}
