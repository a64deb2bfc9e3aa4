import Testing

@testable import Parley

@Suite("Days of the calendar")
struct CalendarDayTests {
    @Test("are counted as the calendar has them, leap days and all")
    func days() {
        #expect(CalendarDay.day("1970-01-02") == 1)
        #expect(CalendarDay.day("2000-02-29") == 11_016)
        #expect(CalendarDay.day("2000-03-01") == 11_017)
        #expect(CalendarDay.day("2026-12-01") == 20_788)
        #expect(CalendarDay.day("2199-12-31") == 84_005)
        for day in stride(from: 1, through: 84_005, by: 1) as StrideThrough<UInt32> {
            guard CalendarDay.day(CalendarDay.text(day)) == day else {
                Issue.record("\(CalendarDay.text(day)) is not the day \(day)")
                return
            }
        }
    }

    @Test(
        "are none where the calendar has none",
        arguments: [
            "", "2026-02-29", "2100-02-29", "2026-04-31", "2026-13-01", "2026-00-01", "2026-01-00",
            "1970-01-01", "1969-12-31", "2200-01-01", "26-01-01", "2026-1-1", "2026-01-01-",
            "2026/01/01", "tomorrow", "２０２６-01-01", "+026-01-01",
        ])
    func none(text: String) { #expect(CalendarDay.day(text) == nil) }
}
