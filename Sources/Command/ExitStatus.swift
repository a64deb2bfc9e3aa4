/// How the program ends, as scripts read it. Numbers, once shipped, stay.
enum ExitStatus: CaseIterable {
    case done, failed, misused, interrupted

    /// The exit code for an error that means that a person ended a command.
    static let interruptedCode = "interrupted"

    var number: Int32 {
        switch self {
        case .done: 0
        case .failed: 1
        // Source: sysexits.h, `EX_USAGE`.
        case .misused: 64
        // As a shell reports SIGINT.
        case .interrupted: 130
        }
    }

    /// Its meaning, in a few words.
    var meaning: String {
        switch self {
        case .done: "success"
        case .failed:
            "failure; an error says why, in two lines or, with --json, as JSON"
        case .misused: "the command line is wrong; nothing was opened or changed"
        case .interrupted: "it was interrupted by a second Ctrl-C, or before it had done everything"
        }
    }
}

/// A page of help that belongs to no command.
enum HelpTopic: String, CaseIterable {
    case exitCodes = "exit-codes"
    case environment

    static func named(_ name: String) -> HelpTopic? { HelpTopic(rawValue: name) }

    var summary: String {
        switch self {
        case .exitCodes: "with which status the program exits"
        case .environment: "variables that it reads"
        }
    }

    /// The page.
    var text: String {
        switch self {
        case .exitCodes:
            let rows = ExitStatus.allCases.map { ["\($0.number)", $0.meaning] }
            return Table(rows, columnsMax: 72).text
                + "\nparley simulate has more, which its help lists."
        case .environment:
            return Table(Self.variables.map { [$0.name, $0.meaning] }, columnsMax: 72).text
        }
    }

    /// Variables and what each is for.
    static let variables: [(name: String, meaning: String)] =
        [
            ("PARLEY_HOME", "the folder of the node, if neither --home nor --profile is given"),
            ("PARLEY_CONFIG", "the configuration file, if --config is not given"),
            (
                "XDG_DATA_HOME",
                "the folder whose folder parley holds the homes; else ~/.local/share"
            ),
            ("XDG_CONFIG_HOME", "the folder with parley/config.toml; else ~/.config"),
            ("COLUMNS", "how wide lines are, at least 20"),
            ("NO_COLOR", "no colours, if it is not empty"),
            ("VISUAL, EDITOR", "the editor for notes"),
        ] + ConfigKey.all.map { ($0.variable, "overrides the key \($0.name): " + $0.meaning) }
}
