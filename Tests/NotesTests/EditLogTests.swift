import Testing

@testable import ParleyNotes

@Suite("Edits of a note")
struct EditLogTests {
    private func edit(_ position: Int, _ deleted: Int, _ text: String) -> TextEdit {
        TextEdit(at: position, deleting: deleted, inserting: Array(text.unicodeScalars))
    }

    private func author(_ tag: UInt64, _ sequence: UInt64 = 0) -> EditLog.Author {
        EditLog.Author(tag: tag, sequence: sequence)
    }

    @Test(
        "come to what the rule says, whoever took them in in which order",
        arguments: 0..<300 as Range<UInt64>)
    func drawn(seed: UInt64) {
        let note = DrawnNote(seed: seed, persons: 2 + Int(seed % 3), isHostile: seed % 2 == 0)
        let text = note.naive.text
        #expect(note.log.text().string == text, "seed \(seed)")
        var draws = Draws(seed: seed &+ 1_000)
        for _ in 0..<4 {
            let order = note.order(&draws)
            #expect(note.log(order).text().string == text, "seed \(seed), order \(order)")
        }
    }

    @Test("of words that two typed at one place leave each word whole")
    func words() {
        var log = EditLog()
        let base = log.append([edit(0, 0, "()")], by: author(0), after: [])
        let parents = [base.upperBound - 1]
        log.append([edit(1, 0, "milk ")], by: author(2), after: parents)
        log.append([edit(1, 0, "eggs ")], by: author(1), after: parents)
        #expect(log.text().string == "(eggs milk )")
        // Typed backwards as well, scalar by scalar: which is where other rules mix words up.
        for (tag, word) in [(4, "abc"), (3, "xyz")] as [(UInt64, String)] {
            var after = parents
            for (sequence, letter) in word.reversed().enumerated() {
                let events = log.append(
                    [edit(1, 0, String(letter))], by: author(tag, UInt64(sequence)), after: after)
                after = [events.upperBound - 1]
            }
        }
        let text = log.text().string
        #expect(text.contains("abc") && text.contains("xyz"), "\(text)")
    }

    @Test("that delete the same scalar twice delete it once, and what stands beside it stays")
    func twice() {
        var log = EditLog()
        let base = log.append([edit(0, 0, "abcd")], by: author(0), after: [])
        let parents = [base.upperBound - 1]
        log.append([edit(1, 2, "")], by: author(1), after: parents)
        log.append([edit(1, 2, "X")], by: author(2), after: parents)
        #expect(log.text().string == "aXd")
    }

    @Test("beyond the end of a text stand at its end, or delete nothing")
    func beyond() {
        var log = EditLog()
        let base = log.append([edit(.max, 0, "ab")], by: author(0), after: [])
        log.append([edit(.max, 1 << 40, "c")], by: author(1), after: [base.upperBound - 1])
        log.append([edit(1, 1 << 40, "d")], by: author(2), after: [base.upperBound - 1])
        #expect(log.text().string == "acd" || log.text().string == "adc")
        #expect(log.graph.count > 1 << 40)
    }

    @Test("count Unicode scalars, whatever a screen draws of them")
    func scalars() {
        var log = EditLog()
        let base = log.append([edit(0, 0, "e\u{301}👩‍👧")], by: author(0), after: [])
        log.append(
            [edit(1, 1, ""), edit(1, 0, "\u{300}")], by: author(0, 5), after: [base.upperBound - 1])
        #expect(log.text().string.unicodeScalars.elementsEqual("e\u{300}👩‍👧".unicodeScalars))
    }

    @Test("that two make for long side by side are merged in a time that follows their number")
    func long() {
        var log = EditLog()
        let base = log.append(
            [edit(0, 0, String(repeating: ".", count: 1_000))], by: author(0), after: [])
        var draws = Draws(seed: 7)
        for tag in [1, 2] as [UInt64] {
            var (after, length) = ([base.upperBound - 1], 1_000)
            for number in 0..<5_000 as Range<UInt64> {
                let events = log.append(
                    [edit(draws.number(below: length + 1), 0, "x")], by: author(tag, number),
                    after: after)
                after = [events.upperBound - 1]
                length += 1
            }
        }
        #expect(log.text().count == 11_000)
    }

    /// How somebody edits who wants whoever opens the note to wait.
    enum Malice: CaseIterable {
        case inFront, behind, deleting, inTheMiddle, lagging

        func edits(_ number: Int, length: Int) -> [TextEdit] {
            func edit(_ position: Int, _ deleted: Int, _ text: String) -> TextEdit {
                TextEdit(at: position, deleting: deleted, inserting: Array(text.unicodeScalars))
            }
            return switch self {
            case .inFront, .lagging: [edit(0, 0, "x")]
            case .behind: [edit(length, 0, "x")]
            case .deleting: number % 2 == 0 ? [edit(0, 0, "xy")] : [edit(0, 1, "")]
            case .inTheMiddle: [edit(length / 2, 0, "x")]
            }
        }
    }

    @Test(
        "Attack 346: of several who insert at one place are merged in a time by their number",
        arguments: Malice.allCases, [2, 12])
    func manyAtOnePlace(malice: Malice, personCount: Int) {
        let count = 96_000 / personCount
        var log = EditLog()
        let base = log.append([edit(0, 0, "..")], by: author(0), after: [])
        var ends = Array(repeating: [base.upperBound - 1], count: personCount)
        var lengths = Array(repeating: 2, count: personCount)
        for person in 0..<personCount {
            for number in 0..<count {
                let edits = malice.edits(number, length: lengths[person])
                var parents = ends[person]
                // Everybody has seen what the one before wrote some time ago.
                if malice == .lagging, person > 0, number % 100 == 99 {
                    let seen = base.upperBound + (person - 1) * count + number - 50
                    parents = [ends[person][0], seen].sorted()
                    lengths[person] = 1
                }
                let events = log.append(
                    edits, by: author(UInt64(person + 1), UInt64(2 * number)), after: parents)
                ends[person] = [events.upperBound - 1]
                lengths[person] += edits.reduce(0) { $0 + $1.inserted.count - $1.deletedCount }
            }
        }
        #expect(log.text().count > 0)
    }

    @Test("move positions along: behind what stood left of them, whatever others did")
    func positions() {
        var log = EditLog()
        let base = log.append([edit(0, 0, "milk eggs")], by: author(0), after: [])
        let version = [base.upperBound - 1]
        #expect(log.positions([0, 4, 9, 99], in: version) == [0, 4, 9, 9])
        log.append([edit(0, 0, "buy ")], by: author(1), after: version)
        log.append([edit(5, 4, "")], by: author(2), after: version)
        log.append([edit(9, 0, "!")], by: author(3), after: version)
        #expect(log.text().string == "buy milk !")
        // At the beginning, behind "k", within what was deleted, and behind what came at the end.
        #expect(log.positions([0, 4, 7, 9], in: version) == [4, 8, 9, 10])
        #expect(EditLog().positions([3, 0], in: []) == [0, 0])
    }
}
