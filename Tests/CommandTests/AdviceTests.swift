import ArgumentParser
import Foundation
import Testing

@testable import parley

/// A command that a text of the program advises, as it stands in the sources.
struct AdvisedCommand: CustomTestStringConvertible {
    let path: String
    /// What follows the program's name.
    let words: [String]
    /// Whether nothing but the command stands there: it was put between backticks.
    let isWhole: Bool
    var testDescription: String { "parley \(words.joined(separator: " ")) (\(path))" }

    /// Every one of them: between backticks or, where it is typed elsewhere, in quotation marks, or where
    /// a text begins.
    static let all: [AdvisedCommand] = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources").standardized
        let files =
            FileManager.default.enumerator(atPath: root.path)?
            .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") } ?? []
        return files.sorted().flatMap { path -> [AdvisedCommand] in
            let file = root.appendingPathComponent(path)
            let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
            func found(_ words: Substring, isWhole: Bool) -> AdvisedCommand {
                // Of a sentence that goes on with another command only the first.
                let end = words.firstIndex(of: ",") ?? words.endIndex
                let words = words[..<end].split { $0 == " " }.map(String.init)
                return AdvisedCommand(path: path, words: words, isWhole: isWhole)
            }
            return text.matches(of: /`parley ([a-z][^`]*)`/).map {
                found($0.output.1, isWhole: true)
            }
                + text.matches(of: /“parley ([a-z][^”]*)”/).map {
                    found($0.output.1, isWhole: true)
                }
                + text.matches(of: /"parley ([a-z][^"]*)"/).map {
                    found($0.output.1, isWhole: false)
                }
        }
    }()
}

@Suite("Advice")
struct AdviceTests {
    @Test("names commands and options that there are", arguments: AdvisedCommand.all)
    func exists(advised: AdvisedCommand) throws {
        let (path, rest) = CommandWords.commands(of: advised.words[...])
        let command = try #require(path.last)
        #expect(path.count > 1, "no such command")
        let configuration = command.configuration
        if advised.isWhole, let next = rest.first, !configuration.subcommands.isEmpty,
            configuration.defaultSubcommand == nil
        {
            #expect(next.contains { !$0.isLowercase }, "\(next) is no command")
        }
        let help = ParleyCommand.helpMessage(for: command, includeHidden: true)
        for word in rest where word.hasPrefix("--") && word.count > 2 {
            let option = word.prefix { $0.isLetter || $0 == "-" }
            #expect(option == "--help" || help.contains(option), "\(word) is no option")
        }
    }

    @Test("stands in paragraphs without gaps")
    func gaps() {
        func look(at command: any ParsableCommand.Type) {
            for line in command.configuration.discussion.split(separator: "\n") {
                let isExample = line.hasPrefix(" ")
                #expect(isExample || !line.contains("    "), "\(command): \(line)")
            }
            for next in command.configuration.subcommands { look(at: next) }
        }
        look(at: ParleyCommand.self)
    }

    @Test("is found in the sources")
    func found() {
        #expect(AdvisedCommand.all.count > 60)
        #expect(AdvisedCommand.all.contains { $0.words == ["init", "--name", "YOURNAME"] })
    }

    @Test("is about the home that was named, unless it names one or is to be followed elsewhere")
    func homes() {
        let texts = [
            (
                "say `parley status`, or parley run",
                "say `parley status --home h`, or parley run --home h"
            ),
            (
                "`parley backup create FILE`, and `parley recover --home FOLDER --backup FILE`",
                "`parley backup create --home h FILE`, and `parley recover --home FOLDER --backup FILE`"
            ),
            (
                "there: “parley device link”. Or parley run",
                "there: “parley device link”. Or parley run --home h"
            ),
            (
                "parley recover --home FOLDER, then parley run",
                "parley recover --home FOLDER, then parley run --home h"
            ),
        ]
        for (text, completed) in texts {
            #expect(Advice.$home.withValue("h") { Advice.complete(text) } == completed)
            #expect(Advice.complete(text) == text)
        }
    }
}
