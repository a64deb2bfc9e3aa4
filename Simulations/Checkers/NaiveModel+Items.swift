import ParleyConversation
import ParleyLedger
import ParleyPayloads
import ParleyRoster
import ParleyWire

extension NaiveModel {
    /// What is to be done as Protocol/03-operations.md, "Items", has it: each in a line that says all of it.
    mutating func foldItems(_ acts: [Act], _ authors: [LogTag: PersonID], isGroup: Bool) {
        let shared = acts.filter { $0.lane == .shared && $0.author.role >= .member }
        let withdrawals = shared.filter { act in
            guard act.kind == 99, let target = act.target, let begun = authors[target.tag] else {
                return false
            }
            return begun == act.author.person || (isGroup && act.author.role >= .admin)
        }
        let withdrawn = Set(withdrawals.compactMap(\.changed))
        for act in shared {
            let isGone = act.kind == 100 && withdrawn.contains(act.named)
            let isAboutGone = act.changed.map { withdrawn.contains($0) } ?? false
            if isGone || (act.kind == 101 && isAboutGone) { erased.append(act.place) }
        }
        for act in shared
        where act.kind == 100 && act.hasBody && !withdrawn.contains(act.named) {
            guard let item = Payload.decode(PayloadItem.self, act.payload), !item.title.isEmpty
            else { continue }
            let changes = shared.filter {
                $0.kind == 101 && $0.hasBody && $0.changed == act.named
            }.compactMap { change in
                Payload.decode(PayloadItemChange.self, change.payload).map { (change, $0) }
            }
            items.append(Self.line(of: act, item, changes))
        }
        items = Array(items.suffix(1024))
    }

    /// - Parameter changes: in order.
    private static func line(
        of act: Act, _ item: PayloadItem, _ changes: [(act: Act, change: PayloadItemChange)]
    ) -> String {
        func last(_ field: UInt32) -> (act: Act, change: PayloadItemChange)? {
            changes.last { $0.change.field == field }
        }
        let named = changes.filter { $0.change.field == 1 }.suffix(64)
        var titles = [(item.title, act.named)]
        titles += named.map { ($0.change.text, $0.act.named) }
        let left = titles.enumerated().filter { place, title in
            !named.dropFirst(place).contains { other in
                other.act.operation.operation.header.references.dropFirst().contains {
                    let place = Place(tag: $0.tag, sequence: $0.sequence)
                    return Named(place: place, check: $0.check) == title.1
                }
            }
        }.map(\.element.0).reversed()
        var persons = Set(item.assignees.map { fieldBytes($0) })
        for (_, change) in changes where change.field == 5 {
            let person = fieldBytes(change.person)
            if change.number == 1 { persons.insert(person) } else { persons.remove(person) }
        }
        let done = last(4).flatMap { $0.change.number == 1 ? $0.act.author.person : nil }
        return "\(act.place.tag)-\(act.place.sequence) \(act.author.person) \(Array(left)) "
            + "\(persons.sorted { $0.lexicographicallyPrecedes($1) }) "
            + "\(last(3)?.change.number ?? item.due) \(done.map(\.description) ?? "open") "
            + "\(last(2)?.change.text ?? item.notes)"
    }
}

extension ActionItem {
    /// The same line of what is shown.
    var naiveLine: String {
        "\(reference.tag)-\(reference.sequence) \(author) \(titles) \(assignees.map(\.bytes)) "
            + "\(due ?? 0) \(doneBy?.description ?? "open") \(notes)"
    }
}
