import ParleyImporting
import Testing

@Suite("A day of a log")
struct CalendarDayTests {
    @Test(
        "begins at midnight, UTC",
        arguments: [
            ("1970-01-01", 0), ("1970-03-01", 59), ("2000-02-29", 11_016), ("2000-03-01", 11_017),
            ("2004-12-25", 12_777), ("2016-12-31", 17_166), ("2100-03-01", 47_541),
        ])
    func start(text: String, days: UInt64) throws {
        let day = try #require(CalendarDay(text))
        #expect(day.start == days * 86_400_000)
        #expect(day.description == text)
    }

    @Test(
        "is refused where there is none",
        arguments: [
            "", "2004-12-2", "2004/12/25", "2004-13-01", "2004-00-01", "2004-02-30", "2100-02-29",
            "1969-12-31", "+204-12-25", "2004-12-+5", "２００４-12-25", "today",
        ])
    func refused(text: String) {
        #expect(CalendarDay(text) == nil)
    }
}
