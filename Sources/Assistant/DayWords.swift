/// How a language names days.
final class DayWords: Sendable {
    /// Words for days near the one on which they are said.
    let days: [String: Int]
    /// Several words for the day after tomorrow.
    let nextDayPhrases: PhraseList
    let weekdays: [String: Int]
    let months: [String: Int]
    /// Words right before a day that has gone by.
    let past: Set<String>
    /// Words before "morning" that is no "tomorrow".
    let notBefore: Set<String>
    let next: Set<String>
    let inWords: Set<String>
    let (dayUnits, weekUnits, monthUnits): (Set<String>, Set<String>, Set<String>)
    let (ends, endLinks): (Set<String>, Set<String>)
    let numbers: [String: Int]
    /// Short words for weekdays that are other words as well, and no days alone.
    let shortAlone: Set<String>

    init(
        days: [String: Int], nextDayPhrases: [String], weekdays: [String], months: [String],
        past: [String], notBefore: [String], next: [String], inWords: [String],
        dayUnits: [String], weekUnits: [String], monthUnits: [String], ends: [String],
        endLinks: [String], numbers: [String], shortAlone: [String]
    ) {
        func set(_ words: [String]) -> Set<String> { Set(words.map { PhraseList.folded($0) }) }
        func numbered(_ lists: [String], from first: Int) -> [String: Int] {
            var found: [String: Int] = [:]
            for (number, words) in lists.enumerated() {
                for word in words.split(separator: "|") {
                    found[PhraseList.folded(word)] = first + number
                }
            }
            return found
        }
        self.days = Dictionary(uniqueKeysWithValues: days.map { (PhraseList.folded($0), $1) })
        self.nextDayPhrases = PhraseList(nextDayPhrases.map { Phrase($0) })
        self.weekdays = numbered(weekdays, from: 0)
        self.months = numbered(months, from: 1)
        (self.past, self.notBefore, self.next) = (set(past), set(notBefore), set(next))
        self.inWords = set(inWords)
        (self.dayUnits, self.weekUnits) = (set(dayUnits), set(weekUnits))
        (self.monthUnits, self.ends) = (set(monthUnits), set(ends))
        (self.endLinks, self.shortAlone) = (set(endLinks), set(shortAlone))
        self.numbers = numbered(numbers, from: 1)
    }
}

/// Finds the day that a sentence names.
struct DayReader {
    /// A day that has gone by for so long is the same of the next year.
    private static let pastDayCount = 30
    /// Days and weeks ahead that somebody means.
    private static let countMax = 400

    let words: [String]
    let language: DayWords
    /// The day on which it was said, where it was said.
    let today: CivilDay

    /// The first day that is named and has not gone by.
    func day() -> CivilDay? {
        for place in words.indices {
            guard let day = day(at: place), day >= today, day.number <= CivilDay.last else {
                continue
            }
            return day
        }
        return nil
    }

    private func word(_ place: Int) -> String? {
        words.indices.contains(place) ? words[place] : nil
    }

    private func isPast(_ place: Int) -> Bool {
        word(place - 1).map { language.past.contains($0) } ?? false
    }

    private func day(at place: Int) -> CivilDay? {
        relative(at: place) ?? weekday(at: place) ?? isoDay(at: place) ?? date(at: place)
            ?? ahead(at: place) ?? end(at: place)
    }

    /// "tomorrow", and longer words for days.
    private func relative(at place: Int) -> CivilDay? {
        for phrase in language.nextDayPhrases.phrases
        where phrase.end(in: words[place...], is: { _, _ in false }) != nil {
            return CivilDay(today.number + 2)
        }
        guard let count = language.days[words[place]] else { return nil }
        if count == 1, let before = word(place - 1), language.notBefore.contains(before) {
            return nil
        }
        return CivilDay(today.number + count)
    }

    /// The next such day; "next Friday" is of the next week.
    private func weekday(at place: Int) -> CivilDay? {
        guard let weekday = language.weekdays[words[place]], !isPast(place) else { return nil }
        let isNext = word(place - 1).map { language.next.contains($0) } ?? false
        if language.shortAlone.contains(words[place]), !isNext { return nil }
        var ahead = (weekday - today.weekday + 6) % 7 + 1
        // Of the week that begins on the Monday to come.
        if isNext, today.number + ahead < today.number + 7 - today.weekday { ahead += 7 }
        return CivilDay(today.number + ahead)
    }

    /// `2026-12-01`, and `01.12.` where a dot stands between; the words are its parts.
    private func isoDay(at place: Int) -> CivilDay? {
        guard words[place].utf8.count == 4, let year = number(place), let month = number(place + 1),
            let day = number(place + 2), word(place + 1)?.utf8.count == 2
        else { return nil }
        return CivilDay(year: year, month: month, day: day)
    }

    /// "5 Dec", "5th of December", "December 5", "5. Dezember", "5 de diciembre".
    private func date(at place: Int) -> CivilDay? {
        guard let month = language.months[words[place]] else { return nil }
        var before = place - 1
        if let link = word(before), link == "of" || link == "de" { before -= 1 }
        // "may" is a month only beside a number.
        let day: Int
        var (isBehind, yearPlace) = (false, place + 1)
        if let number = ordinal(before) {
            day = number
            if word(before - 1).map({ language.past.contains($0) }) ?? false { return nil }
        } else if let number = ordinal(place + 1) {
            (day, isBehind, yearPlace) = (number, true, place + 2)
        } else {
            return nil
        }
        if isBehind, isPast(place) { return nil }
        if let link = word(yearPlace), link == "de" || link == "del" { yearPlace += 1 }
        if let year = number(yearPlace), words[yearPlace].utf8.count == 4 {
            return CivilDay(year: year, month: month, day: day)
        }
        return nearest(month: month, day: day)
    }

    /// Of this year, or of the next where that has gone by for long.
    private func nearest(month: Int, day: Int) -> CivilDay? {
        let year = today.parts.year
        if let found = CivilDay(year: year, month: month, day: day),
            found.number >= today.number - Self.pastDayCount
        {
            return found
        }
        return CivilDay(year: year + 1, month: month, day: day)
    }

    /// "in two days", "in 3 weeks", "in a month".
    private func ahead(at place: Int) -> CivilDay? {
        guard language.inWords.contains(words[place]) else { return nil }
        let start = word(place + 1) == "de" ? place + 2 : place + 1
        guard let unit = word(start + 1), let count = number(start) ?? spelled(start),
            (1...Self.countMax).contains(count)
        else { return nil }
        if language.dayUnits.contains(unit) { return CivilDay(today.number + count) }
        if language.weekUnits.contains(unit) { return CivilDay(today.number + 7 * count) }
        guard language.monthUnits.contains(unit) else { return nil }
        let (year, month, day) = today.parts
        let months = year * 12 + month - 1 + count
        // The last day of a shorter month.
        for day in stride(from: day, through: max(1, day - 3), by: -1) {
            if let found = CivilDay(year: months / 12, month: months % 12 + 1, day: day) {
                return found
            }
        }
        return nil
    }

    /// "end of the month", "end of week".
    private func end(at place: Int) -> CivilDay? {
        guard language.ends.contains(words[place]) else { return nil }
        if words[place] == "monatsende" { return today.endOfMonth }
        let sunday = CivilDay(today.number + 6 - today.weekday)
        if words[place] == "wochenende" { return sunday }
        var next = place + 1
        while let link = word(next), language.endLinks.contains(link), next < place + 3 {
            next += 1
        }
        guard let unit = word(next), next > place + 1 || words[place] == "ende" else { return nil }
        if language.monthUnits.contains(unit) { return today.endOfMonth }
        // "fin de semana" is the weekend, which ends with the week as well.
        return language.weekUnits.contains(unit) ? sunday : nil
    }

    private func number(_ place: Int) -> Int? {
        guard let text = word(place), text.utf8.count <= 4 else { return nil }
        return Int(text)
    }

    private func spelled(_ place: Int) -> Int? { word(place).flatMap { language.numbers[$0] } }

    /// A day of a month: "5", "5th".
    private func ordinal(_ place: Int) -> Int? {
        guard let text = word(place), text.utf8.count <= 4 else { return nil }
        let digits = text.prefix { $0.isNumber }
        let ending = text.dropFirst(digits.count)
        guard ["", "st", "nd", "rd", "th"].contains(ending), let day = Int(digits),
            (1...31).contains(day)
        else { return nil }
        return day
    }
}
