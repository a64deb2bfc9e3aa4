import ArgumentParser
import Foundation
import Parley
import ParleyWire
import Synchronization

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "an encrypted copy of everything: create it, verify it, restore it",
        discussion: """
            A backup holds contacts, conversations and settings, but no keys of any device. Only \
            the recovery code opens it, so you can keep it anywhere.

            Example:
              parley backup create /media/stick/ada.parley
            """,
        subcommands: [BackupCreate.self, BackupVerify.self, BackupRestore.self])
}

/// Where the recovery code comes from.
struct CodeOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "a file that holds the recovery code; without this option, you are asked for "
                + "the code", valueName: "file"),
        completion: .file())
    var codeFile: String?

    /// The recovery code, as it stands on paper.
    func code() throws -> String {
        if let codeFile { return try RecoveryText.read(file: codeFile) }
        return try RecoveryText.ask()
    }
}

struct BackupCreate: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "write a backup",
        discussion: """
            The node may keep running: the backup shows it as it was at one instant. The file is \
            written beside its destination and moved there once it is complete. An older backup of \
            yours is replaced only with --replace; another person's backup is never replaced.

            A backup includes files of messages that no other device is known to have. A restored \
            device fetches all others from whoever has them; --files all includes them too, and \
            --files none leaves out every file except those of up to 32 KiB, which are inside \
            their messages.

            Example:
              parley backup create ada.parley
              parley backup create ada.parley --files all
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the file", completion: .file())
    var file: String
    @Flag(name: .long, help: "replace an older backup of yours")
    var replace = false
    @Option(name: .long, help: "files to include: needed, all or none")
    var files = FileChoice.needed

    func validate() throws { try Check.file(file) }

    func run(with node: any NodeService) async throws {
        let path = wholePath(file)
        let watch = Task { await Self.watch(path + ".new") }
        defer { watch.cancel() }
        let report = try await node.perform(
            CreateBackup(file: path, replacing: replace, files: files.files))
        watch.cancel()
        await watch.value
        try Output.show(report, json: output.json, as: report.text)
        if !output.json {
            if let count = report.leftOutCount {
                World.current.say(
                    "not in it: \(count) of your messages and changes, which never leave this device "
                        + "(" + Advice.complete("parley outbox --stranded")
                        + " shows the messages); "
                        + Advice.complete("parley status") + " tells how to send them again")
            }
            if let count = report.unsignedCount {
                World.current.say(
                    "not in it: \(counted(count, "operation")) of others, for which no "
                        + "signature has arrived yet: it arrives when their authors are reached")
            }
            if let count = report.lostCount {
                World.current.advise(
                    "not in it: \(counted(count, "operation")) that a repair of this home has lost; "
                        + "parley doctor tells of what, and who has them")
            }
            World.current.say(
                "only the recovery code opens it: parley backup verify \(Advice.quoted(path)) shows that"
            )
        }
    }

    /// Shows how much is written, by looking at the file: it grows, whoever writes it.
    private static func watch(_ file: String) async {
        let line = ByteProgress()
        while !Task.isCancelled {
            // Ends early when it is cancelled, which is what is wanted.
            try? await Task.sleep(for: .milliseconds(200))
            // No file yet, or none any more: then there is nothing to tell.
            let attributes = try? FileManager.default.attributesOfItem(atPath: file)
            guard let count = attributes?[.size] as? Int else { continue }
            line.show("\(bytes(count)) written")
        }
        line.end()
    }
}

struct BackupVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "read a whole backup and verify it",
        discussion: """
            Reads the file to its end and checks that nothing is missing or changed: every chain \
            and every signature. Needs the recovery code, but neither a node nor a home: --home is \
            ignored.

            Example:
              parley backup verify ada.parley
            """)

    @OptionGroup var output: OutputOptions
    @OptionGroup var options: CodeOptions
    /// Who says it with every command says it here too; what is advised goes without it.
    @Option(name: .long, help: .hidden)
    var home: String?
    @Argument(help: "the file", completion: .file())
    var file: String

    func validate() throws { try Check.file(file) }

    func run() async throws {
        let line = ByteProgress()
        let report = try Node.verifyBackup(file: file, code: try options.code()) { read, all in
            line.show(read, of: all)
        }
        line.end()
        try Output.show(report, json: output.json, as: report.text)
        if !output.json { World.current.say("the backup is complete and valid") }
    }
}

struct BackupRestore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "create a new device from a backup",
        discussion: """
            Needs the recovery code and a home that holds no node. The new device has its own \
            keys, and fetches what is newer from the others once it runs. Devices that you do not \
            --keep are revoked for good: keep those that you still have.

            Example:
              parley backup restore ada.parley --home ~/ada --keep 8a88e3dd
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: CodeOptions
    @OptionGroup var lost: LostOptions
    @Argument(help: "the file", completion: .file())
    var file: String

    func validate() throws { try Check.file(file) }

    func run() async throws {
        try await lost.comeBack(
            try options.code(), backup: file, from: nil, place, output)
    }
}

extension BackupReport {
    /// The report for a person.
    var text: String {
        var table = Table()
        table.add("backup", "\(file), \(bytes(byteCount))")
        table.add("of", "\(name)  \(person.prefix(8))")
        table.add("made", "\(Clock().moment(time)) by device \(device.prefix(12))")
        table.add(
            "holds",
            "\(counted(conversationCount, "conversation")), \(counted(contactCount, "contact")), "
                + "\(counted(operationCount, "operation")) in \(counted(logCount, "log"))")
        if fileCount > 0 { table.add("files", "\(fileCount)") }
        return table.text
    }
}

/// Which files of messages go into a backup, as it is typed.
enum FileChoice: String, ExpressibleByArgument, CaseIterable {
    case needed, all, none

    var files: BackupFiles {
        switch self {
        case .needed: .needed
        case .all: .all
        case .none: .none
        }
    }
}

extension RestoreReport {
    /// The report for a person.
    var text: String {
        var table = Table()
        table.add("name", (name.isEmpty ? "lost" : name) + "  \(person.prefix(8))")
        table.add("new device", String(device.prefix(12)))
        for device in revokedDevices { table.add("revoked", String(device.prefix(12))) }
        for device in keptDevices { table.add("kept", String(device.prefix(12))) }
        table.add(
            "holds",
            "\(counted(conversationCount, "conversation")), "
                + "\(counted(operationCount, "operation"))")
        return table.text
    }

    /// Says what its person has to say again.
    func advise() {
        guard name.isEmpty else { return }
        World.current.advise("your name is not in the backup: parley name NAME sets it")
    }
}

/// One line that tells how far it is: written over on a terminal, and silent elsewhere.
final class ByteProgress: Sendable {
    private let lastShown = Mutex<ContinuousClock.Instant?>(nil)

    func show(_ done: Int, of all: Int) {
        show("\(all > 0 ? done * 100 / all : 100) %  \(bytes(done)) of \(bytes(all))")
    }

    func show(_ text: String) {
        guard World.current.talk.isTerminal else { return }
        let now = ContinuousClock.now
        let isDue = lastShown.withLock { last in
            if let last, now - last < .milliseconds(100) { return false }
            last = now
            return true
        }
        if isDue { World.current.sayInPlace(text) }
    }

    func end() {
        if World.current.talk.isTerminal, lastShown.withLock({ $0 != nil }) {
            World.current.sayInPlace("")
        }
    }
}
