import Testing

@testable import ParleyNotes

@Suite("What an editor changed")
struct TextDiffTests {
    private func edits(_ old: String, _ new: String) -> [TextEdit] {
        TextDiff.edits(from: Array(old.unicodeScalars), to: Array(new.unicodeScalars))
    }

    private func apply(_ edits: [TextEdit], to old: String) -> String {
        var text = ScalarText(old.unicodeScalars)
        for edit in edits {
            text.remove(edit.deletedCount, at: edit.position)
            text.insert(edit.inserted[...], at: edit.position)
        }
        return text.string
    }

    @Test("is the part of a line that differs, and nothing of the lines around it")
    func lines() {
        let old = "milk\neggs\nbread\n"
        #expect(edits(old, old).isEmpty)
        #expect(
            edits(old, "milk\nten eggs\nbread\n")
                == [TextEdit(at: 5, deleting: 0, inserting: Array("ten ".unicodeScalars))])
        #expect(edits(old, "milk\nbread\n") == [TextEdit(at: 5, deleting: 5, inserting: [])])
        #expect(
            edits(old, "milk\neggs\nbread\ntea\n")
                == [TextEdit(at: 16, deleting: 0, inserting: Array("tea\n".unicodeScalars))])
        // Two lines that changed side by side are two edits, and one that stays between is not touched.
        #expect(edits("one\ntwo\nx\nsix\n", "One\nTwo\nx\nSix\n").map(\.position) == [0, 4, 10])
    }

    @Test(
        "makes the new text of the old one, whatever was moved, repeated or taken out",
        arguments: 0..<200 as Range<UInt64>)
    func drawn(seed: UInt64) {
        var draws = Draws(seed: seed)
        func text() -> String {
            let lines = (0..<draws.number(below: 12)).map { _ in
                ["a", "b", "c", "long line", "", "é\u{301}"][draws.number(below: 6)]
            }
            return lines.joined(separator: "\n") + (draws.number(below: 2) == 0 ? "\n" : "")
        }
        let (old, new) = (text(), text())
        let made = apply(edits(old, new), to: old)
        #expect(Array(made.unicodeScalars) == Array(new.unicodeScalars), "seed \(seed)")
    }

    @Test("of ten thousand lines that all changed places ends soon")
    func large() {
        let lines = (0..<10_000).map { "line \($0)\n" }
        let (old, new) = (lines.joined(), lines.reversed().joined())
        #expect(apply(edits(old, new), to: old) == new)
    }
}
