import ArgumentParser
import Foundation
import Parley
import ParleyWire

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "your own devices: list, link, confirm, revoke, rename",
        discussion: """
            Each device is a node of its own, with its own keys. All of yours hold the same \
            conversations, and each writes while the others are off.

            Example:
              parley device link
            """,
        subcommands: [
            DeviceList.self, DeviceLink.self, DeviceConfirm.self, DeviceAcceptLink.self,
            DeviceRevoke.self, DeviceRename.self,
        ])
}

struct DeviceList: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "list your devices",
        discussion: """
            A `compromised` device wrote two different histories, as two copies of one home do: \
            somebody else may have its key. Revoke it.

            Example:
              parley device list
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let devices = try await node.perform(ListDevices())
        try Output.show(devices, json: output.json, as: Self.text(devices))
        guard !output.json else { return }
        if devices.contains(where: { $0.isThis && $0.state == "compromised" }) {
            return World.current.advise(
                "this device wrote two histories, and can no longer change anything. "
                    + "Continue with a new device: \(NodeError.movingOn)"
            )
        }
        for device in devices where device.state == "compromised" {
            World.current.advise(
                "\(harmless(device.shown)) wrote two histories: "
                    + "parley device revoke \(device.device.prefix(12))")
        }
        if devices.count == 1 {
            try await World.current.say(
                "You have one device.", way: "`parley device link` adds another.", on: node)
        }
    }

    static func text(_ devices: [DeviceView]) -> String {
        Table(
            devices.map { device in
                [
                    device.name.isEmpty ? String(device.device.prefix(8)) : device.name,
                    String(device.device.prefix(12)), device.state,
                    device.isThis ? "this device" : device.isLinked ? "linked" : "not linked",
                    seen(device), device.addresses.joined(separator: ", "),
                    device.name.isEmpty ? "its name is not known here" : "",
                ]
            }
        ).text
    }

    private static func seen(_ device: DeviceView) -> String {
        if device.isThis || device.isLinked { return "" }
        return device.lastSeen.map { "last seen \(Clock().moment($0))" } ?? "never seen"
    }
}

struct DeviceLink: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "add a device: show a text, and wait for the device that uses it",
        discussion: """
            Needs the running node of this device. The text works for one device and for five \
            minutes, and not after you end this command. Whoever sees it in that time can link \
            their device instead of yours: `parley device list` shows which one was linked.

            On the new device, in an empty home: parley device accept-link TEXT

            Example:
              parley device link
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var qr: QROptions
    @Flag(name: .long, help: "do not wait for the device")
    var noWait = false

    func run(with node: any NodeService) async throws {
        let known = Set(try await node.perform(ListDevices()).map(\.device))
        // Before the text is shown, so that nothing is missed.
        let changes = try await node.changes()
        let link = try await node.perform(StartPairing())
        let world = World.current
        if !output.json { qr.show(link.text) }
        try Output.show(link, json: output.json, as: link.text)
        world.say("works for one device, until \(Clock().moment(link.expires))")
        guard !noWait else { return }
        // Before anybody is told that this waits.
        let stop = Stop.signals()
        world.say("waiting for: parley device accept-link TEXT")
        let wait = Task {
            try await withDeadline(link.expires) {
                try await Self.newDevice(on: node, besides: known, changes)
            }
        }
        let watch = Task { for await _ in stop { wait.cancel() } }
        defer { watch.cancel() }
        let device = try await wait.value
        guard let device else {
            // Nobody becomes a device of this person while nobody looks.
            try await node.perform(StopPairing())
            if wait.isCancelled {
                throw NodeError(
                    ExitStatus.interruptedCode,
                    "This device stopped waiting, and the text no longer works.")
            }
            throw NodeError(
                "expired",
                "No device used the text in time.", hint: "`parley device link` makes a new text.")
        }
        if output.json {
            world.write(try Output.json(device))
        } else {
            world.say("\(harmless(device.shown)) is your device now")
            world.advise("Not yours? parley device revoke \(device.device.prefix(12))")
        }
    }

    private static func newDevice(
        on node: any NodeService, besides known: Set<String>, _ changes: AsyncStream<ChangeView>
    ) async throws -> DeviceView? {
        for await change in changes where change.kind == "devices" {
            let fresh = try await node.perform(ListDevices()).first { !known.contains($0.device) }
            if let fresh, fresh.state == "active" { return fresh }
        }
        return nil
    }
}

/// The result of some work, or nil where it takes until this moment, in Unix milliseconds.
private func withDeadline<R: Sendable>(
    _ moment: UInt64, _ work: @escaping @Sendable () async throws -> R?
) async throws -> R? {
    let seconds = Double(moment) / 1_000 - Date().timeIntervalSince1970
    return try await withThrowingTaskGroup(of: R?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            // The end of what is waited for; cancelled once that has come.
            try? await Task.sleep(for: .seconds(max(0, seconds)))
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}

struct DeviceConfirm: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm",
        abstract: "let the page link a new device, by the code that it shows",
        discussion: """
            A device sees everything, for good: so the page in a browser links one only if you \
            confirm it here. Confirm only what you have just begun yourself, in the page, under \
            Devices. A code works for five minutes.

            Example:
              parley device confirm 482193
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the code that the page shows")
    var code: String

    func validate() throws { try Check.name(code, "a code") }

    func run(with node: any NodeService) async throws {
        let reply = try await node.perform(ConfirmPairing(code: code))
        try Output.show(
            reply, json: output.json, as: "The page now shows the text for the new device.")
    }
}

struct DeviceAcceptLink: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-link",
        abstract: "make this a device of yours, with the text that another one shows",
        discussion: """
            Creates a home with its own keys, and fetches what your other devices hold, newest \
            first. You may interrupt it: what is missing arrives when the node runs.

            Example:
              parley device accept-link 'parley-device:1:…' --name phone
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the text that `parley device link` shows")
    var text: String
    @Option(name: .long, help: "the name of this device (default: the machine's name)")
    var name: String?
    @Flag(name: .long, help: "protect the keys with a passphrase; you are asked for it")
    var passphrase = false
    @Option(
        name: .long,
        help: ArgumentHelp("how long to wait at most for the others' history", valueName: "seconds")
    )
    var wait = 600

    private var chosenName: String { name ?? HomeNode.machineName }

    func validate() throws {
        guard !text.isEmpty, text.utf8.count <= 16 * 1024 else {
            throw ValidationError("That is not a text of `parley device link`.")
        }
        guard (0...86_400).contains(wait) else {
            throw ValidationError("--wait must be from 0 to 86400.")
        }
        if let name { try Check.name(name, "a name") }
    }

    func run() async throws {
        var secret: [UInt8]?
        if let file = place.passphraseFile {
            secret = try Passphrase.read(file: file)
        } else if passphrase {
            secret = try Passphrase.choose()
        }
        let world = World.current
        let running = try await HomeNode.join(
            home: place.path, text: text, name: chosenName, passphrase: secret)
        do {
            let status = try await running.node.perform(GetStatus())
            world.say("this is \(harmless(status.name))'s device \(status.device.prefix(12))")
            let isDone = try await Self.fetch(from: running.node, within: wait)
            let end = try await running.node.perform(GetStatus())
            let lacking = try await running.node.perform(ListConversations())
                .compactMap(Conversations.notice(of:))
            try Output.show(
                end, json: output.json,
                as: "\(counted(end.conversationCount, "conversation")), "
                    + counted(end.operationCount, "operation"))
            let all =
                lacking.isEmpty
                ? "everything is here" : "everything is here that the other devices can give"
            world.say(isDone ? all : "the rest comes when the node runs")
            let fileCount = try await running.node.perform(ListFiles(limit: FileView.countMax))
                .entries.flatMap(\.message.files).count { $0.state != "here" }
            if fileCount > 0 {
                world.say(
                    "\(counted(fileCount, "file")) of messages "
                        + "\(fileCount == 1 ? "is" : "are") not here yet, and may be only on "
                        + "your other device")
                world.advise("`parley files list` shows them")
            }
            for notice in lacking { world.say(notice) }
        } catch {
            await running.shutdown()
            throw error
        }
        await running.shutdown()
        if secret == nil {
            world.say("Anybody who can read this folder can read your keys: there is no passphrase")
        }
        world.advise("Next: parley run")
    }

    /// Waits until nothing more comes, and shows progress. Returns whether everything is there.
    private static func fetch(
        from node: any NodeService, within seconds: Int
    ) async throws -> Bool {
        let world = World.current
        let deadline = ContinuousClock.now + .seconds(seconds)
        var shown = -1
        var quietCount = 0
        while ContinuousClock.now < deadline {
            let status = try await node.perform(GetStatus())
            if status.isDiskFull {
                throw NodeError(
                    "disk-full",
                    "The disk is full: this is a device of yours now, but it has no space "
                        + "for all that the others hold.",
                    hint: "Free some space; then `parley run` fetches the rest.")
            }
            if world.talk.isTerminal, status.operationCount != shown {
                shown = status.operationCount
                world.sayInPlace(
                    counted(status.conversationCount, "conversation") + ", \(shown) operations")
            }
            // One space may be done before the next is begun: only a while without anything counts.
            quietCount = status.isCatchingUp ? 0 : quietCount + 1
            if quietCount == 8 {
                if world.talk.isTerminal { world.sayInPlace("") }
                return true
            }
            // A person watches: often enough to look alive.
            try await Task.sleep(for: .milliseconds(200))
        }
        return false
    }
}

struct DeviceRename: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "give a device of yours a name",
        discussion: """
            Only your own devices see the name.

            Example:
              parley device rename 3fa9c41b phone
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its name, or the start of its identifier")
    var device: String
    @Argument(help: "the new name")
    var name: String

    func validate() throws {
        try Check.name(device, "a device")
        try Check.name(name, "a name")
    }

    func run(with node: any NodeService) async throws {
        try await node.perform(RenameDevice(device: device, name: name))
        let devices = try await node.perform(ListDevices())
        try Output.show(devices, json: output.json, as: DeviceList.text(devices))
    }
}

extension DeviceView {
    /// Its name, or else how its identifier begins.
    var shown: String { name.isEmpty ? String(device.prefix(12)) : name }
}
