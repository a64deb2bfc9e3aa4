import ArgumentParser
import Foundation
import Testing

@testable import parley

/// The commands by group, as `parley help` has them, in rows that are short enough to be read.
private enum CommandTable {
    static let head = ["| to | parley … |", "|---|---|"]
    private static let characterCountMax = 240

    static var rows: [String] {
        ParleyCommand.configuration.groupedSubcommands.flatMap { group in
            rows(group.name.trimmingCharacters(in: [":"]), group.subcommands.compactMap(words))
        }
    }

    /// A row with a heading, and rows without one for what it has no room for.
    private static func rows(_ heading: String, _ commands: [String]) -> [String] {
        var rows: [String] = []
        var row = "| \(heading) | "
        for (place, command) in commands.enumerated() {
            if row.count + command.count > characterCountMax {
                rows.append(row + "|")
                row = "| | "
            }
            row += command + (place + 1 < commands.count ? ", " : " ")
        }
        return rows + [row + "|"]
    }

    /// A command, with those below it; nil if it is not for people.
    private static func words(_ command: any ParsableCommand.Type) -> String? {
        guard command.configuration.shouldDisplay else { return nil }
        let below = command.configuration.allSubcommands.compactMap(words)
        let name = "`\(command._commandName)`"
        return below.isEmpty ? name : "\(name) (\(below.joined(separator: ", ")))"
    }
}

@Suite("The table of commands in README.md")
struct ReadmeTableTests {
    @Test("has every command, by its group, and no other")
    func table() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(
            contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let shown = readme.split(separator: "\n").map(String.init)
            .drop { $0 != CommandTable.head[0] }.prefix { $0.hasPrefix("|") }
        let expected = CommandTable.head + CommandTable.rows
        #expect(
            Array(shown) == expected,
            "the table should be:\n\(expected.joined(separator: "\n"))")
    }
}
