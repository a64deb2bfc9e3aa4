import Foundation
import Glibc
import Parley

/// A chat that runs: keys, changes and answers go to its screen, and what that shows to the terminal.
struct ChatSession {
    private let node: any NodeService
    private let terminal: ChatTerminal
    private let inbox = ChatInbox()
    private let desk: ChatDesk
    private var screen: ChatScreen
    private var decoder = KeyDecoder()
    /// What the terminal shows.
    private var shown: Frame?

    init(_ node: any NodeService, isVi: Bool, on terminal: ChatTerminal) {
        (self.node, self.terminal) = (node, terminal)
        let world = World.current
        let size = ChatTerminal.size
        let downloads = absolutePath("~/Downloads/")
        screen = ChatScreen(
            .init(
                columnCount: size.columnCount, rowCount: size.rowCount,
                hasColour: world.output.hasColour, isVi: isVi,
                folder: access(downloads, W_OK) == 0 ? "~/Downloads/" : "./"))
        desk = ChatDesk(node) { [inbox] in inbox.add(.answer($0)) }
    }

    /// Runs until the person leaves, or the node ends.
    ///
    /// - Parameter isRunning: whether the node runs beside this, so that its end is heard of.
    mutating func run(
        _ conversation: ConversationView?, isRunning: Bool
    ) async throws -> ChatEnd {
        let status = try await node.perform(GetStatus())
        screen.list.ownName = status.name
        // While this is open it is the node, and holds the home: one that is started beside it finds that
        // in use.
        if !isRunning {
            screen.notice =
                status.readOnlyReason.map { "You can only read: \($0)." }
                ?? Advice.complete("No other node runs: Ctrl-Q, then parley run")
        }
        let changes = try await node.changes()
        let following = Task { [inbox] in
            for await change in changes { inbox.add(.change(change)) }
            inbox.add(.nodeEnded)
        }
        let stops = Stop.watch([SIGINT, SIGTERM, SIGHUP]) { [inbox] _ in inbox.add(.stop) }
        let sizes = Stop.watch([SIGWINCH]) { [inbox] _ in inbox.add(.resized) }
        defer {
            following.cancel()
            stops.cancel()
            sizes.cancel()
        }
        ChatTerminal.readKeys(into: inbox)
        for request in screen.begin(with: conversation) { await desk.take(request) }
        var end = ChatEnd()
        do { try await follow() } catch { end.reason = error }
        await desk.finish()
        end.unanswered = await desk.unanswered
        // Nobody sees them on a screen any more.
        end.refused = inbox.takeRefusals()
        end.names = screen.list.conversations.reduce(into: [:]) { $0[$1.id] = $1.name }
        return end
    }

    private mutating func follow() async throws {
        try await draw()
        for await _ in inbox.signals {
            for event in inbox.takeAll() {
                guard try await take(event) else { return }
            }
            try await draw()
        }
    }

    /// Takes something that happened; false where the chat is over.
    private mutating func take(_ event: ChatInbox.Event) async throws -> Bool {
        var requests: [ChatRequest] = []
        switch event {
        case .typed(let bytes):
            for key in decoder.add(bytes) { requests += screen.handle(key) }
        case .quiet: for key in decoder.noteQuiet() { requests += screen.handle(key) }
        case .resized:
            let size = ChatTerminal.size
            screen.terminal.columnCount = size.columnCount
            screen.terminal.rowCount = size.rowCount
            shown = nil
        case .change(let change): requests = screen.take(change)
        // A node that answers nothing any more is gone, whatever is heard of its end.
        case .answer(.failed(_, let reason)) where reason.isLoss: throw screen.nodeEnded
        case .answer(let answer): requests = screen.take(answer)
        case .stop: requests = screen.leave() + [.quit]
        case .nodeEnded: throw screen.nodeEnded
        }
        for request in requests {
            switch request {
            case .quit: return false
            case .redraw: shown = nil
            case .suspend:
                try terminal.suspend()
                inbox.add(.resized)
            default: await desk.take(request)
            }
        }
        return true
    }

    /// Shows what changed, and marks as read what is visible then.
    private mutating func draw() async throws {
        let frame = screen.frame()
        terminal.write(frame.changes(from: shown))
        shown = frame
        try World.current.checkOutput()
        for request in screen.noteShown() { await desk.take(request) }
        let isSeen = screen.terminal.isFocused && screen.isTimelineShown
        await desk.noteOpen(isSeen ? screen.timeline?.conversation : nil)
    }
}
