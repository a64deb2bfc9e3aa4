import Foundation
import Glibc
import Parley
import ParleyWire

/// The turn of a command among those that send a few lines into one home.
///
/// What an attempt left behind is that of a command that is gone: two that run at a time and say the same
/// both mean it.
private struct LinesTurn {
    private let folder: Int32

    /// Nil where there is no home, which whoever opens that says, or where others take too long.
    static func take(in home: String) async throws -> LinesTurn? {
        let folder = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        let deadline = ContinuousClock.now + .seconds(10)
        while flock(folder, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < deadline else {
                close(folder)
                return nil
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        return LinesTurn(folder: folder)
    }

    func end() { close(folder) }
}

extension Send {
    /// What is said by who ends at once, and knows no more.
    static let lastWords =
        "parley: ended at once: perhaps not everything is saved. The same command continues where "
        + "this one stopped."

    /// What an attempt to send a few lines is called, until its result is shown.
    private static let attempt = "parley send --lines"

    /// Sends as many lines as the node saves at once. An attempt that was cut off counts: the same lines
    /// are not said again.
    func sendFew(_ texts: [String]) async throws {
        let wish = StopWish(lastWords: Self.lastWords)
        defer { wish.cancel() }
        let begin = UInt64(Date().timeIntervalSince1970 * 1_000)
        let turn = try await LinesTurn.take(in: place.path)
        defer { turn?.end() }
        let key = turn == nil ? UUID().uuidString : Self.attempt
        try await World.current.lendOnce(place, key: key) { node, once in
            if wish.isThere { throw Self.ended(after: 0, of: texts.count) }
            let sent = try await node.perform(
                SendMessages(
                    conversation: conversation, texts: texts, withoutMentions: true, once: once,
                    resumes: true))
            if sent.allSatisfy({ $0.time < begin }) {
                World.current.say(
                    "\(counted(sent.count, "message was", "messages were")) saved before by a command "
                        + "that was cut off, and not again")
            }
            if output.json {
                try Output.show(sent, json: true, as: "")
            } else {
                World.current.write("saved \(counted(sent.count, "message"))")
                try World.current.checkOutput()
            }
            // Where that fails, the same lines are not said again within an hour, and who says them is told.
            _ = try? await node.perform(ForgetOnce(conversation: conversation, once: once))
        }
    }

    /// It was ended by its person between two steps.
    static func ended(after saved: Int, of count: Int) -> NodeError {
        NodeError(
            ExitStatus.interruptedCode,
            "\(saved) of \(count) messages are saved, the others are not.",
            hint: "Run the same command again: it continues with message \(saved + 1).")
    }
}
