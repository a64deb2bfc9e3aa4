import ArgumentParser
import Foundation
import Parley

struct RecoveryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "check that the recovery code is written down correctly",
        discussion: """
            The recovery code is shown once, by `parley init`, and kept nowhere: nothing else \
            brings you back if you lose all devices, and nothing else opens backups.

            Example:
              parley recovery check
            """,
        subcommands: [RecoveryCheck.self])
}

struct RecoveryCheck: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "type the recovery code from your paper",
        discussion: """
            Says whether it is the code of this node, and makes sure that backups are encrypted to \
            it. The code is neither stored nor sent. Capitals, spaces and hyphens do not matter. \
            `parley status` reminds you until you have done this once.

            Example:
              parley recovery check
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var options: CodeOptions

    func run(with node: any NodeService) async throws {
        let keys = try NoteRecoveryCode(ofRecoveryCode: try options.code())
        let finding = try await node.perform(keys)
        let world = World.current
        world.say("that is the recovery code of this node: keep the paper")
        switch finding {
        case .known: break
        case .added: world.say("backups of this device are encrypted to it from now on")
        case .replaced:
            world.say(
                "this device encrypted backups to another key, which is now replaced: your "
                    + "code does not open the backups that it made before, and somebody else may "
                    + "be able to")
            world.advise(
                "Make a new one: parley backup create FILE. Whoever linked this device may have "
                    + "planted that key: parley device list")
        }
    }
}

/// How a recovery code comes in.
enum RecoveryText {
    /// Fourteen groups of four, and room for how people write them.
    private static let byteCountMax = 512

    /// All of a file.
    static func read(file: String) throws -> String {
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
            let data = try handle.read(upToCount: byteCountMax + 1) ?? Data()
            guard data.count <= byteCountMax else {
                throw NodeError("bad-code", "\(file) holds more than a recovery code.")
            }
            return String(decoding: data, as: UTF8.self)
        } catch let error as NodeError {
            throw error
        } catch {
            throw NodeError("bad-code", "Cannot read \(file).")
        }
    }

    /// What is typed. It is seen: nobody types 56 characters blindly from paper.
    static func ask() throws -> String {
        guard World.current.isInputTerminal else {
            throw NodeError(
                "no-terminal", "There is no terminal to ask for the recovery code.",
                hint: "Name a file with --code-file.")
        }
        World.current.sayInPlace("Recovery code: ")
        guard let line = readLine(), !line.isEmpty else {
            throw NodeError("bad-code", "No recovery code was typed.")
        }
        return String(line.prefix(byteCountMax))
    }
}
