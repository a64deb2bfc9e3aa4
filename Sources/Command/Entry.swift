import ArgumentParser
import CProcess
import Foundation
import Parley

/// Where the program starts: parses, runs, and tells what went wrong in two lines.
@main
enum Entry {
    static func main() async {
        StandardFiles.takeClosed()
        // A reader that leaves, as `head` does, must not kill us in the middle of a transaction.
        signal(SIGPIPE, SIG_IGN)
        keepColumns()
        forbidDumps()
        let status = await run(Array(CommandLine.arguments.dropFirst()))
        exit(status)
    }

    /// Removes the screen's variables from the environment once they are read: the argument parser
    /// reads COLUMNS too, and fails at widths at which it cannot draw help.
    private static func keepColumns() {
        _ = World.current
        unsetenv("COLUMNS")
    }

    /// Memory holds keys and messages in clear: a crash must not write them to a disk.
    private static func forbidDumps() {
        let failure = parley_process_forbid_dumps()
        guard failure != 0 else { return }
        let reason = String(cString: strerror(failure))
        World.current.say("parley: warning: core dumps cannot be turned off (\(reason))")
    }

    /// Runs a command line. Returns its exit status, see ``ExitStatus``.
    static func run(_ arguments: [String]) async -> Int32 {
        if arguments.first == CompletionScript.call {
            await CompletionCall(Array(arguments.dropFirst()))?.run()
            return 0
        }
        let words = CommandWords(arguments)
        return await Advice.$home.withValue(words.home) {
            await Advice.$profile.withValue(words.home == nil ? words.profile : nil) {
                await Advice.$isOfRelay.withValue(words.all.first == "relay") {
                    do {
                        var world = World.current
                        if words.isQuiet { world.talk.put = { _ in } }
                        try await World.$current.withValue(world) { try await execute(words) }
                        try World.current.checkOutput()
                        return 0
                    } catch {
                        return report(error, of: words)
                    }
                }
            }
        }
    }

    /// Commands that are about no home, or that mend the configuration.
    private static let homeless: Set<String> = [
        "config", "homes", "completion", "man", "relay", "schema", "bench", "simulate", "demo",
    ]

    /// Refuses to work by a configuration that does not say what its author thinks.
    private static func checkConfiguration(_ words: CommandWords) throws {
        guard let first = words.all.first, !homeless.contains(first), !words.asksForHelp else {
            return
        }
        _ = try Configuration.load(named: words.config, environment: World.current.environment)
    }

    private static func execute(_ words: CommandWords) async throws {
        if let shell = words.completionShell {
            guard let text = CompletionScript.text(for: shell.isEmpty ? "bash" : shell) else {
                throw ValidationError("There is completion for bash, zsh and fish only.")
            }
            return World.current.write(text)
        }
        if words.all.first == "help", words.all.count == 2,
            let topic = HelpTopic.named(words.all[1])
        {
            return World.current.write(topic.text)
        }
        if words.all.first == "help", let word = words.unknownCommand {
            throw unknown(word, in: words)
        }
        var command = try parse(words)
        try checkConfiguration(words)
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }

    /// Reads the words. What is wrong with a number below zero, the command that it is meant for says.
    private static func parse(_ words: CommandWords) throws -> any ParsableCommand {
        do {
            return try ParleyCommand.parseAsRoot(words.helped ?? words.all)
        } catch {
            guard ParleyCommand.message(for: error).hasPrefix("Missing value"),
                let joined = words.joinedNumbers
            else { throw error }
            return try ParleyCommand.parseAsRoot(joined)
        }
    }

    /// Tells what went wrong, and returns the exit status.
    private static func report(_ error: any Error, of words: CommandWords) -> Int32 {
        let status = ParleyCommand.exitCode(for: error)
        switch error {
        case let error as NodeError:
            return tell(error, status: exitStatus(of: error), words)
        case let error as OutputError where error.isReaderGone: return 0
        case let error as OutputError: return tell(error.nodeError, status: 1, words)
        case is ExitCode: return status.rawValue
        default: break
        }
        if status.isSuccess {
            guard words.asksForHelp else { return tell(misread(words), status: misused, words) }
            // Help was asked for: it is what the person wants to read, and goes to stdout.
            let columnCount = max(
                helpColumnCountMin, World.current.output.columnCount ?? helpColumnCount)
            let help = ParleyCommand.fullMessage(for: error, columns: columnCount)
            World.current.write(words.runsAlone ? Self.withoutNeed(of: "<subcommand>", help) : help)
            return World.current.output.failure() == nil ? 0 : 1
        }
        if status == .validationFailure {
            let reason = words.unknownCommand.map { unknown($0, in: words) } ?? usage(error)
            return tell(reason, status: misused, words)
        }
        let reason = NodeError(
            "failed", "\(error)", hint: "`parley status` and `parley doctor` may say more.")
        return tell(reason, status: status.rawValue, words)
    }

    private static func exitStatus(of error: NodeError) -> Int32 {
        switch error.code {
        case usageCode: misused
        case ExitStatus.interruptedCode: ExitStatus.interrupted.number
        default: 1
        }
    }

    /// Help that shows a word as one that may be left out.
    private static func withoutNeed(of word: String, _ help: String) -> String {
        guard let place = help.firstRange(of: word) else { return help }
        return help.replacingCharacters(in: place, with: "[\(word)]")
    }

    /// Help is that wide in a pipe, and never narrower: options stand beside what they mean.
    private static let helpColumnCount = 80, helpColumnCountMin = 32

    private static let misused = ExitStatus.misused.number

    /// The code of a command line that means nothing.
    private static let usageCode = "usage"

    /// What went wrong, as `--json` tells it.
    private struct ErrorView: Encodable {
        struct Reason: Encodable {
            var code: String
            var message: String
            var hint: String?
        }
        var error: Reason
    }

    private static func tell(_ reason: NodeError, status: Int32, _ words: CommandWords) -> Int32 {
        let world = World.current
        let hint = reason.hint.map(Advice.complete)
        let view = ErrorView(
            error: .init(code: reason.code, message: reason.message, hint: hint))
        // Three texts can always be written as JSON; were they not, plain words are better than none.
        if words.asksForJSON, let line = try? Output.json(view) {
            world.say(line)
        } else {
            world.say(
                "parley: " + world.talk.styled("error:", .alarm) + " " + harmless(reason.message))
            if let hint { world.say("parley: hint: " + harmless(hint)) }
        }
        return status
    }

    /// A word that is no command, where one of those stands that the words before it take.
    private static func unknown(_ word: String, in words: CommandWords) -> NodeError {
        let path = words.path
        let names = path.map { $0._commandName }.joined(separator: " ")
        let all = path.last?.configuration.allSubcommands.filter { $0.configuration.shouldDisplay }
        let near = Spelling.nearest(to: word, among: all?.map { $0._commandName } ?? [])
        return NodeError(
            usageCode,
            path.count > 1
                ? "\(names) has no command “\(word)”." : "There is no command “\(word)”.",
            hint: near.map { "Was it `\(names) \($0)`?" } ?? "`\(names) --help` lists them all.")
    }

    /// Words that were taken for a wish for help, and are none.
    private static func misread(_ words: CommandWords) -> NodeError {
        let commands = words.commands
        let name = commands.map { $0._commandName }.joined(separator: " ")
        if let bundle = words.bundle {
            return NodeError(
                usageCode, "“\(bundle)” begins with a hyphen, as options do. Nothing was done.",
                hint: "\(behindHyphens): `\(name) … -- \(Advice.quoted(bundle))`")
        }
        let parts = commands.last?.configuration.allSubcommands.map { $0._commandName } ?? []
        return NodeError(
            usageCode, "\(name) is several commands: \(parts.joined(separator: ", ")).",
            hint: "`\(name) --help` says what each does.")
    }

    private static let behindHyphens = "Put -- before a text that begins with a hyphen"

    private static func usage(_ error: any Error) -> NodeError {
        let message = ParleyCommand.message(for: error)
        let isOption = message.hasPrefix("Unknown option")
        return NodeError(
            usageCode, NodeError.ended(message),
            hint: hint(for: error) + (isOption ? " \(behindHyphens)." : ""))
    }

    /// The usage line of the command that was misused names its help.
    private static func hint(for error: any Error) -> String {
        let lines = ParleyCommand.fullMessage(for: error, columns: 1_000).split(separator: "\n")
        let see = lines.last { $0.contains("--help") }
        guard let start = see?.range(of: "parley"), let line = see else {
            return "Run `parley --help` for usage."
        }
        let command = line[start.lowerBound...].prefix { $0 != "'" }
        return "Run `\(command)` for usage."
    }
}

/// The program.
struct ParleyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parley",
        abstract: "private conversations, held on your own devices",
        discussion: """
            A node holds your conversations, encrypts what leaves it, and meets other nodes \
            whenever it can. While a node is running, commands go through it; otherwise they open \
            the home directly, and sync what they can while they run.

            The home is --home or --profile, else $PARLEY_HOME or $PARLEY_PROFILE, else \
            $XDG_DATA_HOME/parley, else ~/.local/share/parley. Lines are as wide as $COLUMNS says, \
            at least 20, else as wide as the terminal; in a pipe they are not wrapped.

            `help` has two more pages: exit-codes, and environment, the variables that it reads.

            Example:
              parley init --name Ada
              parley run &
              parley invite
            """,
        version: "parley \(Node.version)",
        groupedSubcommands: [
            CommandGroup(
                name: "Begin, and keep it running:",
                subcommands: [
                    Initialise.self, Run.self, ServiceCommand.self, Status.self, StatsCommand.self,
                    HomesCommand.self, ConfigCommand.self,
                ]),
            CommandGroup(
                name: "Meet people:",
                subcommands: [
                    InviteCommand.self, Accept.self, Contacts.self, ContactCommand.self,
                    NameCommand.self, ProfileCommand.self, PresenceCommand.self,
                    PrivacyCommand.self,
                ]),
            CommandGroup(
                name: "Read, and keep order:",
                subcommands: [
                    Conversations.self, ChatCommand.self, Read.self, Follow.self,
                    ThreadCommand.self,
                    ThreadsCommand.self, MentionsCommand.self, StarsCommand.self, PinsCommand.self,
                    Mute.self, ArchiveCommand.self, UnarchiveCommand.self, UnreadCommand.self,
                ]),
            CommandGroup(
                name: "Say something:",
                subcommands: [
                    Send.self, ScheduleCommandLine.self, ScheduledCommand.self,
                    DraftCommand.self, Reply.self, Edit.self, Edits.self, Delete.self,
                    React.self, Forward.self, StarCommand.self, PinCommand.self,
                    FilesCommand.self, Record.self, LinkPreviewsCommand.self, Import.self,
                ]),
            CommandGroup(
                name: "Talk in groups, and do things together:",
                subcommands: [
                    GroupCommand.self, InvitationsCommand.self, PollCommand.self,
                    ActionCommand.self, NoteCommand.self, DecisionCommand.self,
                    RemindCommand.self, RemindersCommand.self,
                ]),
            CommandGroup(
                name: "Call:",
                subcommands: [
                    CallCommand.self, CallsCommand.self, Answer.self, Reject.self, HangUp.self,
                ]),
            CommandGroup(
                name: "Find:",
                subcommands: [
                    SearchCommand.self, Similar.self, Ask.self, SummaryCommand.self,
                    CatchUpCommand.self, QuestionsCommand.self, ModelCommand.self,
                ]),
            CommandGroup(
                name: "Use several devices, and lose nothing:",
                subcommands: [
                    DeviceCommand.self, BackupCommand.self, RecoveryCommand.self, Recover.self,
                    PassphraseCommand.self,
                ]),
            CommandGroup(
                name: "Reach those who are away:",
                subcommands: [
                    RelaysCommand.self, OutboxCommand.self, Offline.self, RelayCommand.self,
                ]),
            CommandGroup(
                name: "Find out what is wrong:",
                subcommands: [Why.self, DigestCommand.self, Doctor.self]),
            CommandGroup(
                name: "Let programs and shells in:",
                subcommands: [
                    Open.self, PageCommand.self, TokenCommand.self, BotCommand.self,
                    MCPCommand.self,
                    EventsCommand.self, WebhookCommand.self,
                    Schema.self, CompletionCommand.self, ManualCommand.self,
                ]),
            CommandGroup(
                name: "Try it:",
                subcommands: [
                    DemoCommand.self, BenchCommand.self, BenchPeerCommand.self,
                    SimulateCommand.self,
                ]),
        ])
}
