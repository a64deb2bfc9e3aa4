/// How long people talked, as the page says it: a second counts once it is over.
func callTime(_ milliseconds: Int) -> String { playTime(milliseconds / 1_000 * 1_000) }

/// How long something plays, as minutes and seconds, `4:05`, or with hours, `1:04:05`; to the nearest
/// second, as the page says it.
func playTime(_ milliseconds: Int) -> String {
    let seconds = (milliseconds + 500) / 1_000
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
    return (hours > 0 ? "\(hours):\(two(minutes))" : "\(minutes)") + ":" + two(seconds % 60)
}
