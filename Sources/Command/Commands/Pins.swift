import ArgumentParser
import Parley
import ParleyWire

struct PinCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "pin a message for everybody in its conversation",
        discussion: """
            In a conversation of two, both may do that; in a group, owners and admins. \
            `parley pins` lists them, at most \(ListPins.countMax): beyond that, the oldest is no \
            longer shown. A deleted message is no longer pinned.

            Example:
              parley pin 12
              parley pin 12 --remove
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Flag(name: .long, help: "unpin it")
    var remove = false

    func run(with node: any NodeService) async throws {
        let pinned = try await node.perform(PinMessage(message: message.reference, on: !remove))
        try Output.show(pinned, json: output.json, as: MessageLines.text([pinned]))
    }
}

struct PinsCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins",
        abstract: "list what is pinned in a conversation",
        discussion: """
            The message that was pinned last comes first.

            Example:
              parley pins trip
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        let pins = try await node.perform(ListPins(conversation: conversation))
        try Output.show(pins, json: output.json, as: MessageLines.text(pins.messages))
        if output.json { return }
        if pins.absentCount > 0 {
            World.current.say(
                "notice: \(counted(pins.absentCount, "pinned message")) "
                    + "\(pins.absentCount == 1 ? "is" : "are") not on this device")
        } else if pins.messages.isEmpty {
            World.current.say("nothing is pinned there")
        }
        try await Conversations.sayWhatIsLacking(in: conversation, on: node)
    }
}
