import ArgumentParser
import Foundation
import Parley
import ParleyLocalAPI

struct HomesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "homes",
        abstract: "several nodes on this machine: list them, create one, choose one",
        discussion: """
            Each home is a node of its own: another person, or another device of yours. --profile, \
            or $PARLEY_PROFILE, names the one that a command uses; `homes use` chooses one for all \
            commands that name none. The home without a name is called default.

            Example:
              parley homes new work --name 'Ada (work)'
              parley status --profile work
              parley homes use work
            """,
        subcommands: [HomesList.self, HomesNew.self, HomesUse.self],
        defaultSubcommand: HomesList.self)
}

struct HomesList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "list the homes on this machine",
        discussion: """
            Shows the folder of each, whether its node is running, and a * at the one that \
            commands use.

            Example:
              parley homes
            """)

    @OptionGroup var options: ConfigOptions
    @OptionGroup var output: OutputOptions

    private struct View: Encodable {
        var name: String
        var home: String
        var isRunning: Bool
        var isUsed: Bool
    }

    func run() async throws {
        let world = World.current
        let used = HomeOptions.path(
            home: nil, configFile: options.config, environment: world.environment)
        var views: [View] = []
        for folder in HomeFolders(world.environment).list() {
            // One whose socket cannot be asked does not run for this person.
            let client = try? await NodeClient.connect(home: folder.path)
            await client?.close()
            views.append(
                View(
                    name: folder.name, home: folder.path, isRunning: client != nil,
                    isUsed: folder.path == used))
        }
        let rows = views.map { view in
            [view.isUsed ? "*" : " ", view.name, view.isRunning ? "runs" : "", view.home]
        }
        try Output.show(views, json: output.json, as: Table(rows).text)
        guard !output.json else { return }
        if views.isEmpty { world.say("no homes: parley init, or parley homes new NAME, makes one") }
        if !views.contains(where: \.isUsed) { world.say("commands use \(harmless(used))") }
    }
}

struct HomesNew: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "create a node of your own in another home",
        discussion: """
            Does what `parley init` does, in a home that has a name. To link, restore or recover a \
            device in such a home, add --profile to that command.

            Example:
              parley homes new work --name 'Ada (work)'
            """)

    @Argument(help: ArgumentHelp("the name of the home", valueName: "new-home"))
    var home: String
    @Option(name: .long, help: "what others see you as (default: your user name)")
    var name: String?
    @Flag(name: .long, help: "protect the keys with a passphrase; you are asked for it")
    var passphrase = false
    @Option(
        name: .long,
        help: ArgumentHelp("a file whose first line is the passphrase", valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    func validate() throws {
        guard HomeFolders.isName(home) else {
            throw ValidationError(NodeError.sentence(HomeFolders.nameRule))
        }
        _ = try Initialise.chosenName(name)
    }

    func run() async throws {
        var words = ["--profile", home]
        if let name { words += ["--name", name] }
        if passphrase { words.append("--passphrase") }
        if let passphraseFile { words += ["--passphrase-file", passphraseFile] }
        let command = try Initialise.parse(words)
        try await Advice.$profile.withValue(home) { try await command.run() }
    }
}

struct HomesUse: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use",
        abstract: "choose the home that commands use",
        discussion: """
            It is kept in the configuration, as the key profile. --home, --profile, $PARLEY_HOME \
            and $PARLEY_PROFILE override it.

            Example:
              parley homes use work
            """)

    @OptionGroup var options: ConfigOptions
    @Argument(
        help: ArgumentHelp("the home; default is the one without a name", valueName: "profile"))
    var home: String

    func validate() throws {
        guard HomeFolders.isName(home) else {
            throw ValidationError(NodeError.sentence(HomeFolders.nameRule))
        }
    }

    func run() throws {
        let folders = HomeFolders(World.current.environment)
        guard home == HomeFolders.usualName || folders.list().contains(where: { $0.name == home })
        else {
            let near = Spelling.nearest(to: home, among: folders.list().map(\.name))
            throw NodeError(
                "no-home", "There is no home \(home).",
                hint: near.map { "Was it \($0)?" } ?? "`parley homes new \(home)` makes it.")
        }
        let value = home == HomeFolders.usualName ? nil : ConfigValue.string(home)
        try ConfigFile(path: options.path).set(ConfigOptions.key("profile"), to: value)
        World.current.say("commands now use \(harmless(folders.path(of: home)))")
    }
}
