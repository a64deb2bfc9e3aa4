import Foundation
import Parley

/// Times in the words of the place where the person is.
struct Clock {
    private let words: MomentWords

    init(_ zone: TimeZone = World.current.timeZone) { words = MomentWords(zone) }

    /// `Sat 25 Dec 2004`.
    func day(_ milliseconds: UInt64) -> String { words.day(milliseconds) }

    /// `09:14`.
    func time(_ milliseconds: UInt64) -> String { words.time(milliseconds) }

    /// `25 Dec 2004 09:14`.
    func moment(_ milliseconds: UInt64) -> String { words.moment(milliseconds) }
}
