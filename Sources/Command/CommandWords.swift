import ArgumentParser

/// The words of a command line, as far as they can be classified without parsing: needed if parsing
/// has failed, or means something other than the person did.
struct CommandWords {
    /// All of them, without the program's name.
    let all: [String]

    init(_ words: [String]) { all = Self.commandFirst(words) }

    /// Global options may precede the command, as in `parley --json status`: the parser wants the
    /// command first.
    private static func commandFirst(_ words: [String]) -> [String] {
        var options: [String] = []
        var rest = words[...]
        while let word = rest.first {
            let name = word.prefix { $0 != "=" }
            let isAlone = ["--json", "--quiet", "-q"].contains(word)
            guard
                isAlone || ["--home", "--profile", "--passphrase-file", "--config"].contains(name)
            else { break }
            let count = isAlone || name != word ? 1 : 2
            options += rest.prefix(count)
            rest = rest.dropFirst(count)
        }
        let (path, arguments) = commands(of: rest)
        return path.dropFirst().map { $0._commandName } + options + arguments
    }

    /// Those in front of `--`: behind it nothing is an option.
    private var options: ArraySlice<String> { all.prefix { $0 != "--" } }

    /// Whether errors are for programs, too.
    var asksForJSON: Bool { options.contains("--json") }

    /// The home that was named.
    var home: String? { value(of: "--home") }

    /// The home that was named by its name.
    var profile: String? { value(of: "--profile") }

    /// The configuration that was named.
    var config: String? { value(of: "--config") }

    /// Whether nothing is to be said that was not asked for.
    var isQuiet: Bool { options.contains("--quiet") || options.contains("-q") }

    /// What stands behind an option.
    private func value(of option: String) -> String? {
        for (place, word) in options.enumerated() {
            if word == option, place + 1 < options.count { return all[place + 1] }
            if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
        }
        return nil
    }

    /// The shell for which the parser's own script was asked for, empty where none was named.
    var completionShell: String? {
        let word = "--generate-completion-script"
        guard options.contains(where: { $0 == word || $0.hasPrefix(word + "=") }) else {
            return nil
        }
        return value(of: word) ?? ""
    }

    /// Whether help, or the like, was requested explicitly.
    var asksForHelp: Bool {
        all.isEmpty || all.first == "help"
            || options.contains { word in
                ["-h", "-help", "--help", "--version", "--experimental-dump-help"].contains(word)
                    || word.hasPrefix("--help-") || word.hasPrefix("--generate-completion-script")
            }
    }

    /// A text that was taken for options, as `-hi` for `-h` and `-i`.
    var bundle: String? {
        options.first { $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.count > 2 }
    }

    /// The words with each number below zero joined to the option in front of it: the parser takes it for
    /// an option too, and calls the value missing. Nil where no such number stands.
    var joinedNumbers: [String]? {
        var joined: [String] = []
        for word in options {
            let isNumber = word.hasPrefix("-") && Double(word) != nil
            if isNumber, let last = joined.last, last.hasPrefix("--"), !last.contains("=") {
                joined[joined.count - 1] = last + "=" + word
            } else {
                joined.append(word)
            }
        }
        return joined.count < options.count ? joined + all[options.count...] : nil
    }

    /// The commands that the words begin with, from the program's own on.
    var commands: [any ParsableCommand.Type] { Self.commands(of: all[...]).path }

    /// The same, behind `help` where that stands first.
    var path: [any ParsableCommand.Type] {
        Self.commands(of: all.first == "help" ? all.dropFirst() : all[...]).path
    }

    /// Whether the command does something without one of its subcommands.
    var runsAlone: Bool {
        guard let command = path.last, !command.configuration.allSubcommands.isEmpty else {
            return false
        }
        return command.configuration.defaultSubcommand != nil || command is any NodeCommand.Type
    }

    /// The first word that should be a command and is not one.
    var unknownCommand: String? {
        let isHelp = all.first == "help"
        let (path, rest) = Self.commands(of: isHelp ? all.dropFirst() : all[...])
        guard let word = rest.first, !word.hasPrefix("-"), let last = path.last else { return nil }
        if helped != nil { return nil }
        // Behind `help` all words are commands; else a command without subcommands has arguments.
        return isHelp || path.count == 1 && last.configuration.defaultSubcommand == nil
            ? word : nil
    }

    /// What asks for the help that was meant, where a word behind `help` and a command is none itself but
    /// stands so in an example of its help, as in `help bench search`; nil else.
    var helped: [String]? {
        guard all.first == "help" else { return nil }
        let (path, rest) = Self.commands(of: all.dropFirst())
        guard path.count > 1, let word = rest.first, !word.hasPrefix("-"), let last = path.last,
            last.configuration.defaultSubcommand != nil
        else { return nil }
        let names = path.map { $0._commandName } + [word]
        let isShown = last.configuration.discussion.split(separator: "\n").contains { line in
            line.split(separator: " ").map(String.init).starts(with: names)
        }
        return isShown ? names.dropFirst() + ["--help"] : nil
    }

    /// The longest prefix of the words that is a command, and the rest.
    static func commands(
        of words: ArraySlice<String>
    ) -> (path: [any ParsableCommand.Type], rest: ArraySlice<String>) {
        var path: [any ParsableCommand.Type] = [ParleyCommand.self]
        var rest = words
        while let word = rest.first,
            let next = path[path.count - 1].configuration.allSubcommands.first(where: {
                $0._commandName == word
            })
        {
            path.append(next)
            rest = rest.dropFirst()
        }
        return (path, rest)
    }
}

extension CommandConfiguration {
    /// Those with and without a heading.
    var allSubcommands: [any ParsableCommand.Type] {
        subcommands + groupedSubcommands.flatMap(\.subcommands)
    }
}
