import Foundation

@testable import LocalAPITests
@testable import Parley
@testable import parley

/// A chat without terminal and node: what is shown, and what is asked for.
final class Chat {
    var screen: ChatScreen
    private static let id = FakeNode.id

    init(_ columns: Int = 60, _ rows: Int = 16, count: Int = 30, isVi: Bool = false) {
        screen = ChatScreen(
            .init(columnCount: columns, rowCount: rows, hasColour: false, isVi: isVi))
        screen.list.ownName = "ada"
        _ = screen.begin(with: .group("hut"))
        take(Self.messages(1...max(1, count)))
    }

    static func messages(_ numbers: ClosedRange<Int>) -> [MessageView] {
        numbers.map { number in
            var message = FakeNode.message(
                Int64(number), "message \(number)", author: number % 2 == 0 ? "ada" : "ben",
                isOwn: number % 2 == 0)
            message.id = "id-\(number)"
            message.time += UInt64(number) * 60_000
            return message
        }
    }

    func take(
        _ messages: [MessageView], above: Int = 0, below: Int = 0,
        at place: ChatRequest.Place = .unread, unreadID: String? = nil
    ) {
        var page = ChatPage()
        (page.messages, page.aboveCount, page.belowCount, page.last) = (messages, above, below, 99)
        _ = screen.take(.page(Self.id, place, page, unreadID: unreadID))
    }

    /// What each key asked for.
    @discardableResult
    func press(_ keys: Key...) -> [ChatRequest] {
        keys.reduce(into: []) { $0 += screen.handle($1) }
    }

    /// The lines without colours and places, without blanks at their ends.
    var lines: [String] {
        screen.frame().lines.map { line in
            let plain = StyledLine.plain(line).replacing("\u{200E}", with: "")
            return String(plain.reversed().drop { $0 == " " }.reversed())
        }
    }

    func has(_ text: String) -> Bool { lines.contains { $0.contains(text) } }
}
