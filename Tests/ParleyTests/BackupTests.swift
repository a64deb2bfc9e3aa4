import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire
import Testing

@testable import Parley

@Suite("A backup")
struct BackupTests {
    /// A node with some history, its recovery code, and a backup of it.
    struct Case {
        let folder: TemporaryFolder
        let code: String
        let file: String
        let report: BackupReport

        init(messageCount: Int = 40) async throws {
            folder = try TemporaryFolder()
            let (node, code) = try await Node.create(
                NodeSettings(home: folder.home("old")), name: "ann")
            self.code = code
            try await node.perform(CreateConversation(name: "notes", members: []))
            let texts = (0..<messageCount).map { "zucchini number \($0)" }
            try await node.perform(SendMessages(conversation: "notes", texts: texts))
            let first = try await node.perform(ReadMessages(conversation: "notes", limit: 1))
            if let message = first.messages.first {
                try await node.perform(
                    ReactToMessage(message: MessageReference(message.number), emoji: "🥒", on: true))
            }
            file = folder.path + "/backup"
            report = try await node.perform(CreateBackup(file: file, replacing: false))
            await node.shutdown()
        }

        func refusal(_ bytes: Data) throws -> String? {
            try bytes.write(to: URL(filePath: file))
            do {
                _ = try Node.verifyBackup(file: file, code: code)
                return nil
            } catch let error as NodeError {
                #expect(!error.message.isEmpty)
                return error.code
            }
        }
    }

    @Test("becomes a new device that shows the same, with keys of its own")
    func restore() async throws {
        let made = try await Case()
        let checked = try Node.verifyBackup(file: made.file, code: made.code)
        #expect(checked == made.report)
        #expect(checked.operationCount > 40 && checked.conversationCount == 1)
        let old = try await Node.open(NodeSettings(home: made.folder.home("old")))
        let (new, report) = try await Node.restore(
            NodeSettings(home: made.folder.home("new")), backup: made.file,
            recoveryCode: made.code.lowercased())
        let (before, after) = (
            try await old.perform(GetStatus()), try await new.perform(GetStatus())
        )
        #expect(report.revokedDevices == [before.device] && report.keptDevices.isEmpty)
        #expect(after.person == before.person && after.device != before.device)
        #expect(after.name == "ann" && after.recoveryCheckTime != nil)
        #expect(after.readOnlyReason == nil)
        #expect(
            try await new.perform(ListDigests()).map(\.digest)
                == old.perform(ListDigests()).map(\.digest))
        #expect(try await new.perform(CheckStore()).checks.allSatisfy(\.isFine))
        await old.shutdown()
        await new.shutdown()
        // A second backup, of the new device, is as good.
        let again = try await Node.open(NodeSettings(home: made.folder.home("new")))
        let second = try await again.perform(
            CreateBackup(file: made.folder.path + "/second", replacing: false))
        #expect(second.device == report.device)
        _ = try Node.verifyBackup(file: second.file, code: made.code)
        await again.shutdown()
    }

    @Test("of somebody who has left a conversation keeps what they had of it")
    func left() async throws {
        let folder = try TemporaryFolder()
        let (old, code) = try await Node.create(
            NodeSettings(home: folder.home("old")), name: "ann")
        try await old.perform(CreateConversation(name: "trip", members: []))
        try await old.perform(SendMessages(conversation: "trip", texts: ["packed", "gone"]))
        try await old.perform(LeaveGroup(conversation: "trip"))
        let file = folder.path + "/backup"
        try await old.perform(CreateBackup(file: file, replacing: false))
        let digests = try await old.perform(ListDigests()).map(\.digest)
        let cursor = try await old.perform(ReadChanges(limit: 1)).cursor
        await old.shutdown()
        let (new, _) = try await Node.restore(
            NodeSettings(home: folder.home("new")), backup: file, recoveryCode: code)
        #expect(try await new.perform(ListDigests()).map(\.digest) == digests)
        // A program that followed the old device hears of what the new one came with.
        let told = try await new.perform(ReadChanges(after: cursor, limit: 9)).changes
        #expect(told.first?.missed == "foreign")
        #expect(told.contains { $0.kind == "refolded" })
        let page = try await new.perform(ReadMessages(conversation: "trip", limit: 9))
        #expect(page.messages.map(\.text) == ["packed", "gone"])
        #expect(try await new.perform(CheckStore()).checks.allSatisfy(\.isFine))
        await new.shutdown()
    }

    @Test("keeps the devices that are named, and none that nobody has")
    func keep() async throws {
        let made = try await Case(messageCount: 1)
        let device = made.report.device
        for argument in ["ffffffff", "12", ""] {
            await #expect(throws: NodeError.self) {
                _ = try await Node.restore(
                    NodeSettings(home: made.folder.home("new")), backup: made.file,
                    recoveryCode: made.code, keep: [argument])
            }
            #expect(!Node.exists(at: made.folder.home("new")))
        }
        let (new, report) = try await Node.restore(
            NodeSettings(home: made.folder.home("new")), backup: made.file,
            recoveryCode: made.code, keep: [String(device.prefix(8))])
        #expect(report.revokedDevices.isEmpty && report.keptDevices == [device])
        await new.shutdown()
    }

    @Test("that is cut, flipped, or somebody else's is refused, and leaves no home behind")
    func damaged() async throws {
        let made = try await Case(messageCount: 400)
        let good = try Data(contentsOf: URL(filePath: made.file))
        for count in [0, 3, 60, 61, 100, good.count / 2, good.count - 1] {
            #expect(
                ["damaged-backup", "no-backup"].contains(try made.refusal(good.prefix(count))),
                "\(count) bytes")
        }
        for place in [0, 4, 20, 25, 40, 61, 5000, good.count - 1] {
            var bad = good
            bad[place] ^= 4
            let code = try made.refusal(bad)
            #expect(
                ["no-backup", "newer", "another-code", "damaged-backup"].contains(code),
                "byte \(place): \(code ?? "taken")")
        }
        // The last try left a damaged file: it makes no home.
        await #expect(throws: NodeError.self) {
            _ = try await Node.restore(
                NodeSettings(home: made.folder.home("new")), backup: made.file,
                recoveryCode: made.code)
        }
        #expect(!Node.exists(at: made.folder.home("new")))
        let left = try FileManager.default.contentsOfDirectory(atPath: made.folder.home("new"))
        #expect(left.allSatisfy { $0 == "lock" }, "\(left)")
        try good.write(to: URL(filePath: made.file))
        let (other, otherCode) = try await Node.create(
            NodeSettings(home: made.folder.home("other")), name: "eve")
        await other.shutdown()
        #expect(throws: NodeError.self) {
            try Node.verifyBackup(file: made.file, code: otherCode)
        }
        #expect(throws: NodeError.self) {
            try Node.verifyBackup(file: made.file, code: String(made.code.dropLast()))
        }
        #expect(try made.refusal(good) == nil)
    }

    @Test("replaces an older backup of the same person where that is asked for, and nothing else")
    func places() async throws {
        let made = try await Case(messageCount: 1)
        let node = try await Node.open(NodeSettings(home: made.folder.home("old")))
        let letter = made.folder.path + "/letter"
        try Data("Dear Ben".utf8).write(to: URL(filePath: letter))
        for place in [letter, made.folder.path, made.folder.path + "/no/such/folder", "/dev/null"] {
            await #expect(throws: NodeError.self) {
                try await node.perform(CreateBackup(file: place, replacing: false))
            }
        }
        #expect(try Data(contentsOf: URL(filePath: letter)) == Data("Dear Ben".utf8))
        let first = try Data(contentsOf: URL(filePath: made.file))
        let kept = await #expect(throws: NodeError.self) {
            try await node.perform(CreateBackup(file: made.file, replacing: false))
        }
        #expect(kept?.code == "older-backup" && kept?.hint?.contains("--replace") == true)
        #expect(try Data(contentsOf: URL(filePath: made.file)) == first)
        try await node.perform(CreateBackup(file: made.file, replacing: true))
        #expect(try Data(contentsOf: URL(filePath: made.file)) != first)
        // Of another person, whatever is said: neither the file, nor what its writing has left.
        let (other, _) = try await Node.create(
            NodeSettings(home: made.folder.home("other")), name: "ben")
        let before = try Data(contentsOf: URL(filePath: made.file))
        try before.write(to: URL(filePath: letter + ".bak.new"))
        for (place, code) in [
            (made.file, "backup-of-another"), (letter + ".bak", "home"),
        ] {
            let refused = await #expect(throws: NodeError.self) {
                try await other.perform(CreateBackup(file: place, replacing: true))
            }
            #expect(refused?.code == code, "\(place)")
        }
        #expect(try Data(contentsOf: URL(filePath: made.file)) == before)
        #expect(try Data(contentsOf: URL(filePath: letter + ".bak.new")) == before)
        await other.shutdown()
        #expect(!FileManager.default.fileExists(atPath: made.file + ".new"))
        let permissions = try FileManager.default.attributesOfItem(atPath: made.file)
        #expect(permissions[.posixPermissions] as? Int == 0o600)
        await node.shutdown()
    }

    /// Puts a false signature over the messages of a home, in the place of all that are over them.
    private func spoil(_ home: String) throws -> LogRecord {
        let store = try SQLiteStore.open(home: Home(home), unlock: .keyFile)
        let log = try #require(
            try store.spaces().flatMap { try store.logs(in: $0.number) }
                .first { $0.lane == .content && $0.heldCount >= 40 })
        try store.transact(.full) {
            let last = log.end - 1
            let heads = try store.heads(in: log.number, 0...last).map(\.sequence)
            try store.keepOnly(log.spans, withoutHeads: heads, of: log.number)
            let signature = try #require(SignatureBytes([UInt8](repeating: 1, count: 64)))
            try store.addHead(SignedHead(sequence: last, signature: signature), in: log.number)
        }
        try store.close()
        return log
    }

    @Test("leaves out what nothing proves where it is made, says how much, and opens")
    func unproven() async throws {
        let made = try await Case()
        let home = made.folder.home("old")
        let log = try spoil(home)
        let node = try await Node.open(NodeSettings(home: home))
        let file = made.folder.path + "/second"
        let report = try await node.perform(CreateBackup(file: file, replacing: false))
        await node.shutdown()
        #expect(report.unsignedCount == log.heldCount)
        #expect(report.operationCount == made.report.operationCount - log.heldCount)
        let opened = try Node.verifyBackup(file: file, code: made.code)
        #expect(opened.operationCount == report.operationCount)
        #expect(opened.logCount == report.logCount)
    }

    @Test("holds no word of any message, and no key of any device")
    func secrecy() async throws {
        let made = try await Case()
        let bytes = try Data(contentsOf: URL(filePath: made.file))
        for word in ["zucchini", "notes", "ann"] {
            #expect(bytes.range(of: Data(word.utf8)) == nil)
        }
        for entry in try FileManager.default.contentsOfDirectory(
            atPath: made.folder.home("old"))
        {
            let file = made.folder.home("old") + "/" + entry
            guard let kept = try? Data(contentsOf: URL(filePath: file)) else { continue }
            #expect(kept.range(of: Data("zucchini".utf8)) == nil, "\(entry)")
            #expect(kept.range(of: Data(made.code.utf8)) == nil, "\(entry)")
        }
    }

    @Test("is begun anew where it was cut off")
    func cutOff() async throws {
        let made = try await Case(messageCount: 3)
        let home = made.folder.home("new")
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: true)
        for file in ["unfinished", "database", "keystore"] {
            try Data("1\n".utf8).write(to: URL(filePath: home + "/" + file))
        }
        let code = await #expect(throws: NodeError.self) {
            _ = try await Node.open(NodeSettings(home: home))
        }?.code
        #expect(code == "unfinished")
        let (new, _) = try await Node.restore(
            NodeSettings(home: home), backup: made.file, recoveryCode: made.code)
        await new.shutdown()
        let again = try await Node.open(NodeSettings(home: home))
        #expect(try await again.perform(ListConversations()).map(\.name) == ["notes"])
        await again.shutdown()
        await #expect(throws: NodeError.self) {
            _ = try await Node.restore(
                NodeSettings(home: home), backup: made.file, recoveryCode: made.code)
        }
    }
}

@Suite("The recovery code")
struct RecoveryTests {
    @Test("is asked back once, and status reminds until it was")
    func check() async throws {
        let folder = try TemporaryFolder()
        let settings = NodeSettings(home: folder.home("ann"))
        let (node, code) = try await Node.create(settings, name: "ann")
        let reminder = "recovery check"
        #expect(try await node.perform(GetStatus()).warnings.contains { $0.contains(reminder) })
        let (other, otherCode) = try await Node.create(
            NodeSettings(home: folder.home("ben")), name: "ben")
        await other.shutdown()
        let wrong = try NoteRecoveryCode(ofRecoveryCode: otherCode)
        await #expect(throws: NodeError.self) {
            _ = try await node.perform(wrong)
        }
        let keys = try NoteRecoveryCode(ofRecoveryCode: code.replacing("-", with: " "))
        // A program of the same user that knows the root, and names a key of its own.
        for (key, signature) in [
            (wrong.backupKey, wrong.signature), (wrong.backupKey, keys.signature),
            (keys.backupKey, wrong.signature), (keys.backupKey, ""),
        ] {
            let error = await #expect(throws: NodeError.self) {
                try await node.perform(
                    NoteRecoveryCode(root: keys.root, backupKey: key, signature: signature))
            }
            #expect(error?.code == "bad-code")
        }
        #expect(try await node.perform(GetStatus()).recoveryCheckTime == nil)
        let finding = try await node.perform(keys)
        #expect(finding == .known)
        await node.shutdown()
        let again = try await Node.open(settings)
        #expect(try await again.perform(GetStatus()).recoveryCheckTime != nil)
        #expect(try await !again.perform(GetStatus()).warnings.contains { $0.contains(reminder) })
        await again.shutdown()
    }

    /// A home whose note of the key for backups says this.
    private func planted(_ bytes: [UInt8], in home: String) throws {
        let store = try SQLiteStore.open(home: Home(home), unlock: .keyFile)
        try store.transact(.full) {
            try store.setValue(bytes, .profile, Array("backup key".utf8))
        }
        try store.close()
    }

    @Test("replaces a key for backups that is not the code's; until then no backup is made")
    func plantedKey() async throws {
        let folder = try TemporaryFolder()
        let settings = NodeSettings(home: folder.home("ann"))
        let (first, text) = try await Node.create(settings, name: "ann")
        await first.shutdown()
        var random = SystemRandom()
        let (code, thief) = (try RecoveryCode(typed: text), RecoveryCode.generate(using: &random))
        let keys = try NoteRecoveryCode(ofRecoveryCode: text)
        for (bytes, finding) in [
            (thief.backupKey.publicKey.bytes, BackupKeyFinding.replaced),
            (thief.backupCertificate.bytes, .replaced),
            (thief.backupKey.publicKey.bytes + code.backupCertificate.signature.bytes, .replaced),
            // The right one, noted before keys were signed.
            (code.backupKey.publicKey.bytes, .added),
            (code.backupCertificate.bytes, .known),
        ] {
            try planted(bytes, in: settings.home)
            let node = try await Node.open(settings)
            let file = folder.path + "/backup-\(finding)"
            if finding != .known {
                let error = await #expect(throws: NodeError.self) {
                    try await node.perform(CreateBackup(file: file, replacing: true))
                }
                #expect(error?.code == "no-backup-key")
                #expect(error?.hint?.contains("recovery check") == true)
                let warnings = try await node.perform(GetStatus()).warnings
                #expect(warnings.contains { $0.hasPrefix("Backups are not possible yet") })
            }
            #expect(
                try await node.perform(keys)
                    == finding)
            #expect(
                try await !node.perform(GetStatus()).warnings.contains {
                    $0.hasPrefix("Backups are not possible yet")
                })
            try await node.perform(CreateBackup(file: file, replacing: true))
            #expect(try Node.verifyBackup(file: file, code: text).name == "ann")
            await node.shutdown()
        }
    }

    @Test("that is mistyped is told where")
    func mistyped() {
        for text in ["", "abc", String(repeating: "0", count: 56), "U000"] {
            let error = #expect(throws: NodeError.self) {
                try NoteRecoveryCode(ofRecoveryCode: text)
            }
            #expect(error?.code == "bad-code" && error?.hint != nil)
        }
    }
}

@Suite("Coming back with the recovery code alone", .timeLimit(.minutes(4)))
struct RecoverTests {
    @Test("a friend tells who one was; the new device is certified, the lost one revoked")
    func friend() async throws {
        let folder = try TemporaryFolder()
        let (ann, code) = try await Node.create(
            NodeSettings(home: folder.home("ann")), name: "ann")
        let (ben, benCode) = try await Node.create(
            NodeSettings(home: folder.home("ben")), name: "ben")
        try await ben.start(listen: ["127.0.0.1:0"])
        try await ann.start(listen: ["127.0.0.1:0"])
        try await ann.perform(AcceptInvite(link: ben.perform(CreateInvite(hours: 1)).link))
        try await eventually("they meet", on: ann) {
            try await $0.perform(ListConversations()).contains { $0.name == "ben" }
        }
        try await eventually("ben has her card", on: ben) {
            try await $0.perform(ListContacts()).map(\.name) == ["ann"]
        }
        let lost = try await ann.perform(GetStatus())
        await ann.shutdown()
        let link = try await ben.perform(CreateInvite(hours: 1)).link
        let found = try await Node.find(recoveryCode: code, from: link)
        #expect(found.name == "ann" && found.devices == [lost.device])
        let (again, report) = try await Node.recover(
            NodeSettings(home: folder.home("again")), recoveryCode: code, found: found)
        #expect(report.person == lost.person && report.revokedDevices == [lost.device])
        try await again.start(listen: ["127.0.0.1:0"])
        try await eventually("ben is a contact again", on: again) {
            try await $0.perform(ListContacts()).contains {
                $0.name == "ben" && $0.state == "accepted"
            }
        }
        // Nobody was made a contact by the question, and nobody looks compromised.
        #expect(try await ben.perform(ListContacts()).map(\.name) == ["ann"])
        #expect(try await ben.perform(GetStatus()).forkedDevices.isEmpty)
        // Once more: what ben knows by now is learnt first, so the root signs no place twice.
        await again.shutdown()
        let later = try await Node.find(
            recoveryCode: code, from: ben.perform(CreateInvite(hours: 1)).link)
        #expect(later.devices == [report.device])
        #expect(
            await #expect(throws: NodeError.self) {
                _ = try await Node.recover(
                    NodeSettings(home: folder.home("third")), recoveryCode: benCode, found: later)
            }?.code == "another-code")
        await ben.shutdown()
    }

    @Test("a stranger tells nothing, and who is not there is told apart")
    func strangers() async throws {
        let folder = try TemporaryFolder()
        let (ann, code) = try await Node.create(
            NodeSettings(home: folder.home("ann")), name: "ann")
        await ann.shutdown()
        let (ben, _) = try await Node.create(
            NodeSettings(home: folder.home("ben")), name: "ben")
        try await ben.start(listen: ["127.0.0.1:0"])
        let link = try await ben.perform(CreateInvite(hours: 1)).link
        func refusal(_ link: String) async -> String? {
            await #expect(throws: NodeError.self) {
                _ = try await Node.find(recoveryCode: code, from: link)
            }?.code
        }
        #expect(await refusal(link) == "not-known")
        #expect(await refusal("parley:1:nonsense") == "bad-link")
        await ben.shutdown()
        #expect(await refusal(link) == "not-reached")
        // Nobody can say that the card is not on a relay that was not asked.
        var relayed = try Invite(link: link)
        let relay = try #require(NoiseKey([UInt8](repeating: 9, count: 32)))
        relayed.place = .relay(relay, addresses: ["127.0.0.1:1"])
        #expect(await refusal(relayed.link) == "not-reached")
    }
}
