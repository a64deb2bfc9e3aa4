import Foundation
import Parley
import ParleyImporting
import ParleySimulate

/// The messages of an IRC log, for a scenario in which they are typed again.
enum LogReader {
    static func lines(_ data: Data) throws -> [LoggedLine] {
        guard let day = CalendarDay("2000-01-01") else { return [] }
        var log = IRCLog(day: day)
        return data.split(separator: 0x0a).compactMap { line in
            guard case .message(let row) = log.read(Array(line)[...]) else { return nil }
            return LoggedLine(author: row.author, time: row.time, text: row.text)
        }
    }
}
