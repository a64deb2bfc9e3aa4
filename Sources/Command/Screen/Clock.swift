import Foundation
import Parley

/// Times in the words of the place where the person is.
struct Clock {
    private let words: MomentWords

    private let zone: TimeZone

    init(_ zone: TimeZone = World.current.timeZone) {
        (self.zone, words) = (zone, MomentWords(zone))
    }

    /// The moment as clocks there show it, as if that were Unix milliseconds.
    func local(_ moment: UInt64) -> UInt64 {
        let date = Date(timeIntervalSince1970: Double(moment / 1_000))
        return UInt64(max(0, Int64(moment) + Int64(zone.secondsFromGMT(for: date)) * 1_000))
    }

    /// When clocks there show this, by the offset that they have near a moment.
    func moment(ofLocal local: UInt64, near moment: UInt64) -> UInt64 {
        let date = Date(timeIntervalSince1970: Double(moment / 1_000))
        return UInt64(max(0, Int64(local) - Int64(zone.secondsFromGMT(for: date)) * 1_000))
    }

    /// When a day begins there, in Unix milliseconds.
    ///
    /// - Parameter day: in days since 1970.
    func start(ofDay day: UInt32) -> UInt64 {
        let seconds = Int64(day) * 86_400
        let moment = Date(timeIntervalSince1970: Double(seconds))
        return UInt64(max(0, seconds - Int64(zone.secondsFromGMT(for: moment)))) * 1_000
    }

    /// `Sat 25 Dec 2004`.
    func day(_ milliseconds: UInt64) -> String { words.day(milliseconds) }

    /// `09:14`.
    func time(_ milliseconds: UInt64) -> String { words.time(milliseconds) }

    /// `25 Dec 2004 09:14`.
    func moment(_ milliseconds: UInt64) -> String { words.moment(milliseconds) }
}
