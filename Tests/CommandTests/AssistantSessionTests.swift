import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("The assistant, on the screen", .timeLimit(.minutes(3)))
struct AssistantSessionTests {
    private func terminal(saying text: String) async -> Terminal {
        let terminal = Terminal()
        _ = await terminal.run("send", "home", text)
        return terminal
    }

    @Test("each line has the number of its message, who said it and when")
    func lines() async {
        let terminal = await terminal(saying: "I'll book the hut.")
        let summary = await terminal.run("summary", "home")
        #expect(summary.status == 0)
        #expect(
            summary.output.wholeMatch(of: /#1  \d+ \w+ \d{4} \d\d:\d\d  you: I'll book the hut\.\n/)
                != nil, "\(summary.output)")
        let missed = await terminal.run("catchup")
        #expect(missed.output.hasPrefix("home  1 new\n  for you\n    #1  "), "\(missed.output)")
        let questions = await terminal.run("questions", "home")
        #expect(questions.output.contains("#1  ") && questions.output.contains("    asks you\n"))
        let tasks = await terminal.run("action", "suggest", "home")
        #expect(tasks.output.contains("    ben, due 2026-12-04\n"), "\(tasks.output)")
        let decisions = await terminal.run("decision", "suggest", "home")
        #expect(decisions.output.contains("agreed to in #1"), "\(decisions.output)")
        for words in [["summary", "home"], ["catchup"], ["action", "suggest", "home"]] {
            let told = await terminal.run(list: words + ["--json"])
            #expect(told.output.contains("\"text\":\"I'll book the hut.\""), "\(told.output)")
        }
    }

    @Test("one step makes an item or a decision of a suggestion, with its source")
    func take() async {
        let terminal = await terminal(saying: "I'll book the hut.")
        let taken = await terminal.run("action", "suggest", "home", "--take", "1")
        #expect(taken.output.contains("☐ I'll book the hut.  due 2026-12-04"), "\(taken.output)")
        #expect(taken.output.contains("from the message 1"), "\(taken.output)")
        let left = await terminal.run("action", "suggest", "home")
        #expect(left.output.isEmpty && left.talk.contains("nothing is suggested"))
        let other = await self.terminal(saying: "We go by train.")
        let decided = await other.run("decision", "suggest", "home", "--take", "#1.1")
        #expect(decided.output.contains("#1  We go by train."), "\(decided.output)")
        #expect(decided.output.contains("from the message 1"), "\(decided.output)")
    }

    @Test("what is dismissed goes, and what is not suggested can be neither taken nor dismissed")
    func dismiss() async {
        let terminal = await terminal(saying: "I'll book the hut.")
        let unknown = await terminal.run("action", "suggest", "home", "--take", "7")
        #expect(unknown.status == 1 && unknown.talk.contains("Nothing is suggested from"))
        let gone = await terminal.run("action", "suggest", "home", "--dismiss", "1")
        #expect(gone.status == 0 && gone.talk.contains("not suggested again here"), "\(gone.talk)")
        let again = await terminal.run("action", "suggest", "home", "--dismiss", "1")
        #expect(again.status == 1)
        for words in [["--take", "1", "--dismiss", "1"], ["--take", "x"], ["--take", "1.0"]] {
            let wrong = await terminal.run(list: ["action", "suggest", "home"] + words)
            #expect(wrong.status == 64, "\(words)")
        }
        let points = await terminal.run("summary", "home", "--points", "51")
        #expect(points.status == 64 && points.talk.contains("--points must be from 1 to 50"))
    }

    @Test("of several suggestions of one message each has a number of its own")
    func several() throws {
        func line(_ sentence: Int) -> CitedLine {
            CitedLine(
                number: 12, id: "51d2e0270c829e06-3", conversation: "aa", author: "ben",
                person: "bb", time: 0, isOwn: false, sentence: sentence, text: "t", isCut: false)
        }
        let lines = [line(0), line(2)]
        #expect(AssistantLines.rows(lines) { _ in [] }.map(\.number) == ["#12.1", "#12.3"])
        #expect(throws: NodeError.self) {
            try SuggestionArgument(argument: "12")?.place(among: lines)
        }
        #expect(try SuggestionArgument(argument: "12.3")?.place(among: lines) == 1)
        #expect(try SuggestionArgument(argument: "51d2e0270c829e06-3.1")?.place(among: lines) == 0)
    }

    @Test("what others wrote moves no cursor")
    func harmless() async {
        let terminal = await terminal(saying: "I'll \u{1b}[2Jbook the \u{202e}hut.")
        for words in [["summary", "home"], ["catchup"], ["action", "suggest", "home"]] {
            let shown = await terminal.run(list: words).output
            #expect(!shown.contains("\u{1b}") && !shown.contains("\u{202e}"), "\(shown)")
        }
    }
}
