import Testing

@testable import parley

@Suite("How long something was")
struct PlayTimeTests {
    @Test(
        "is told of what plays to the nearest second",
        arguments: [
            (0, "0:00"), (499, "0:00"), (500, "0:01"), (59_499, "0:59"), (59_500, "1:00"),
            (245_000, "4:05"), (3_599_500, "1:00:00"), (3_845_000, "1:04:05"),
        ])
    func text(milliseconds: Int, expected: String) {
        #expect(playTime(milliseconds) == expected)
    }

    @Test(
        "is told of a call by the seconds that are over",
        arguments: [(999, "0:00"), (119_999, "1:59"), (3_599_999, "59:59"), (3_600_000, "1:00:00")])
    func call(milliseconds: Int, expected: String) {
        #expect(callTime(milliseconds) == expected)
    }
}
