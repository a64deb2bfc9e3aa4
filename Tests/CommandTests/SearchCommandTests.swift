import Parley
import Testing

@testable import LocalAPITests
@testable import parley

@Suite("parley search", .timeLimit(.minutes(3)))
struct SearchCommandTests {
    @Test("shows hits with what matches, and says what a person should know")
    func hits() async {
        let terminal = Terminal()
        _ = await terminal.run("send", "home", "the key is here")
        let found = await terminal.run("search", "key")
        #expect(found.output.contains("#1") && found.output.contains("ada in home  word"))
        #expect(found.talk == "Searched by words alone.\n")
        #expect(await terminal.run("search", "--", "key").output == found.output)
        #expect(await terminal.run("search", "find", "--", "--castle").talk.contains("nothing was"))
        let none = await terminal.run("search", "castle")
        #expect(none.talk.contains("nothing was found") && none.status == 0)
        let json = await terminal.run("search", "key", "--json", "--best", "--explain")
        #expect(json.output.contains(#""semantic":"unavailable""#) && json.talk.isEmpty)
        let answer = await terminal.run("ask", "key")
        #expect(answer.output.contains("“the key is here”") && answer.output.contains("#1"))
    }

    @Test("shows how far it is while it makes the indexes anew")
    func rebuilding() async {
        let terminal = Terminal()
        let rebuilt = await terminal.run("search", "rebuild")
        #expect(rebuilt.talk == "words 75 %\nwords 100 %\n")
        let left = await terminal.run("search", "rebuild", "--no-wait")
        #expect(left.talk.contains("parley search stats"))
        let stats = await terminal.run("search", "stats")
        #expect(stats.output.contains("75 % indexed"))
        let check = await terminal.run("search", "check")
        #expect(check.output.contains("✓") && check.status == 0)
    }

    @Test(
        "says what is wrong with what it is given",
        arguments: [
            (["search"], "Give the words to find."),
            (["search", "a", "--limit", "0"], "--limit must be from 1 to 200"),
            (["search", "a", "--limit", "-1"], "--limit must be from 1 to 200"),
            (["similar", "1", "--limit", "-20"], "--limit must be from 1 to 200"),
            (["search", "a", "--limit", "many"], "many"),
            (["search", "a", "--nearby"], "There is no option --nearby."),
            (["search", "words", "maybe"], "Choose on or off."),
            (["similar", "first"], "first"),
            (["similar", "0"], "0"),
            (["ask", " "], "A question needs words."),
            (["ask", "who?", "--limit", "21"], "--limit must be from 1 to 20"),
            (["model", "install", "gpt"], "gpt"),
            (["bench", "search-quality"], "file"),
        ])
    func badInput(arguments: [String], message: String) async {
        let result = await Terminal().run(list: arguments)
        #expect(result.status == 64, "\(arguments): \(result)")
        #expect(result.talk.contains(message), "\(arguments): \(result.talk)")
    }
}
