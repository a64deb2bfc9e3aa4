import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ann with a laptop, and ben; each in a process of its own, over TCP.
@Suite("Devices in processes of their own", .serialized, .timeLimit(.minutes(3)))
struct DeviceProcessTests {
    /// The newest texts of ann's and ben's conversation.
    private func texts(_ node: NodeClient, _ conversation: String) async throws -> [String] {
        try await node.perform(ReadMessages(conversation: conversation, limit: 200))
            .messages.compactMap(\.text)
    }

    @Test("a phone linked later gets the history, both write on, and revoked it reads nothing new")
    func phone() async throws {
        let pair = try await ProcessPair()
        let (laptop, ben) = (
            try #require(await pair.ann.client), try #require(await pair.ben.client)
        )
        let history = (1...150).map { "line \($0)" }
        try await ben.perform(SendMessages(conversation: "ann", texts: history))
        try await eventually("the laptop has it", on: [pair.ann]) {
            try await laptop.perform(ReadMessages(conversation: "ben", limit: 200))
                .messages.count == 150
        }
        let home = try await pair.linkPhone(to: pair.ann)
        let phone = NodeProcess(home: home, address: "127.0.0.1:\(try FreePort.some())")
        let client = try await phone.start()
        // It knows what backups are sealed to, and nothing that opens them.
        let backup = pair.folder.path + "/backup"
        #expect(try await client.perform(CreateBackup(file: backup)).name == "ann")
        let code = pair.folder.path + "/code"
        try Data(try #require(pair.ann.recoveryCode).utf8).write(to: URL(filePath: code))
        #expect(try await Program.run("backup", "verify", backup, "--code-file", code).status == 0)
        #expect(try await texts(client, "ben") == history)
        try await client.perform(SendMessages(conversation: "ben", texts: ["from the phone"]))
        try await laptop.perform(SendMessages(conversation: "ben", texts: ["from the laptop"]))
        try await eventually("all three agree", on: [pair.ann, pair.ben, phone]) {
            let digests = [
                try await laptop.perform(ListDigests()), try await ben.perform(ListDigests()),
                try await client.perform(ListDigests()),
            ]
            let isAlike = Set(digests.map { Set($0.map(\.digest)) }).count == 1
            let count = try await texts(ben, "ann").count
            return isAlike && digests[0].count == 2 && count == 152
        }
        let machine = String(ProcessInfo.processInfo.hostName.prefix(60))
        #expect(Set(try await laptop.perform(ListDevices()).map(\.name)) == [machine, "phone"])
        try await laptop.perform(RevokeDevice(device: "phone"))
        let old = try await pair.ann.run("device", "rename", "phone", "lost").output
        #expect(old.contains("was already revoked"), "\(old)")
        try await eventually("the phone knows", on: [phone]) {
            try await client.perform(GetStatus()).readOnlyReason?.contains("revoked") == true
        }
        try await ben.perform(SendMessages(conversation: "ann", texts: ["not for thieves"]))
        try await eventually("the laptop has it", on: [pair.ann]) {
            try await texts(laptop, "ben").contains("not for thieves")
        }
        // It comes back as it was, and asks everybody again.
        #expect(try await phone.stop() == 0)
        let thief = try await phone.start()
        try await ben.perform(SendMessages(conversation: "ann", texts: ["nor this"]))
        try await eventually("the laptop has it", on: [pair.ann]) {
            try await texts(laptop, "ben").contains("nor this")
        }
        #expect(try await !texts(thief, "ben").contains { $0.hasPrefix("no") })
        #expect(try await laptop.perform(ListDevices()).contains { $0.state == "revoked" })
        let error = await #expect(throws: NodeError.self) {
            try await thief.perform(SendMessages(conversation: "ben", texts: ["x"]))
        }
        #expect(error?.code == "revoked")
        for node in [pair.ann, pair.ben, phone] { #expect(try await node.stop() == 0) }
    }

    @Test("the name that a device gave is gone when it is revoked, and that is said")
    func revokedName() async throws {
        let pair = try await ProcessPair()
        let laptop = try #require(await pair.ann.client)
        let own = try await laptop.perform(GetStatus()).device
        let only = "error: This is your only device, and no device revokes itself"
        let alone = try await pair.ann.run("device", "revoke", own)
        #expect(alone.status == 1 && alone.output.contains(only), "\(alone.output)")
        let home = try await pair.linkPhone(to: pair.ann)
        let phone = NodeProcess(home: home, address: "127.0.0.1:\(try FreePort.some())")
        let client = try await phone.start()
        let oneOfTwo = try await pair.ann.run("device", "revoke", own).output
        #expect(oneOfTwo.contains("error: A device cannot revoke itself"), "\(oneOfTwo)")
        try await client.perform(RenameSelf(name: "Annika"))
        try await eventually("the laptop knows the name", on: [pair.ann, phone]) {
            try await laptop.perform(GetStatus()).name == "Annika"
        }
        let said = try await pair.ann.run("device", "revoke", "phone").output
        #expect(
            said.contains(
                "Others call you “ann” again, not “Annika”, the name that that device set."),
            "\(said)")
        #expect(try await laptop.perform(GetStatus()).name == "ann")
        #expect(try await pair.ann.run("device", "revoke", own).output.contains(only))
        try await eventually("the phone knows what others call her", on: [phone]) {
            let status = try await client.perform(GetStatus())
            return status.readOnlyReason?.contains("revoked") == true && status.name == "ann"
        }
        for node in [pair.ann, pair.ben, phone] { #expect(try await node.stop() == 0) }
    }

    @Test("what a revoked device wrote and no other has can be sent by another, and only that")
    func sentAgain() async throws {
        let pair = try await ProcessPair()
        let home = try await pair.linkPhone(to: pair.ann)
        let phone = NodeProcess(home: home, address: "127.0.0.1:\(try FreePort.some())")
        let client = try await phone.start()
        let laptop = try #require(await pair.ann.client)
        #expect(try await pair.ben.stop() == 0)
        try await eventually("the phone writes", on: [phone]) {
            try await phone.run("send", "ben", "on the laptop").status == 0
        }
        try await eventually("the laptop has it", on: [pair.ann]) {
            try await texts(laptop, "ben") == ["on the laptop"]
        }
        try await client.perform(SetOffline(on: true))
        try await client.perform(SendMessages(conversation: "ben", texts: ["here alone"]))
        try await laptop.perform(RevokeDevice(device: "phone"))
        try await client.perform(SetOffline(on: false))
        try await eventually("the phone knows", on: [phone]) {
            try await client.perform(GetStatus()).readOnlyReason?.contains("revoked") == true
        }
        let shown = try await phone.run("outbox", "--stranded").output
        #expect(shown.contains("here alone") && shown.contains("may have arrived"), "\(shown)")
        // What is typed on another device names no home of this one.
        #expect(shown.contains("“parley send CONVERSATION --stranded said.json”"), "\(shown)")
        let json = try await phone.run("outbox", "--stranded", "--json").output
        let line = try #require(json.split(separator: "\n").first { $0.hasPrefix("[{") })
        let said = pair.folder.path + "/said.json"
        try Data(line.utf8).write(to: URL(filePath: said))
        let sent = try await pair.ann.run("send", "ben", "--stranded", said)
        #expect(sent.status == 0 && sent.output.contains("saved 1 message"), "\(sent.output)")
        let words = "notice: 1 message left out: this device has what arrived"
        #expect(sent.output.contains(words), "\(sent.output)")
        #expect(try await texts(laptop, "ben") == ["on the laptop", "here alone"])
        for node in [pair.ann, phone] { #expect(try await node.stop() == 0) }
    }

    @Test("one that came back beside another gets a name once that lets it in")
    func namedLater() async throws {
        let pair = try await ProcessPair()
        let phone = NodeProcess(
            home: try await pair.linkPhone(to: pair.ann),
            address: "127.0.0.1:\(try FreePort.some())")
        let kept = try await phone.start().perform(GetStatus()).device
        #expect(try await pair.ann.stop() == 0)
        let code = pair.folder.path + "/code"
        try Data(try #require(pair.ann.recoveryCode).utf8).write(to: URL(filePath: code))
        let ben = try #require(await pair.ben.client)
        let invite = try await ben.perform(CreateInvite(hours: 1)).link
        let again = NodeProcess(
            home: pair.folder.home("again"), address: "127.0.0.1:\(try FreePort.some())")
        let recovered = try await again.run(
            "recover", "--code-file", code, "--from", invite, "--keep", kept, "--yes")
        #expect(recovered.status == 0, "\(recovered.output)")
        let client = try await again.start()
        try await eventually("it has a name", on: [again, phone]) {
            try await client.perform(ListDevices()).first(where: \.isThis)?.name.isEmpty == false
        }
        for node in [again, phone, pair.ben] { #expect(try await node.stop() == 0) }
    }

    @Test("a device that tells a new one who they are is not revoked by it unasked")
    func ownInvite() async throws {
        let folder = try TemporaryFolder()
        let ann = try await NodeProcess(
            home: folder.home("ann"), name: "ann", port: try FreePort.some())
        let client = try await ann.start()
        let code = folder.path + "/code"
        try Data(try #require(ann.recoveryCode).utf8).write(to: URL(filePath: code))
        let invite = try await client.perform(CreateInvite(hours: 1)).link
        let device = String(try await client.perform(GetStatus()).device.prefix(12))
        let home = folder.home("again")
        func recover(_ more: String...) async throws -> (status: Int32, output: String) {
            try await NodeProcess(home: home, address: "127.0.0.1:\(try FreePort.some())").run(
                ["recover", "--code-file", code, "--from", invite, "--yes"] + more)
        }
        let refused = try await recover()
        #expect(refused.status == 1, "\(refused.output)")
        #expect(refused.output.contains("a device of your own"), "\(refused.output)")
        #expect(refused.output.contains("Add --keep DEVICE"), "\(refused.output)")
        #expect(refused.output.contains("`\(device)`"), "\(refused.output)")
        let kept = try await recover("--keep", device)
        #expect(kept.status == 0, "\(kept.output)")
        #expect(try await ann.stop() == 0)
    }

    @Test("a node that runs and listens nowhere says so to who wants to link a device")
    func listensNowhere() async throws {
        let folder = try TemporaryFolder()
        let ann = try await NodeProcess(
            home: folder.home("ann"), name: "ann", port: try FreePort.some())
        let away = try await ann.run("device", "link")
        #expect(away.status == 1 && away.output.contains("is not running"), "\(away.output)")
        try await ann.start(isHidden: true)
        let refused = try await ann.run("device", "link")
        #expect(refused.status == 1, "\(refused.output)")
        #expect(refused.output.contains("is running but does not listen"), "\(refused.output)")
        #expect(
            refused.output.contains("`parley run --home \(ann.home)` without --no-listen"),
            "\(refused.output)")
        #expect(try await ann.stop() == 0)
        try await ann.start()
        let link = try Program(["device", "link", "--home", ann.home])
        try await link.says("waiting for")
        link.signal(SIGKILL)
        #expect(try await ann.stop() == 0)
    }
}

extension ProcessPair {
    /// Links a phone by the two programs that a person would use; returns its home.
    func linkPhone(to owner: NodeProcess, named name: String = "phone") async throws -> String {
        try await linkedPhone(to: owner, named: name).home
    }

    /// The same, with what the new device said.
    func linkedPhone(
        to owner: NodeProcess, named name: String = "phone"
    ) async throws -> (home: String, said: String) {
        let link = try Program(["device", "link", "--home", owner.home])
        try await link.says("waiting for")
        let text = try #require(
            link.output.split(separator: "\n").first { $0.hasPrefix("parley-") })
        let home = folder.home(name)
        let accepted = try await Program.run(
            "device", "accept-link", String(text), "--home", home, "--name", name)
        #expect(accepted.status == 0 && accepted.output.contains("everything is here"))
        #expect(try await link.ended() == 0)
        #expect(link.output.contains("\(name) is your device now"))
        let again = try await Program.run(
            "device", "accept-link", String(text), "--home", folder.home("thief"))
        #expect(again.status == 1 && again.output.contains("refused"))
        return (home, accepted.output)
    }
}
