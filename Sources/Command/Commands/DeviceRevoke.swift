import ArgumentParser
import Parley

struct DeviceRevoke: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "revoke a device of yours, for good",
        discussion: """
            From then on it gets nothing new, and nobody accepts anything from it that this device \
            does not have by then: so that is fetched first, for some seconds, where relays or \
            people are reached. --now does without, for a device in the wrong hands. It keeps \
            what it has, so take the device away from whoever holds it. To revoke a device that is \
            not junior to this one, you need the recovery code. No device revokes itself: if you \
            lost your only one, `parley recover` makes another, and revokes it. On a terminal you \
            are asked first.

            Example:
              parley device revoke phone
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its name, or the start of its identifier")
    var device: String
    @Option(
        name: .long,
        help: ArgumentHelp("a file that holds the recovery code", valueName: "file"),
        completion: .file())
    var codeFile: String?
    @Flag(name: .long, help: "do not ask")
    var yes = false
    @Flag(name: .long, help: "do not fetch first what it wrote")
    var now = false

    func validate() throws { try Check.name(device, "a device") }

    func run(with node: any NodeService) async throws {
        let code = try codeFile.map { try RecoveryText.read(file: $0) }
        let world = World.current
        // Of an only device the answer would make no difference.
        let isOnly = try await node.perform(ListDevices()).count { $0.state != "revoked" } == 1
        if world.isInputTerminal, !yes, !isOnly,
            !world.agrees("Revoke “\(harmless(device))” for good? This cannot be undone.")
        {
            throw NodeError("not-agreed", "Nothing was changed.")
        }
        let hasMet = if now || isOnly { true } else { try await fetchWhatItWrote(from: node) }
        let former = try await node.perform(GetProfile()).name
        try await node.perform(RevokeDevice(device: device, recoveryCode: code))
        let name = try await node.perform(GetProfile()).name
        if name != former {
            let said =
                "Others call you “\(harmless(name))” again, not “\(harmless(former))”, the "
                + "name that that device set."
            try await world.say(said, way: "`parley name NAME` sets another name.", on: node)
        }
        if !hasMet {
            world.say(
                "notice: nobody was reached: what “\(harmless(device))” wrote and this device does not "
                    + "have, nobody will see")
        }
        let devices = try await node.perform(ListDevices())
        try Output.show(devices, json: output.json, as: DeviceList.text(devices))
    }

    /// Waits until what others have is here, as far as it is under way. Returns whether anybody was
    /// reached, or there is nobody to reach.
    private func fetchWhatItWrote(from node: any NodeService) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(Self.fetchSecondsMax)
        let begun = try await node.perform(GetStatus()).receivedByteCount
        var quietCount = 0
        while true {
            let status = try await node.perform(GetStatus())
            let relays = try await node.perform(ListRelays()).map(\.state)
            let isOver = ContinuousClock.now >= deadline || status.isOffline
            let isBusy =
                status.isCatchingUp || relays.contains { ["connecting", "reading"].contains($0) }
            quietCount = isBusy ? 0 : quietCount + 1
            // A node that was opened for this alone has yet to call anybody.
            if isOver || quietCount >= (status.isRunning ? 1 : Self.quietCountMin) {
                // What came before tells nothing of now: a node may have run for days.
                let isReached =
                    !status.links.isEmpty || status.receivedByteCount > begun
                    || relays.contains("connected")
                return isReached && !status.isOffline || status.conversationCount == 0
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Whoever revokes a device may be in a hurry.
    private static let fetchSecondsMax = 10

    /// For so long, in fifths of a second, nothing has to come.
    private static let quietCountMin = 15
}
