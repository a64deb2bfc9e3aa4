import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// A text message.
    public static let text = OperationKind(rawValue: 64)
}

/// The origin of an imported message.
public struct ImportedOrigin: Equatable, Sendable {
    /// Its author there.
    public var author: String
    /// When, in Unix milliseconds.
    public var time: UInt64
    /// Whether it was an action ("* ann waves").
    public var isAction: Bool

    /// An origin with these fields.
    public init(author: String, time: UInt64, isAction: Bool) {
        self.author = author
        self.time = time
        self.isAction = isAction
    }
}

/// The payload of a text message.
public struct TextMessage: Equatable, Sendable {
    /// The text.
    public var text: String
    /// Where it came from, unless it was written here.
    public var origin: ImportedOrigin?
    /// The name that a forwarder gives for the original author: empty if they do not know a name,
    /// nil if the words are their own. Nobody vouches for it.
    public var forwardedFrom: String?
    /// The persons it mentions; none if the words are not the author's own.
    public var mentions = Mentions()
    /// Its files; none if it was imported.
    public var files: [Attachment] = []
    /// What its author saw behind an address in it; nil if it was imported.
    public var link: LinkPreview?
    /// After how many seconds it disappears; nil if it stays, or as long as nobody said.
    public var lifetime: UInt64?

    /// A message with these fields.
    public init(
        text: String, origin: ImportedOrigin? = nil, forwardedFrom: String? = nil,
        mentions: Mentions = Mentions(), files: [Attachment] = [], link: LinkPreview? = nil
    ) {
        self.link = link
        self.text = text
        self.mentions = mentions
        self.files = files
        self.origin = origin
        self.forwardedFrom = forwardedFrom
    }

    /// The message that a payload holds, or nil where it holds none.
    public init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadText.self, payload),
            message.text.utf8.count <= Limits.messageByteCountMax
        else { return nil }
        text = message.text
        guard message.hasImported else {
            // A name that no screen takes is left out, and the text stands: a program that does not know
            // the field shows the same.
            let name = message.forwarded.author
            let isNamed = message.hasForwarded && name.utf8.count <= Limits.nameByteCountMax
            forwardedFrom = isNamed ? name : nil
            if !message.hasForwarded { mentions = Mentions(message.mentions, in: text) }
            files = Attachment.all(in: message)
            if (1...Limits.lifetimeSecondsMax).contains(message.lifetime) {
                lifetime = message.lifetime
            }
            if message.hasLink { link = LinkPreview(message.link, in: text) }
            return
        }
        guard message.imported.time < Limits.wallClockMax,
            message.imported.author.utf8.count <= Limits.nameByteCountMax
        else { return nil }
        origin = ImportedOrigin(
            author: message.imported.author, time: message.imported.time,
            isAction: message.imported.action)
    }

    /// The operation that says this.
    ///
    /// - Parameter parent: the message replied to.
    public func draft(replyingTo parent: OperationReference? = nil) -> Draft {
        var message = PayloadText()
        message.text = text
        if let origin {
            message.imported.author = origin.author
            message.imported.time = origin.time
            message.imported.action = origin.isAction
        } else if let forwardedFrom {
            message.forwarded.author = forwardedFrom
        } else if !mentions.isEmpty {
            message.mentions = mentions.payload
        }
        if origin == nil { message.attachments = files.map(\.payload) }
        if origin == nil, let link { message.link = link.payload }
        if origin == nil, let lifetime { message.lifetime = lifetime }
        let kind = message.lifetime > 0 ? OperationKind.disappearingText : .text
        return Draft(
            kind: kind, lane: .content, references: parent.map { [$0] } ?? [],
            payload: Payload.encode(message))
    }
}

extension Message {
    /// What its author saw behind an address in it, as long as the present text contains that
    /// address.
    public var link: LinkPreview? {
        guard let link = content?.link, let text else { return nil }
        return editCount == 0 || LinkPreview.addresses(in: text).contains(link.address) ? link : nil
    }

    /// The name that its author gives for the original author: see ``TextMessage/forwardedFrom``.
    /// Nil once it was edited: nobody is named beside words that another person chose.
    public var forwardedFrom: String? { editCount == 0 ? content?.forwardedFrom : nil }

    /// This message as somebody passes it on.
    ///
    /// A copy lives on its own: it has no reference, and neither an edit nor a deletion reaches it.
    ///
    /// - Parameter name: the name of its author; empty if that is not known. The first origin
    ///   survives any number of forwards, so the name does not count if these words have an origin;
    ///   but it does once the importer or forwarder has edited the message, because then the words
    ///   are theirs. Nil leaves out every origin.
    /// - Returns: nil where there is nothing to pass on.
    public func forwarded(namingAuthor name: String?) -> TextMessage? {
        guard let text, !flags.contains(.deleted) else { return nil }
        let first = editCount == 0 ? origin?.author ?? forwardedFrom : nil
        return TextMessage(
            text: text, forwardedFrom: name.map { first ?? $0 }, files: content?.files ?? [],
            link: link)
    }
}

extension StoredOperation {
    /// Where this message stands in its timeline.
    func messageOrder(in log: LogRecord) -> OrderKey {
        TextRule.order(VerifiedOperation(stored: self, tag: log.tag))
    }
}

/// A message is a row of the timeline. It never changes place but for one case: an imported one
/// that was deleted has lost its original time with its payload and moves to where it was brought in.
enum TextRule: MergeRule {
    static let kind = OperationKind.text
    static let lane = Lane.content
    static let role = Role.member
    static let act: GroupAct? = .write

    /// How much older than the newest a message must be to count as late: 5 minutes.
    static let lateness: UInt64 = 5 * 60 * 1000

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let operation = applied.operation
        if try context.ownDeletions?.cover(applied.orderKey.reference, in: store) == true {
            return try OwnDeletions.take(applied, context, in: store)
        }
        var flags: MessageRow.Flags = []
        var order = operation.orderKey
        if let payload = operation.operation.payload {
            guard let message = TextMessage(payload: payload) else { return [] }
            if let origin = message.origin {
                flags.insert(.imported)
                order = order.imported(at: origin.time)
            }
        } else {
            flags.insert(.bodyless)
        }
        if try mayBeDeleted(applied, in: store),
            try Deletion.covers(operation, in: context.space, store: store)
        {
            try Deletion.erase(applied.number, operation.operation, in: store)
            order = operation.orderKey
            flags = .deleted
        } else if isLate(order, applied, context, flags) {
            flags.insert(.late)
        }
        try store.insert(
            MessageRow(
                space: context.space.number, order: order, operation: applied.number,
                log: applied.log.number, flags: flags))
        try MessageThread.note(
            applied, at: order, isDeleted: flags.contains(.deleted), context, in: store)
        let change = ViewChange.message(context.space.number, applied.number)
        guard !flags.contains(.deleted) else { return [change] }
        let content = operation.operation.payload.flatMap(TextMessage.init)
        return try [change] + mentions(in: applied, content, context, in: store)
            + FileNotes.note(content?.files ?? [], in: applied, at: order, context, in: store)
    }

    private static func mentions(
        in applied: AppliedOperation, _ content: TextMessage?, _ context: MergeContext,
        in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let operation = applied.operation
        let message = OperationReference(
            tag: operation.tag, sequence: operation.sequence, check: operation.id.check)
        let said = content?.mentions ?? Mentions()
        // Most texts mention nobody, and come before their edits.
        if !said.includes(context.ownPerson), try !mayBeDeleted(applied, in: store) { return [] }
        return try MentionNotes.note(
            said, in: applied, isEdit: false, of: message, context, in: store)
    }

    static func order(_ operation: VerifiedOperation) -> OrderKey {
        var order = operation.orderKey
        if let origin = operation.operation.payload.flatMap(TextMessage.init)?.origin {
            order = order.imported(at: origin.time)
        }
        return order
    }

    /// Whether something that was applied before it may have deleted or edited it. Where nothing named the
    /// place, as with almost all that arrives, no entry has to be looked for.
    static func mayBeDeleted(
        _ applied: AppliedOperation, in store: some MergeStore
    ) throws(StoreError) -> Bool {
        if applied.isBackfill { return true }
        let log = try store.log(applied.log.number)
        return applied.operation.sequence < log?.coveredEnd ?? 0
    }

    private static func isLate(
        _ order: OrderKey, _ applied: AppliedOperation, _ context: MergeContext,
        _ flags: MessageRow.Flags
    ) -> Bool {
        guard !applied.isBackfill, !flags.contains(.imported),
            context.person(writing: applied.log) != context.ownPerson
        else { return false }
        return order.stand >> 16 + lateness < context.newestStand >> 16
    }
}

extension OrderKey {
    /// Where a message stands that was brought in: where it was written, but no later than here.
    func imported(at time: UInt64) -> OrderKey {
        var order = self
        order.stand = min(order.stand, time << 16)
        return order
    }
}
