import ArgumentParser
import Parley

struct Recover: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "create a new device from the recovery code, and revoke the lost ones",
        discussion: """
            Needs the recovery code, a home that holds no node, and something that knows who you \
            were: a backup, or a friend who sends you an invite and whose node is running now, or \
            best both. What neither a backup nor a friend has is lost.

            Devices that you do not --keep are revoked for good: keep those that you still have. \
            Without --from, devices that were added after the backup are not known here, and if \
            the recovery code was used since, your contacts are told that somebody else may have \
            it.

            Without a backup, your settings are not known here either: nobody sees whether you are \
            online until another of your devices sends your settings, or you set that again with \
            `parley presence tell`.

            Example:
              parley recover --backup ada.parley --from "$(cat invite-of-ben.txt)"
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: CodeOptions
    @OptionGroup var lost: LostOptions
    @Option(
        name: .long, help: ArgumentHelp("a backup", valueName: "file"), completion: .file())
    var backup: String?
    @Option(
        name: .long,
        help: ArgumentHelp(
            "an invite of a contact, or of a device that you still have and --keep",
            valueName: "invite"))
    var from: String?

    func validate() throws {
        guard backup != nil || from != nil else {
            throw ValidationError("Give --backup or --from, to say who you were.")
        }
        if let backup { try Check.file(backup) }
        guard from.map({ !$0.isEmpty && $0.utf8.count <= 16 * 1024 }) ?? true else {
            throw ValidationError("That is not an invite link.")
        }
    }

    func run() async throws {
        try await lost.comeBack(
            try options.code(), backup: backup, from: from, place, output)
    }
}

/// Which devices are not lost, and whether the person was asked.
struct LostOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "a device that you still have: the start of its identifier", valueName: "device"))
    var keep: [String] = []
    @Flag(name: .long, help: "do not ask before devices are revoked")
    var yes = false

    /// Makes a new device, once the person has seen what that ends.
    func comeBack(
        _ code: String, backup: String?, from link: String?, _ place: HomeOptions,
        _ output: OutputOptions
    ) async throws {
        var settings = NodeSettings(home: place.path)
        try Node.requireVacant(settings.home)
        var found: FoundPerson?
        if let link { found = try await Node.find(recoveryCode: code, from: link) }
        // Nobody would tell that device that it is revoked, and it would bring nothing here.
        if let found, found.isAskedOfOwnDevice, backup == nil, keep.isEmpty {
            throw NodeError(
                "own-device-revoked",
                "That invite is of a device of your own, which would be revoked: then nobody is "
                    + "left to bring your conversations here.",
                hint: "Add --keep DEVICE with the one that made it: "
                    + found.devices.map { "`\($0.prefix(12))`" }.joined(separator: ", "))
        }
        let known = try backup.map {
            try Node.devices(inBackup: $0, recoveryCode: code, found: found)
        }
        try agree(
            known?.devices ?? found?.devices ?? [], maker: known?.maker, time: known?.time ?? 0)
        settings.passphrase = try place.passphraseFile.map(Passphrase.read(file:))
        let (node, report) = try await make(settings, code, backup, found)
        // One that may not write yet goes without a name until its person gives it one.
        try? await HomeNode.nameDevice(of: node)
        await node.shutdown()
        try Output.show(report, json: output.json, as: report.text)
        guard !output.json else { return }
        report.advise()
        let revoked = report.revokedDevices.isEmpty ? "" : " and the revoked ones are not"
        World.current.say(
            "the others do not know yet that this device is yours" + revoked
                + ": they hear it from a node that runs")
        World.current.advise("next: parley run, so that they hear it and it catches up")
        if backup == nil {
            World.current.advise(
                "your settings are not known here: nobody sees whether you are online "
                    + "until you choose what they may see: parley presence tell everything, now "
                    + "or nothing")
        }
        if settings.passphrase == nil {
            World.current.advise(
                "there is no passphrase: parley passphrase set gives this device one")
        }
    }

    private func make(
        _ settings: NodeSettings, _ code: String, _ backup: String?, _ found: FoundPerson?
    ) async throws -> (node: Node, report: RestoreReport) {
        let line = ByteProgress()
        defer { line.end() }
        if let backup {
            return try await Node.restore(
                settings, backup: backup, recoveryCode: code, found: found, keep: keep
            ) { read, all in line.show(read, of: all) }
        }
        guard let found else { throw NodeError("not-known", "Nobody said who you were.") }
        return try await Node.recover(settings, recoveryCode: code, found: found, keep: keep)
    }

    private func agree(_ devices: [String], maker: String?, time: UInt64) throws {
        var kept: Set<String> = []
        for argument in keep {
            var resolver = Resolver<String>(argument)
            for device in devices { resolver.consider(device, name: "", identifier: device) }
            // Before anybody is asked, and before anything is written.
            guard let device = try resolver.thing() else {
                throw NodeError.unknownDevice(argument, among: devices)
            }
            kept.insert(device)
        }
        let ended = devices.filter { !kept.contains($0) }
        guard !ended.isEmpty, !yes else { return }
        let world = World.current
        for device in ended {
            let what = device == maker ? "  made this backup, \(Clock().moment(time))" : ""
            world.say("will be revoked for good: \(device.prefix(12))\(what)")
        }
        guard world.isInputTerminal else {
            throw NodeError(
                "not-agreed", "Devices would be revoked, and there is nobody to ask.",
                hint: "Add --keep DEVICE to spare one, and --yes to agree to the rest.")
        }
        guard world.agrees("Are all of these lost, or to be revoked?") else {
            throw NodeError(
                "not-agreed", "Nothing was changed.", hint: "Add --keep DEVICE to spare one.")
        }
    }
}
