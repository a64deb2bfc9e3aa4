import ArgumentParser
import Foundation

/// A command as its declaration describes it. Completions and pages of the manual are made from it.
///
/// Source: swift-argument-parser, `ToolInfoV0`, the JSON of `--experimental-dump-help`.
struct CommandForm: Decodable {
    var commandName: String
    var abstract: String?
    var discussion: String?
    var shouldDisplay: Bool?
    var defaultSubcommand: String?
    var subcommands: [CommandForm]?
    var arguments: [ArgumentForm]?

    /// The form of a command and of all below it.
    static func of(_ command: any ParsableCommand.Type) throws -> CommandForm {
        struct Tool: Decodable { var command: CommandForm }
        return try JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8)).command
    }

    /// Commands below it that are for people; `help` is the parser's own.
    var shownSubcommands: [CommandForm] {
        (subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
    }

    /// Arguments that stand by their place.
    var positionals: [ArgumentForm] { shown(.positional) }

    /// Options and flags, in the order in which help shows them.
    var options: [ArgumentForm] { shown(.option, .flag) }

    private func shown(_ kinds: ArgumentForm.Kind...) -> [ArgumentForm] {
        (arguments ?? []).filter { kinds.contains($0.kind) && $0.shouldDisplay != false }
    }
}

/// An argument, option or flag as its declaration describes it.
struct ArgumentForm: Decodable {
    enum Kind: String, Decodable {
        case positional, option, flag
    }
    struct Name: Decodable {
        var kind: String
        var name: String
        /// As it is typed.
        var text: String { (kind == "long" ? "--" : "-") + name }
    }
    /// The kind of a value, if the declaration says that it is a path.
    struct Place: Decodable {
        struct Nothing: Decodable {}
        var file: Nothing?
        var directory: Nothing?
    }

    var kind: Kind
    var shouldDisplay: Bool?
    var isOptional: Bool?
    var isRepeating: Bool?
    var names: [Name]?
    var valueName: String?
    var defaultValue: String?
    var allValues: [String]?
    var completionKind: Place?
    var abstract: String?
    var discussion: String?
}
