import ArgumentParser
import Foundation

/// A page of the manual, made from the declarations of commands and keys.
///
/// Source: man(7).
struct ManualPage {
    /// `parley-send.1`.
    let file: String
    let text: String

    /// When the words of these pages changed last: a build gives the same bytes on any day.
    static let date = "2026-11-27"

    /// All pages.
    static func all() throws -> [ManualPage] {
        let root = try CommandForm.of(ParleyCommand.self)
        let commands = root.shownSubcommands.map { page(of: $0) }
        return [overview(root)] + commands + [configuration(), guide()]
    }

    private init(_ name: String, _ section: Int, _ body: [String]) {
        file = "\(name).\(section)"
        let head =
            ".TH \(name.uppercased().replacing("-", with: "\\-")) \(section) \(Self.date) parley"
        text = ([head] + body).joined(separator: "\n") + "\n"
    }

    // MARK: Commands

    /// parley(1): every command in a line, in the groups of its help.
    private static func overview(_ root: CommandForm) -> ManualPage {
        var lines = heading("parley", root.abstract ?? "")
        lines += [".SH SYNOPSIS", ".B parley", ".I command", "[\\fIoption\\fP ...]", ".br"]
        lines += [".B parley help", "[\\fIcommand\\fP | \\fItopic\\fP]"]
        lines += [".SH DESCRIPTION"] + prose(root.discussion ?? "")
        for group in ParleyCommand.configuration.groupedSubcommands {
            lines.append(".SS " + ManualText.escaped(group.name.replacing(":", with: "")))
            for command in group.subcommands where command.configuration.shouldDisplay {
                lines += [".TP", ".BR parley\\-\(ManualText.escaped(command._commandName)) (1)"]
                lines += ManualText.paragraph(command.configuration.abstract)
            }
        }
        lines.append(".SH EXIT STATUS")
        for status in ExitStatus.allCases {
            lines += [".TP", ".B \(status.number)"] + ManualText.paragraph(status.meaning)
        }
        lines.append(".SH ENVIRONMENT")
        for variable in HelpTopic.variables {
            lines += [".TP", ".B \(ManualText.escaped(variable.name))"]
            lines += ManualText.paragraph(variable.meaning)
        }
        lines += [".SH SEE ALSO", ".BR parley (7),", ".BR parley.toml (5)"]
        return ManualPage("parley", 1, lines)
    }

    /// parley-send(1), with all that is below the command.
    private static func page(of command: CommandForm) -> ManualPage {
        let name = "parley-" + command.commandName
        var lines = heading(name, command.abstract ?? "")
        lines.append(".SH SYNOPSIS")
        let all = leaves(of: command, path: ["parley", command.commandName])
        lines += all.map { synopsis($0.form, $0.path) }.joined(separator: [".br"])
        lines += [".SH DESCRIPTION"] + prose(command.discussion ?? "")
        if command.shownSubcommands.isEmpty {
            lines += options(of: command)
        } else {
            lines.append(".SH COMMANDS")
            for (path, form) in all where path.count > 2 {
                lines.append(".SS " + ManualText.escaped(path.joined(separator: " ")))
                lines += ManualText.paragraph(sentence(form.abstract ?? ""))
                if let discussion = form.discussion { lines += [".PP"] + prose(discussion) }
                lines += options(of: form, isBelow: true)
            }
        }
        lines += [".SH EXIT STATUS", "See", ".BR parley (1)."]
        lines += [".SH SEE ALSO", ".BR parley (1),", ".BR parley (7),", ".BR parley.toml (5)"]
        return ManualPage(name, 1, lines)
    }

    /// A command and all below it that can be said, each with its words.
    private static func leaves(
        of command: CommandForm, path: [String]
    ) -> [(path: [String], form: CommandForm)] {
        let below = command.shownSubcommands
        guard !below.isEmpty else { return [(path, command)] }
        return below.flatMap { leaves(of: $0, path: path + [$0.commandName]) }
    }

    private static func heading(_ name: String, _ abstract: String) -> [String] {
        [".SH NAME"]
            + ManualText.wrapped(
                "\(ManualText.escaped(name)) \\- \(ManualText.escaped(abstract))")
    }

    private static func synopsis(_ form: CommandForm, _ path: [String]) -> [String] {
        var words = ["\\fB\(ManualText.escaped(path.joined(separator: " ")))\\fP"]
        if !form.options.isEmpty { words.append("[\\fIoption\\fP ...]") }
        for argument in form.positionals {
            let name = ManualText.escaped(argument.valueName ?? "word")
            let shown = "\\fI\(name)\\fP" + (argument.isRepeating == true ? " ..." : "")
            words.append(argument.isOptional == true ? "[\(shown)]" : shown)
        }
        return [words.joined(separator: " ")]
    }

    private static func options(of form: CommandForm, isBelow: Bool = false) -> [String] {
        // Options that every command has are described once.
        let all = (form.positionals + form.options).filter {
            !["help", "version"].contains($0.names?.last?.name)
        }
        guard !all.isEmpty else { return [] }
        var lines = isBelow ? [] : [".SH OPTIONS"]
        for argument in all {
            let value = argument.valueName.map { "\\fI\(ManualText.escaped($0))\\fP" } ?? ""
            let names = (argument.names ?? []).map { "\\fB\(ManualText.escaped($0.text))\\fP" }
            let head =
                argument.kind == .positional
                ? value
                : names.joined(separator: ", ") + (argument.kind == .option ? " " + value : "")
            var meaning = argument.abstract ?? ""
            if let usual = argument.defaultValue, argument.kind == .option {
                meaning += " (default: \(usual))"
            }
            lines +=
                [".TP", head]
                + (meaning.isEmpty ? ["\\&"] : ManualText.paragraph(sentence(meaning)))
        }
        return lines
    }

    /// Help begins in the small; a manual speaks in sentences.
    private static func sentence(_ text: String) -> String {
        guard let first = text.first else { return "" }
        return first.uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }

    /// The paragraphs of a command's help; indented text stays as it is.
    static func prose(_ text: String) -> [String] {
        var lines: [String] = []
        var isExample = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            let isSet = line.hasPrefix("  ")
            if isExample, !isSet {
                lines += [".fi", ".RE"]
                isExample = false
            }
            if isSet {
                if !isExample { lines += [".RS 4", ".nf"] }
                isExample = true
                lines.append(ManualText.guarded(ManualText.escaped(String(line.dropFirst(2)))))
            } else if line.isEmpty {
                if !lines.isEmpty, lines.last != ".PP" { lines.append(".PP") }
            } else {
                lines += ManualText.paragraph(line)
            }
        }
        if isExample { lines += [".fi", ".RE"] }
        return lines
    }

    // MARK: Other sections

    /// parley.toml(5): every key.
    private static func configuration() -> ManualPage {
        var lines = heading("parley.toml", "the settings of Parley on this machine")
        lines += [".SH DESCRIPTION"]
        lines += prose(ConfigCommand.configuration.discussion)
        lines.append(".SH KEYS")
        for key in ConfigKey.all {
            lines += [".TP", ".B \(ManualText.escaped(key.name))"]
            lines += ManualText.paragraph(key.meaning)
            lines += ManualText.paragraph(
                "It takes \(key.taken); the default is \(key.fallback.text).")
            lines += ManualText.paragraph(
                (key.isLive ? "A running node reads it again at SIGHUP. " : "")
                    + "The variable is \(key.variable).")
        }
        lines.append(".SH NOTIFICATIONS")
        lines += prose(Self.notifications)
        lines += [".SH SEE ALSO", ".BR parley\\-config (1),", ".BR parley\\-run (1)"]
        return ManualPage("parley.toml", 5, lines)
    }

    private static let notifications = """
        The program of notify.command finds in its environment PARLEY_EVENT (message, mention, \
        call, call-ended, reminder, request, invitation, or more for several that were held back), \
        PARLEY_SENDER, PARLEY_CONVERSATION, PARLEY_CONVERSATION_ID, PARLEY_TEXT, PARLEY_REFERENCE \
        (the number of a message, the identifier of a call) and PARLEY_COUNT, as far as \
        notify.content shows them. None of it is on its command line, and no shell reads it.

        Example:
          [notify]
          command = ["/usr/local/bin/ring"]
          quiet-hours = "22:00-07:00"
          content = "sender"
        """

    /// parley(7): how to begin.
    private static func guide() -> ManualPage {
        var lines = heading("parley", "private conversations, from the first minute on")
        lines += [".SH DESCRIPTION"] + prose(ManualGuide.text)
        lines += [".SH SEE ALSO", ".BR parley (1),", ".BR parley.toml (5)"]
        return ManualPage("parley", 7, lines)
    }
}
