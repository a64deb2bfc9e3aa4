import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Begins something to be done in a conversation, from a message or of itself.
public struct CreateItem: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "createItem", RequestScope.write,
        "Creates an action item in a conversation, from a message or by itself."
    )
    /// An example of the request.
    public static let example = CreateItem(
        conversation: "trip", title: "book the hut", assignees: ["ben"], due: "2026-12-01")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The title, of at most 1,024 bytes.
    public var title: String
    /// The assigned persons, at most 32: members by name or by the start of their identifier, or
    /// `me`.
    public var assignees: [String]
    /// Until which day, as `2026-12-01`; nil for none.
    public var due: String?
    /// The notes, of at most 8,192 bytes.
    public var notes: String?
    /// The message that it is made from.
    public var source: MessageReference?

    /// A request with these parameters.
    public init(
        conversation: String, title: String, assignees: [String] = [], due: String? = nil,
        notes: String? = nil, source: MessageReference? = nil
    ) {
        self.conversation = conversation
        self.title = title
        self.assignees = assignees
        self.due = due
        self.notes = notes
        self.source = source
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ItemView {
        let day = try due.map { try ItemRequests.day($0) }
        let (space, persons, message) = try await node.read { views in
            let space = try views.writable(conversation)
            return (
                space.id, try assignees.map { try views.assignee($0, in: space) },
                try source.map { try views.message($0) }
            )
        }
        let item = ItemBeginning(
            title: title, assignees: persons, due: day, notes: notes ?? "")
        return try await node.item(.begin(space, item, from: message))
    }
}

/// Changes an item; nil leaves a field as it is.
public struct ChangeItem: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "changeItem", RequestScope.write,
        "Changes an action item; what is nil stays."
    )
    /// An example of the request.
    public static let example = ChangeItem(item: 12, done: true)

    /// The item: its number or its identifier.
    public var item: MessageReference
    /// The title, in place of all titles that it has.
    public var title: String?
    /// Until which day, as `2026-12-01`; empty for none.
    public var due: String?
    /// The notes.
    public var notes: String?
    /// Whether it is done.
    public var done: Bool?
    /// Persons to assign in addition.
    public var adding: [String]?
    /// Persons who are no longer assigned.
    public var removing: [String]?

    /// A request with these parameters.
    public init(
        item: MessageReference, title: String? = nil, due: String? = nil, notes: String? = nil,
        done: Bool? = nil, adding: [String]? = nil, removing: [String]? = nil
    ) {
        self.item = item
        self.title = title
        self.due = due
        self.notes = notes
        self.done = done
        self.adding = adding
        self.removing = removing
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ItemView {
        var changes: [ItemChange] = []
        if let title { changes.append(.title(title)) }
        if let notes { changes.append(.notes(notes)) }
        if let due { changes.append(.due(due.isEmpty ? nil : try ItemRequests.day(due))) }
        if let done { changes.append(.done(done)) }
        let number = try await node.number(ofItem: item)
        changes += try await node.read { views in
            guard let space = try views.conversation(of: number) else { return [] }
            let added = try (adding ?? []).map {
                ItemChange.assignee(try views.assignee($0, in: space), true)
            }
            return try added
                + (removing ?? []).map { .assignee(try views.assignee($0, in: space), false) }
        }
        return try await node.item(.change(number, changes), about: number)
    }
}

/// Takes back for everyone something to be done.
public struct DeleteItem: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "deleteItem", RequestScope.write,
        "Deletes an action item for everyone."
    )
    /// An example of the request.
    public static let example = DeleteItem(item: 12)

    /// The item: its number or its identifier.
    public var item: MessageReference

    /// A request with these parameters.
    public init(item: MessageReference) { self.item = item }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let number = try await node.number(ofItem: item)
        _ = try await node.write(.withdraw(number), about: number)
        return NoReply()
    }
}

/// Something to be done.
public struct GetItem: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "item", RequestScope.read,
        "An action item."
    )
    /// An example of the request.
    public static let example = GetItem(item: 12)

    /// The item: its number or its identifier.
    public var item: MessageReference

    /// A request with these parameters.
    public init(item: MessageReference) { self.item = item }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ItemView {
        try await node.shownItem(try await node.number(ofItem: item))
    }
}

/// The items of a conversation, or of all, by due day, including those done. At most 1,024 per
/// conversation are returned.
public struct ListItems: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "items", RequestScope.read,
        "The action items of a conversation, or of all, the earliest due first."
    )
    /// An example of the request.
    public static let example = ListItems(conversation: "trip", mine: true)

    /// The conversation; nil for all.
    public var conversation: String?
    /// Whether to return only items assigned to this person.
    public var mine: Bool?

    /// A request with these parameters.
    public init(conversation: String? = nil, mine: Bool? = nil) {
        self.conversation = conversation
        self.mine = mine
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> [ItemView] {
        let items = try await node.read { try $0.items(in: conversation) }
        return mine == true ? items.filter(\.isOwn) : items
    }
}

/// What requests about things to be done share.
private enum ItemRequests {
    static func day(_ text: String) throws -> UInt32 {
        guard let day = CalendarDay.day(text) else { throw NodeError(together: .badDay) }
        return day
    }
}

extension Views {
    /// The member of a conversation that an argument means; oneself where it is `me`.
    fileprivate func assignee(_ argument: String, in space: SpaceRecord) throws -> PersonID {
        if argument == "me" { return ownPerson }
        guard let roster = try roster(of: space) else { return try person(argument, among: []) }
        do {
            return try person(argument, among: roster.members.map(\.person))
        } catch let error as NodeError where error.code == "unknown-person" {
            let name = space.id.short
            throw NodeError(
                error.code, "“\(argument)” is not in “\(try title(of: space, roster))”.",
                hint: space.kind == .group
                    ? "`parley group show \(name)` shows who is, and `parley group add \(name) "
                        + "PERSON` invites somebody." : nil)
        }
    }
}

extension Node {
    fileprivate func number(ofItem item: MessageReference) async throws -> OperationNumber {
        do {
            return try await read { try $0.message(item, in: .shared) }
        } catch let error as NodeError where error.code == "unknown-message" {
            throw NodeError(together: .unknownItem)
        }
    }

    /// Has something done, and tells the item as it is then.
    fileprivate func item(
        _ command: TogetherCommand, about number: OperationNumber? = nil
    ) async throws -> ItemView {
        guard case .messages(let numbers) = try await write(command, about: number),
            let number = numbers.first
        else { throw NodeError(together: .unknownItem) }
        return try await shownItem(number)
    }

    fileprivate func shownItem(_ number: OperationNumber) async throws -> ItemView {
        try await read { views in
            if let view = try views.item(number) { return view }
            let stored = try views.store.operation(number)?.operation
            // No list shows it any more, not even that of all.
            if let stored, stored.header.kind == .item, stored.isErased {
                throw NodeError("deleted", "That action item was deleted.")
            }
            throw NodeError(together: .unknownItem)
        }
    }
}
