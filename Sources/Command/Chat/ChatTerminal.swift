import CProcess
import Foundation
import Glibc
import Parley
import Synchronization

/// The terminal that a chat draws on: taken while it runs, and given back however it ends.
final class ChatTerminal: Sendable {
    private let put: @Sendable (String) -> Void
    private let hasMouse: Bool

    /// - Parameter hasMouse: whether it is to tell of its mouse.
    /// - Throws: ``NodeError`` where nobody is at a terminal.
    init(hasMouse: Bool) throws {
        self.hasMouse = hasMouse
        let world = World.current
        let isDumb = (world.environment["TERM"] ?? "dumb") == "dumb"
        guard world.isInputTerminal, world.output.isTerminal, !isDumb else {
            throw NodeError(
                "no-terminal", "A chat needs a terminal that it can draw on.",
                hint: "`parley read` and `parley send` do the same line by line.")
        }
        put = world.output.put
        try take()
    }

    private func take() throws {
        let failure = parley_terminal_take(STDIN_FILENO, STDOUT_FILENO)
        guard failure == 0 else {
            throw NodeError(
                "no-terminal",
                "The terminal cannot be used: \(String(cString: strerror(failure))).")
        }
        // Buttons and the wheel, told in digits. Source: xterm, "Control Sequences", modes 1000 and 1006.
        if hasMouse { put("\u{1B}[?1000h\u{1B}[?1006h") }
    }

    func giveBack() { parley_terminal_give_back() }

    func write(_ text: String) { if !text.isEmpty { put(text) } }

    /// Restores the terminal and stops, like other programs at Ctrl-Z; resumes once the person
    /// comes back.
    func suspend() throws {
        giveBack()
        kill(0, SIGTSTP)
        try take()
    }

    /// Columns and rows.
    static var size: (columnCount: Int, rowCount: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// A lone escape is the key of that name after so many milliseconds.
    private static let quietMilliseconds: Int32 = 40

    /// Passes on keys, until nobody types any more.
    static func readKeys(into inbox: ChatInbox) {
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
                if count < 0, errno == EINTR || errno == EAGAIN {
                    var poll = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                    _ = Glibc.poll(&poll, 1, -1)
                    continue
                }
                guard count > 0 else { return inbox.add(.stop) }
                inbox.add(.typed(Array(buffer[..<count])))
                var poll = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                if Glibc.poll(&poll, 1, quietMilliseconds) == 0 { inbox.add(.quiet) }
            }
        }
    }
}

/// Events that were not handled yet. Simultaneous ones are drawn once.
final class ChatInbox: Sendable {
    enum Event: Sendable {
        case typed([UInt8])
        /// No key came for a moment.
        case quiet
        case resized
        case change(ChangeView)
        /// Nothing changes any more: the node has ended.
        case nodeEnded
        case answer(ChatAnswer)
        /// The system wants this to end, or nobody is at the terminal any more.
        case stop
    }

    private let events = Mutex<[Event]>([])
    private let (beats, beat) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))

    func add(_ event: Event) {
        events.withLock { $0.append(event) }
        beat.yield()
    }

    /// Yields whenever there may be something.
    var signals: AsyncStream<Void> { beats }

    /// What was entered and refused, of all that happened since.
    func takeRefusals() -> [ChatEnd.Refusal] {
        takeAll().compactMap { event in
            guard case .answer(.failed(let request, let reason)) = event, request.holdsWords,
                !reason.isLoss
            else { return nil }
            return ChatEnd.Refusal(request: request, reason: reason)
        }
    }

    /// All that happened since, in its order.
    func takeAll() -> [Event] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}
