import ParleyAssistant
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Something to be done.
public struct ItemView: Codable, Equatable, Sendable {
    /// Its number here, which holds on this node alone.
    public var number: Int64
    /// Its name everywhere.
    public var id: String
    /// Its conversation, in hex.
    public var conversation: String
    /// The name of that.
    public var place: String
    /// The name of the person who began it.
    public var author: String
    /// When it was begun, by its author's clock, in Unix milliseconds.
    public var time: UInt64
    /// `ahead` if that time has not come yet by this device's clock; else nil.
    public var timeDoubt: String? = nil
    /// The title.
    public var title: String
    /// Titles that others wrote concurrently, none of which replaces another: the next change of
    /// the title replaces them all.
    public var otherTitles: [String]
    /// The names of the assigned persons.
    public var assignees: [String]
    /// Whether oneself is among them.
    public var isOwn: Bool
    /// Until which day, as `2026-12-01`; nil for none.
    public var due: String?
    /// Who said that it is done; nil while it is not.
    public var doneBy: String?
    /// The notes.
    public var notes: String
    /// The message that it was made from, by its `id`, where that is here and was not deleted.
    public var source: String?
    /// What this person did about it that is not delivered.
    public var waiting: [MessageView.Waiting] = []
    /// Whether this person blocked its author, so that nothing is shown of what they chose.
    public var isHidden = false
}

extension Views {
    /// The item that an operation began; nil if it no longer exists.
    func item(_ number: OperationNumber) throws -> ItemView? {
        guard let stored = try store.operation(number), stored.operation.header.kind == .item,
            let log = try store.log(stored.log), let space = try store.space(log.space),
            let roster = try roster(of: space)
        else { return nil }
        let reference = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        let item = try Overview.item(reference, in: space.number, roster: roster, store: store)
        if let item { return try view(item, in: space, roster) }
        return try untaken(.item, in: space, roster).first { $0.word.operation.number == number }
            .flatMap { $0.word.item(begunBy: ownPerson) }.map { try view($0, in: space, roster) }
    }

    /// The items of a conversation, or of all: by due day, then by age.
    func items(in argument: String?) throws -> [ItemView] {
        let unaccepted = try unaccepted()
        let spaces = try argument.map { [try conversation($0)] } ?? store.spaces()
        var found: [(view: ItemView, due: UInt32, order: OrderKey)] = []
        for space in spaces where space.kind != .own && !unaccepted.contains(space.id) {
            guard let roster = try roster(of: space) else { continue }
            let untaken = try untaken(.item, in: space, roster).compactMap {
                $0.word.item(begunBy: ownPerson)
            }
            for item in try Overview.items(in: space.number, roster: roster, store: store) + untaken
            {
                let view = try view(item, in: space, roster)
                found.append((view, item.due ?? .max, item.order))
            }
        }
        return found.sorted { ($0.due, $0.order) < ($1.due, $1.order) }.map(\.view)
    }

    private func view(
        _ item: ActionItem, in space: SpaceRecord, _ roster: Roster
    ) throws -> ItemView {
        let view = try wholeView(item, in: space, roster)
        return try hides(item.author, in: space) ? view.withoutContent() : view
    }

    private func wholeView(
        _ item: ActionItem, in space: SpaceRecord, _ roster: Roster
    ) throws -> ItemView {
        ItemView(
            number: item.number.rawValue, id: try identifier(item.reference, in: space.number),
            conversation: space.id.description, place: try title(of: space, roster),
            author: try name(of: item.author, in: roster), time: item.time,
            timeDoubt: Self.doubt(about: item.time), title: item.titles.first ?? "",
            otherTitles: Array(item.titles.dropFirst()),
            assignees: try item.assignees.map { try name(of: $0, in: roster) }.sorted(),
            isOwn: item.assignees.contains(ownPerson), due: item.due.map(CalendarDay.text),
            doneBy: try item.doneBy.map { try name(of: $0, in: roster) }, notes: item.notes,
            source: try item.source.flatMap { try source($0, in: space) },
            waiting: try marks(on: item.reference, in: space, roster))
    }

    /// The name of a message that something was made from; nil where that is not here, or was deleted.
    func source(_ message: OperationReference, in space: SpaceRecord) throws -> String? {
        guard let stored = try answered(message, in: space.number).stored,
            let view = try self.message(stored.number), !view.isDeleted
        else { return nil }
        return view.id
    }
}

/// Days of the calendar, in days since 1970, as people write them.
public enum CalendarDay {
    /// The day as `2026-12-01`.
    static func text(_ day: UInt32) -> String {
        let (year, month, date) = CivilDay(Int(day)).parts
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(date))"
    }

    /// The day in a text such as `2026-12-01`, from 1970-01-02 to 2199-12-31; nil if it is none.
    public static func day(_ text: String) -> UInt32? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2],
            parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let year = Int(parts[0]), let month = Int(parts[1]), let date = Int(parts[2]),
            (1970...2199).contains(year),
            let day = CivilDay(year: year, month: month, day: date)?.number, day > 0
        else { return nil }
        return UInt32(day)
    }
}
