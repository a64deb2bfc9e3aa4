import ArgumentParser
import Parley
import ParleyWire

/// A command that asks a node.
protocol NodeCommand: AsyncParsableCommand {
    var place: HomeOptions { get }
    /// Does its work, once the arguments are known to be good and a node answers.
    func run(with node: any NodeService) async throws
}

extension NodeCommand {
    func run() async throws {
        try await World.current.lend(place) { try await run(with: $0.node) }
    }
}

/// `--json`, as every command that shows something has it.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "print JSON, for programs")
    var json = false
}

/// A message by its number, `12`, or `#12` as it is shown, or by its identifier.
struct MessageArgument: ExpressibleByArgument {
    let reference: MessageReference

    init?(argument: String) {
        reference = MessageReference(argument)
        guard reference.isWellFormed else { return nil }
    }
}

/// Bounds on arguments, checked before anything is opened.
enum Check {
    /// A text in which something can be seen.
    static func text(
        _ text: String, _ what: String = "the message", max: Int = Limits.messageByteCountMax
    ) throws {
        guard !VisibleName.drawsNothing(text) else { throw empty(what) }
        try bound(text, max, what)
    }

    static func name(_ name: String, _ what: String) throws {
        guard !VisibleName.drawsNothing(name) else { throw empty(what) }
        try bound(name, Limits.nameByteCountMax, what)
    }

    static func file(_ file: String) throws {
        guard !file.isEmpty, file.utf8.count < 4096 else {
            throw ValidationError("That is not the name of a file.")
        }
    }

    /// What may be an emoji; the node decides whether it is one.
    static func emoji(_ emoji: String) throws {
        guard !emoji.allSatisfy(\.isWhitespace) else {
            throw ValidationError("A reaction needs an emoji.")
        }
        try bound(emoji, Limits.emojiByteCountMax, "a reaction")
    }

    private static func bound(_ text: String, _ byteCountMax: Int, _ what: String) throws {
        guard text.utf8.count > byteCountMax else { return }
        throw ValidationError(
            NodeError.sentence(
                "\(what) has at most \(byteCountMax) bytes, this has \(text.utf8.count)"))
    }

    private static func empty(_ what: String) -> ValidationError {
        ValidationError(NodeError.sentence("\(what) is empty"))
    }
}
