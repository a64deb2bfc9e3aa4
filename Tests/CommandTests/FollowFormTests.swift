import Foundation
import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("Changes as people see them")
struct FollowFormTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")

    /// Each kind of change that the sources tell.
    private static func told() throws -> Set<String> {
        var found: Set<String> = []
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /ChangeView\(\s*kind: "([a-z]+)"/) {
                found.insert(String(match.1))
            }
            guard file.lastPathComponent == "Views+Changes.swift" else { continue }
            for match in text.matches(of: /view\("([a-z]+)", space\)|init\(kind: "([a-z]+)"\)/) {
                found.formUnion([match.1, match.2].compactMap { $0.map(String.init) })
            }
        }
        return found
    }

    @Test("every kind that programs are told has lines, or a reason to have none")
    func forms() throws {
        let told = try Self.told()
        #expect(told.isSuperset(of: ["poll", "item", "note", "decision", "clocks", "missed"]))
        #expect(FollowForm.shown.isDisjoint(with: FollowForm.reasons.keys))
        #expect(told.subtracting(FollowForm.shown).subtracting(FollowForm.reasons.keys) == [])
        // What is spoken of is told.
        #expect(FollowForm.shown.union(FollowForm.reasons.keys).subtracting(told) == [])
    }

    @Test("every kind is named where the API says what there is")
    func named() throws {
        let file = Self.sources.appending(path: "Parley/ChangeView.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        let comment = try #require(text.firstMatch(of: /(?:    \/\/\/.*\n)+    public var kind/)).0
        let named = Set(comment.matches(of: /`([a-z]+)`/).map { String($0.1) })
        #expect(try Self.told().subtracting(named) == [])
    }

    @Test("what people do together is a line, once for each look of it")
    func together() async throws {
        let node = FakeNode()
        let terminal = Terminal(node: node)
        _ = await terminal.run("action", "new", "home", "bread")
        _ = await terminal.run("note", "new", "home", "the list")
        async let result = terminal.run("follow")
        while node.state.withLock({ $0.watchers.isEmpty }) { await Task.yield() }
        func tell(_ kind: String, _ change: (inout ChangeView) -> Void) {
            var view = ChangeView(kind: kind)
            view.conversation = FakeNode.id
            change(&view)
            node.tell(view)
        }
        var item = try #require(node.state.withLock { $0.items.first })
        var note = try #require(node.state.withLock { $0.notes.first }).view
        // On a node everything has a number of its own.
        note.number = 2
        for _ in 0..<2 {
            tell("item") { $0.item = item }
            tell("note") { $0.note = note }
        }
        (item.doneBy, item.timeDoubt) = ("ben", "ahead")
        (note.editor, note.editCount) = ("b\u{1B}en", 3)
        tell("item") { $0.item = item }
        tell("note") { $0.note = note }
        note.editCount = 4
        tell("note") { $0.note = note }
        // What was taken back has no line.
        tell("item") { _ in }
        node.stopTelling()
        let lines = await result.output.split(separator: "\n").map(String.init)
            .filter { $0.contains("– ") }
        #expect(lines.count == 4, "\(lines)")
        #expect(lines[0].hasSuffix("– ada: bread  (item #1, to do)"), "\(lines)")
        #expect(lines[1].hasSuffix("– ada: the list  (note #2, begun)"), "\(lines)")
        #expect(lines[2].hasSuffix("(item #1, done by ben)  (clock ahead)"), "\(lines)")
        #expect(lines[3].contains("edited by b") && !lines[3].contains("\u{1B}"), "\(lines)")
    }
}
