import Foundation
import Parley

/// A search on a terminal that finds while one types.
///
/// Letters go to the search; up and down choose a hit, return shows where it stands, escape ends.
struct TypedSearch {
    let node: any NodeService
    let limit: Int

    private enum Key: Equatable {
        case letter(String), back, clear, up, down, enter, leave
    }

    /// How many milliseconds one waits before asking again for what is being read into memory.
    private static let loadingPause: Int32 = 300

    func run() async throws {
        let world = World.current
        guard let terminal = RawTerminal() else {
            throw NodeError(
                "no-terminal", "This is not a terminal.", hint: "Use `parley search WORDS`.")
        }
        var text = ""
        var reply: SearchReply?
        var chosen = 0
        draw(text, reply, chosen)
        var keys = KeyReader()
        loop: while true {
            if reply?.semantic == "loading", keys.isQuiet(for: Self.loadingPause) {
                // What was not in memory before may be by now.
                reply = try await find(text)
                chosen = min(chosen, max(0, (reply?.hits.count ?? 0) - 1))
                draw(text, reply, chosen)
                continue
            }
            guard let key = keys.next(Self.key) else { break }
            switch key {
            case .leave: break loop
            case .letter(let letter): text += letter
            case .back: if !text.isEmpty { text.removeLast() }
            case .clear: text = ""
            case .up: chosen = max(0, chosen - 1)
            case .down: chosen = min(max(0, (reply?.hits.count ?? 0) - 1), chosen + 1)
            case .enter:
                guard let hits = reply?.hits, hits.indices.contains(chosen) else { continue }
                terminal.restore()
                Self.write("\u{1B}[J")
                return try await jump(to: hits[chosen])
            }
            if key != .up, key != .down {
                chosen = 0
                // More letters wait: only the last of them is looked for.
                if !keys.hasMore { reply = try await find(text) }
            }
            draw(text, reply, chosen)
        }
        terminal.restore()
        Self.write("\r\u{1B}[J")
        world.say("")
    }

    private func find(_ text: String) async throws -> SearchReply? {
        guard text.contains(where: { !$0.isWhitespace }) else { return nil }
        do {
            return try await node.perform(
                SearchMessages(text, limit: min(limit, 8), isTyping: true))
        } catch let error as NodeError where Self.typing.contains(error.code) {
            // A condition that is half typed.
            return nil
        }
    }

    /// Codes of what is half typed.
    static let typing: Set<String> = [
        "bad-search", "unknown-conversation", "ambiguous", "not-met",
    ]

    /// The page around a hit, and its thread.
    private func jump(to hit: SearchHit) async throws {
        let context = try await node.perform(
            GetContext(message: MessageReference(hit.message.number), limit: 20))
        World.current.write(MessageLines.text(context.page.messages))
        if !context.thread.isEmpty {
            World.current.write("thread")
            World.current.write(MessageLines.text(context.thread))
        }
        World.current.advise(
            "read on from here: parley read \(harmless(Advice.quoted(hit.conversation))) "
                + "--around \(hit.message.number)"
        )
    }

    private func draw(_ text: String, _ reply: SearchReply?, _ chosen: Int) {
        var lines = ["search: " + harmless(text)]
        for (index, hit) in (reply?.hits ?? []).enumerated() {
            for (place, line) in SearchLines.lines(hit).enumerated() {
                lines.append((index == chosen && place == 0 ? ">" : " ") + line)
            }
        }
        if let reply {
            lines.append("  \(reply.hits.count) found in \(Int(reply.milliseconds)) ms")
            lines += reply.notes.map { "  " + harmless($0) }
        }
        let columns = min((World.current.talk.columnCount ?? 200), 200)
        let shown = lines.map { column($0, columns - 1) }
        // Drawn over what was there; the cursor goes back to the end of what is typed.
        Self.write(
            "\r\u{1B}[J" + shown.joined(separator: "\r\n") + "\r"
                + (shown.count > 1 ? "\u{1B}[\(shown.count - 1)A" : "")
                + "\u{1B}[\(columnCount(lines[0]))C")
    }

    private static func write(_ text: String) {
        // A terminal that is gone needs nothing more.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    private static func key(_ bytes: [UInt8]) -> Key? {
        switch bytes {
        case [0x1B], [3], [4]: .leave
        case [0x7F], [8]: .back
        case [0x15]: .clear
        case [10], [13]: .enter
        case [0x1B, 0x5B, 0x41]: .up
        case [0x1B, 0x5B, 0x42]: .down
        default:
            if let first = bytes.first, first >= 0x20 {
                .letter(String(decoding: bytes, as: UTF8.self))
            } else {
                nil
            }
        }
    }
}

/// A terminal whose keys are read one by one.
private final class RawTerminal {
    private var former = termios()
    private var isRaw = true

    init?() {
        guard tcgetattr(STDIN_FILENO, &former) == 0 else { return nil }
        var raw = former
        cfmakeraw(&raw)
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) == 0 else { return nil }
    }

    func restore() {
        guard isRaw else { return }
        isRaw = false
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &former)
    }

    deinit { restore() }
}

/// Keys from the bytes of a terminal.
private struct KeyReader {
    private var bytes: [UInt8] = []

    /// Whether more waits already.
    var hasMore: Bool { !isQuiet(for: 0) }

    /// Whether no key comes for so many milliseconds; waits for that.
    func isQuiet(for milliseconds: Int32) -> Bool {
        guard bytes.isEmpty else { return false }
        var poll = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, milliseconds) == 0
    }

    /// The next key that means something; nil at the end of the input.
    mutating func next<Key>(_ key: ([UInt8]) -> Key?) -> Key? {
        while true {
            if bytes.isEmpty {
                var buffer = [UInt8](repeating: 0, count: 256)
                let count = read(STDIN_FILENO, &buffer, buffer.count)
                guard count > 0 else { return nil }
                bytes = Array(buffer[..<count])
            }
            if let found = key(take()) { return found }
        }
    }

    private mutating func take() -> [UInt8] {
        let first = bytes[0]
        var count = 1
        if first == 0x1B, bytes.count > 2, bytes[1] == 0x5B {
            count = 2 + (bytes[2...].firstIndex { (0x40...0x7E).contains($0) } ?? 2) - 1
        } else if first >= 0xC0 {
            count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        }
        let key = Array(bytes.prefix(count))
        bytes = Array(bytes.dropFirst(count))
        return key
    }
}
