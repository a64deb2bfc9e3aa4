import Foundation
import Testing

@testable import Parley

/// Source: `Protocol/05-identity.md`, "Backups".
@Suite("A backup of somebody who sent files")
struct BackupFileTests {
    private static let content = (0..<300_000).map {
        UInt8(truncatingIfNeeded: $0 * 31 + $0 >> 8)
    }

    /// A node that sent one file to itself, and its recovery code.
    private static func sender(in folder: TemporaryFolder) async throws -> (Node, code: String) {
        let (node, code) = try await Node.create(
            NodeSettings(home: folder.home("old")), name: "ann")
        try await node.perform(CreateConversation(name: "notes", members: []))
        let path = folder.home("holiday")
        try Data(content).write(to: URL(filePath: path))
        var file = try await node.perform(StageFile(path: path))
        while !file.isReady {
            try #require(file.failure == nil)
            await Task.yield()
            file = try await node.perform(GetStagedFile(ticket: file.ticket))
        }
        var message = SendMessages(conversation: "notes", texts: ["the way we went"])
        message.files = [file.ticket]
        try await node.perform(message)
        return (node, code)
    }

    private static func file(at node: Node) async throws -> MessageView? {
        try await node.perform(ListFiles(conversation: "notes")).entries.first?.message
    }

    private static func content(at node: Node) async throws -> [UInt8] {
        let message = try #require(try await file(at: node))
        let bytes = try await node.perform(
            ReadFile(message: MessageReference(message.number), offset: 0, count: content.count))
        return [UInt8](try #require(Data(base64Encoded: bytes.base64)))
    }

    @Test(
        "brings what nobody else has back, whole",
        arguments: [BackupFiles.needed, .all])
    func restored(choice: BackupFiles) async throws {
        let folder = try TemporaryFolder()
        let (old, code) = try await Self.sender(in: folder)
        let backup = folder.path + "/backup"
        let made = try await old.perform(
            CreateBackup(file: backup, replacing: false, files: choice))
        await old.shutdown()
        #expect(made.fileCount == 1)
        #expect(try Node.verifyBackup(file: backup, code: code).fileCount == 1)
        let (new, _) = try await Node.restore(
            NodeSettings(home: folder.home("new")), backup: backup, recoveryCode: code)
        #expect(try await Self.content(at: new) == Self.content)
        #expect(try await new.perform(CheckStore()).checks.allSatisfy(\.isFine))
        // What came with a backup goes into the next one.
        let again = try await new.perform(
            CreateBackup(file: folder.path + "/second", replacing: false))
        #expect(again.fileCount == 1)
        await new.shutdown()
    }

    @Test("without files says so, is smaller, and brings their messages all the same")
    func without() async throws {
        let folder = try TemporaryFolder()
        let (old, code) = try await Self.sender(in: folder)
        let (with, without) = (folder.path + "/with", folder.path + "/without")
        let full = try await old.perform(CreateBackup(file: with, replacing: false, files: .all))
        let small = try await old.perform(
            CreateBackup(file: without, replacing: false, files: BackupFiles.none))
        await old.shutdown()
        #expect(small.fileCount == 0)
        #expect(full.byteCount - small.byteCount >= Self.content.count)
        let (new, _) = try await Node.restore(
            NodeSettings(home: folder.home("new")), backup: without, recoveryCode: code)
        let message = try #require(try await Self.file(at: new))
        #expect(message.files.map(\.state) == ["waiting"])
        #expect(message.files.map(\.heldByteCount) == [0])
        await #expect(throws: NodeError.self) { _ = try await Self.content(at: new) }
        await new.shutdown()
    }

    @Test("of which a byte within the file is wrong is refused, and leaves no home behind")
    func damaged() async throws {
        let folder = try TemporaryFolder()
        let (old, code) = try await Self.sender(in: folder)
        let backup = folder.path + "/backup"
        try await old.perform(CreateBackup(file: backup, replacing: false, files: .all))
        await old.shutdown()
        var bytes = try Data(contentsOf: URL(filePath: backup))
        // The file is what stands last, and most of it.
        bytes[bytes.count - Self.content.count / 2] ^= 1
        try bytes.write(to: URL(filePath: backup))
        #expect(throws: NodeError.self) { _ = try Node.verifyBackup(file: backup, code: code) }
        await #expect(throws: NodeError.self) {
            _ = try await Node.restore(
                NodeSettings(home: folder.home("new")), backup: backup, recoveryCode: code)
        }
        await #expect(throws: NodeError.self) {
            _ = try await Node.open(NodeSettings(home: folder.home("new")))
        }
    }
}
