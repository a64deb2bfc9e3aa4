import Foundation
import Testing

@Suite("Decoders")
struct DecoderTests {
    /// What opens its own sealed or private bytes, which nobody from outside can choose.
    static let own: [String: Int] = [
        "Sources/Ledger/LogView.swift": 1,
        "Sources/Ledger/Stand.swift": 1,
        "Sources/NodeCore/EventEntry.swift": 1,
        "Sources/NodeCore/Conversations/FormerLog.swift": 1,
        "Sources/NodeCore/Conversations/FormerMarks.swift": 1,
        "Sources/NodeCore/Conversations/DeletedImports.swift": 1,
        "Sources/NodeCore/Conversations/PendingDisappearance.swift": 2,
        "Sources/NodeCore/Files/FileLook.swift": 2,
        "Sources/NodeCore/Files/FileSettings.swift": 1,
        "Sources/NodeCore/Files/HeldFile.swift": 1,
        "Sources/NodeCore/People/HeldLetters.swift": 1,
        "Sources/NodeCore/People/Invitation.swift": 2,
        "Sources/NodeCore/Intake/MissingBodies.swift": 2,
        "Sources/NodeCore/Rosters/NodeCore+Awaited.swift": 1,
        "Sources/NodeCore/Relays/NodeCore+Inboxes.swift": 1,
        "Sources/NodeCore/Rosters/NodeCore+Branches.swift": 1,
        "Sources/NodeCore/History/NodeCore+Kept.swift": 1,
        "Sources/NodeCore/Relays/NodeCore+Letters.swift": 1,
        "Sources/NodeCore/People/NodeIdentity.swift": 1,
        "Sources/NodeCore/People/Notice.swift": 2,
        "Sources/NodeCore/People/OpenInvite.swift": 2,
        "Sources/NodeCore/Relays/Outbox.swift": 1,
        "Sources/NodeCore/Relays/RelayLine.swift": 1,
        "Sources/NodeCore/Conversations/SentOnce.swift": 1,
        "Sources/NodeCore/Files/ShelfRecord.swift": 1,
        "Sources/NodeCore/Files/WantedFile.swift": 1,
        "Sources/Parley/NodeKeys.swift": 1,
        "Sources/Storage/Files/BlobMap.swift": 1,
        "Sources/Storage/Guard.swift": 1,
        "Sources/Storage/Records.swift": 3,
        "Sources/Storage/SQLiteStore+Conversation.swift": 1,
        "Sources/Storage/SQLiteStore+Node.swift": 1,
        "Sources/Storage/Search/WordIndex.swift": 1,
        "Sources/Wire/Operation+Codec.swift": 1,
    ]

    /// How often each file makes a reader of bytes or of a payload.
    static func readers(in files: [SourceFile]) -> [String: Int] {
        var found: [String: Int] = [:]
        for file in files where file.path.hasPrefix("Sources/") {
            let count = ["ByteReader(", "Payload.decode(", "Payload.control("].reduce(0) {
                sum, call in
                sum + file.code.components(separatedBy: call).count - 1
            }
            if count > 0 { found[file.path] = count }
        }
        return found
    }

    /// The files that the fuzzer names, each with its count: `"Sources/Wire/Run.swift": 1`.
    static func fuzzed(in files: [SourceFile]) -> [String: Int] {
        var found: [String: Int] = [:]
        for file in files where file.path.hasPrefix("Tests/FuzzTests/") {
            for rest in file.text.components(separatedBy: "\"Sources/").dropFirst() {
                let parts = rest.components(separatedBy: "\": ")
                guard parts.count > 1 else { continue }
                found["Sources/" + parts[0]] = Int(parts[1].prefix { $0.isNumber })
            }
        }
        return found
    }

    @Test("a reader in code is counted, one in a comment is not")
    func reads() {
        let code = SourceFile(
            path: "Sources/A/B.swift", text: "// ByteReader(x)\nlet a = ByteReader(bytes)\n")
        #expect(Self.readers(in: [code]) == ["Sources/A/B.swift": 1])
        let list = SourceFile(
            path: "Tests/FuzzTests/C.swift", text: "sources: [\"Sources/A/B.swift\": 1],")
        #expect(Self.fuzzed(in: [list]) == ["Sources/A/B.swift": 1])
    }

    @Test("Attack 56: every decoder of bytes from outside is in the fuzzer's list")
    func list() {
        let readers = Self.readers(in: SourceTree.products)
        let fuzzed = Self.fuzzed(in: SourceTree.swift)
        #expect(fuzzed.count > 15)
        for (path, count) in readers.sorted(by: { $0.key < $1.key }) {
            #expect(
                count == (fuzzed[path] ?? 0) + (Self.own[path] ?? 0),
                "\(path) decodes in \(count) places: list them in Tests/FuzzTests/Decoders")
        }
        for path in (Array(fuzzed.keys) + Array(Self.own.keys)).sorted() {
            #expect(readers[path] != nil, "\(path) is listed and decodes nothing")
        }
    }
}
