import ArgumentParser
import Parley

struct LinkPreviewsCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "link-previews",
        abstract: "say whether your messages get previews of links, or change it",
        discussion: """
            A preview is made by you alone, when you send: the page is fetched once, from this machine, \
            so who keeps it learns its address. Nobody who reads your message fetches anything. Without \
            this, `parley send --link-preview` makes one for one message. It is off, and concerns this \
            device alone.

            Example:
              parley link-previews
              parley link-previews on
            """)

    /// What can be said.
    enum Choice: String, ExpressibleByArgument, CaseIterable { case on, off }

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "on or off; without it, how it is")
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
            as: "link previews are \(settings.isOn ? "on" : "off") on this device")
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
