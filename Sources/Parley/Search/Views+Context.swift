import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

extension Views {
    /// Messages of a thread that are shown at most.
    private static let threadCountMax = 100

    /// Where the page that has this message as its newest ends: the place of the next one, or nil
    /// where it is the newest itself.
    func pageOrder(
        after stored: StoredOperation, _ log: LogRecord, count: Int = 1
    ) throws -> OrderKey? {
        try store.messageOrder(after: stored.messagePlace(in: log), in: log.space, count: count)
    }

    /// The page around a message and its thread.
    func context(of number: Int64, limit: Int) throws -> ContextView {
        guard let stored = try store.operation(OperationNumber(number)),
            let log = try store.log(stored.log), let space = try store.space(log.space),
            let view = try message(OperationNumber(number))
        else { throw NodeError(.unknownMessage) }
        let end = try pageOrder(after: stored, log, count: limit / 2 + 1)
        let page = try page(of: space, before: end, limit: limit)
        return ContextView(
            message: number, page: page, thread: try thread(of: view, in: page))
    }

    /// What it replies to, up to the first, and those of the page that reply to any of these.
    private func thread(of message: MessageView, in page: MessagePage) throws -> [MessageView] {
        var thread = [message]
        var parent = message.replyTo
        var byteCount = message.lineByteCount
        while let number = parent, thread.count < Self.threadCountMax,
            byteCount < MessagePage.byteCountMax,
            !thread.contains(where: { $0.number == number }),
            let view = try self.message(OperationNumber(number))
        {
            thread.insert(view, at: 0)
            byteCount += view.lineByteCount
            parent = view.replyTo
        }
        var numbers = Set(thread.map(\.number))
        for view in page.messages where thread.count < Self.threadCountMax {
            guard let parent = view.replyTo, numbers.contains(parent),
                numbers.insert(view.number).inserted
            else { continue }
            thread.append(view)
        }
        return thread.count > 1 ? thread : []
    }
}
