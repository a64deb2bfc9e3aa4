import ArgumentParser
import Parley

struct LinkPreviewsCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "link-previews",
        abstract: "show or change whether your messages get previews of links",
        discussion: """
            Only the sender makes a preview, when sending: this machine fetches the page once, so \
            whoever runs that site learns its address. Nobody who reads your message fetches \
            anything. If this is off, `parley send --link-preview` makes one for a single message. \
            It is off by default, and holds for all of your devices.

            Example:
              parley link-previews
              parley link-previews on
            """)

    /// What can be said.
    enum Choice: String, ExpressibleByArgument, CaseIterable { case on, off }

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "on or off; without it, the current setting is shown")
    var choice: Choice?

    func run(with node: any NodeService) async throws {
        let settings =
            if let choice {
                try await node.perform(SetLinkSettings(isOn: choice == .on))
            } else {
                try await node.perform(GetLinkSettings())
            }
        try Output.show(
            settings, json: output.json,
            as: "link previews are \(settings.isOn ? "on" : "off"), for all of your devices")
    }
}

/// A preview of a link in a message that is about to be sent.
enum LinkStaging {
    /// Has a node make one, where the person wants it.
    ///
    /// - Returns: the ticket that names it; nil for none. Why there is none is said, and stops nothing.
    static func stage(
        _ text: String, isWanted: Bool?, on node: any NodeService
    ) async throws -> String? {
        guard text.contains("://"), isWanted != false else { return nil }
        if isWanted == nil {
            guard try await node.perform(GetLinkSettings()).isOn else { return nil }
        }
        do {
            return try await node.perform(MakeLinkPreview(text: text)).ticket
        } catch let error as NodeError where ["no-link", "no-link-preview"].contains(error.code) {
            World.current.say(harmless(error.message))
            return nil
        }
    }
}
