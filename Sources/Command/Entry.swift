import ArgumentParser
import CProcess
import Foundation
import Parley

/// Where the program starts: parses, runs, and tells what went wrong in two lines.
@main
enum Entry {
    static func main() async {
        // A reader that leaves, as `head` does, must not kill us in the middle of a transaction.
        signal(SIGPIPE, SIG_IGN)
        forbidDumps()
        let status = await run(Array(CommandLine.arguments.dropFirst()))
        exit(status)
    }

    /// Memory holds keys and messages in clear: a crash must not write them to a disk.
    private static func forbidDumps() {
        let failure = parley_process_forbid_dumps()
        guard failure != 0 else { return }
        let reason = String(cString: strerror(failure))
        World.current.say("parley: warning: core dumps cannot be turned off (\(reason))")
    }

    /// Runs a command line. Returns its exit status: 0 done, 1 failed, 64 misused.
    static func run(_ arguments: [String]) async -> Int32 {
        do {
            var command = try ParleyCommand.parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return 0
        } catch {
            return report(error, of: arguments)
        }
    }

    private static func report(_ error: any Error, of arguments: [String]) -> Int32 {
        let world = World.current
        if let error = error as? NodeError {
            world.say("parley: error: " + harmless(error.message))
            if let hint = error.hint { world.say("parley: hint: " + harmless(hint)) }
            return 1
        }
        let status = ParleyCommand.exitCode(for: error)
        if status.isSuccess {
            // Help was asked for: it is what the person wants to read, and goes to stdout.
            world.write(ParleyCommand.fullMessage(for: error))
        } else if error is ExitCode {
            return status.rawValue
        } else if status == .validationFailure, let word = unknownCommand(in: arguments) {
            world.say("parley: error: There is no command “\(harmless(word))”.")
            world.say(
                "parley: hint: "
                    + (Self.command(like: word).map { "Was it parley \($0)?" }
                        ?? "parley --help lists them all."))
        } else if status == .validationFailure {
            world.say("parley: error: " + ParleyCommand.message(for: error))
            world.say("parley: hint: " + hint(for: error))
        } else {
            world.say("parley: error: \(error)")
            world.say("parley: hint: parley status and parley doctor may say more")
        }
        return status.rawValue
    }

    private static let commands = ParleyCommand.configuration.subcommands.map { $0._commandName }

    /// The first word, where it is no command of the program.
    private static func unknownCommand(in arguments: [String]) -> String? {
        guard let word = arguments.first, !word.hasPrefix("-"), word != "help" else { return nil }
        return commands.contains(word) ? nil : word
    }

    /// The command that a word was most likely meant to be: with at most two letters of another kind,
    /// too many or missing.
    private static func command(like word: String) -> String? {
        guard word.count <= 20 else { return nil }
        let near = commands.map { (name: $0, distance: distance(Array(word), Array($0))) }
        return near.filter { $0.distance <= 2 }.min { $0.distance < $1.distance }?.name
    }

    /// How many letters one has to change, add or leave out to come from one word to another.
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var row = Array(0...other.count)
        for (place, letter) in one.enumerated() {
            var corner = row[0]
            row[0] = place + 1
            for (index, candidate) in other.enumerated() {
                let change = corner + (letter == candidate ? 0 : 1)
                corner = row[index + 1]
                row[index + 1] = min(change, corner + 1, row[index] + 1)
            }
        }
        return row[other.count]
    }

    /// The usage line of the command that was misused names its help.
    private static func hint(for error: any Error) -> String {
        let lines = ParleyCommand.fullMessage(for: error).split(separator: "\n")
        let see = lines.last { $0.contains("--help") }
        guard let start = see?.range(of: "parley"), let line = see else { return "parley --help" }
        let command = line[start.lowerBound...].prefix { $0 != "'" }
        return "\(command) says how it is used"
    }
}

/// The program.
struct ParleyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parley",
        abstract: "private conversations, held on your own devices",
        discussion: """
            A node holds your conversations, seals what leaves it, and meets other nodes whenever \
            it can. While a node runs, commands go through it; else they open its home themselves.

            The home is --home, else $PARLEY_HOME, else $XDG_DATA_HOME/parley, else \
            ~/.local/share/parley.

            Example:
              parley init --name Ada
              parley run &
              parley invite
            """,
        version: "parley 0.1.0",
        groupedSubcommands: [
            CommandGroup(name: "Node:", subcommands: [Initialise.self, Run.self, Status.self]),
            CommandGroup(
                name: "People:",
                subcommands: [
                    InviteCommand.self, Accept.self, Contacts.self, ContactCommand.self,
                ]),
            CommandGroup(name: "Devices:", subcommands: [DeviceCommand.self]),
            CommandGroup(
                name: "Conversations:",
                subcommands: [
                    Conversations.self, GroupCommand.self, InvitationsCommand.self, Mute.self,
                    Read.self, Follow.self,
                ]),
            CommandGroup(
                name: "Messages:",
                subcommands: [
                    Send.self, Reply.self, Edit.self, Edits.self, Delete.self, React.self,
                    Import.self,
                ]),
            CommandGroup(
                name: "Calls:",
                subcommands: [
                    CallCommand.self, CallsCommand.self, Answer.self, Reject.self, HangUp.self,
                    PresenceCommand.self,
                ]),
            CommandGroup(
                name: "Finding:",
                subcommands: [
                    SearchCommand.self, Similar.self, Ask.self, ModelCommand.self,
                ]),
            CommandGroup(
                name: "Care:",
                subcommands: [
                    Why.self,
                    DigestCommand.self, Doctor.self, PassphraseCommand.self, RecoveryCommand.self,
                    Recover.self, BackupCommand.self,
                ]),
            CommandGroup(
                name: "Relays:",
                subcommands: [
                    RelaysCommand.self, OutboxCommand.self, Offline.self, RelayCommand.self,
                ]),
            CommandGroup(
                name: "Trying it:",
                subcommands: [
                    DemoCommand.self, BenchCommand.self, BenchPeerCommand.self,
                    SimulateCommand.self,
                ]),
        ])
}
