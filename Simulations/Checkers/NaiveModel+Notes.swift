import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

extension NaiveModel {
    /// Notes as Protocol/03-operations.md, "Notes", has them: each in a line that says all of it.
    mutating func foldNotes(_ acts: [Act], _ authors: [LogTag: PersonID], isGroup: Bool) {
        let withdrawals = acts.filter { act in
            guard act.kind == 99, act.lane == .shared, act.author.role >= .member,
                let target = act.target, let begun = authors[target.tag]
            else { return false }
            return begun == act.author.person || (isGroup && act.author.role >= .admin)
        }
        let withdrawn = Set(withdrawals.compactMap(\.changed))
        let said = acts.filter { $0.lane == .notes && $0.author.role >= .member }
        for act in said {
            let about = act.kind == 120 ? act.named : act.changed
            guard (120...122).contains(act.kind), let about, withdrawn.contains(about) else {
                continue
            }
            erased.append(act.place)
        }
        for act in said where act.kind == 120 && !withdrawn.contains(act.named) {
            guard let title = Self.title(act) else { continue }
            let about = said.filter { $0.changed == act.named }
            let titles = about.filter { $0.kind == 122 }.compactMap(Self.title)
            let edits = about.filter { $0.kind == 121 }.compactMap { edit -> NaiveNote.Edit? in
                guard edit.hasBody, let changes = Self.changes(edit.payload) else { return nil }
                let reference = OperationReference(
                    tag: edit.place.tag, sequence: edit.place.sequence,
                    check: edit.operation.id.check)
                let named = edit.operation.operation.header.references.dropFirst()
                return NaiveNote.Edit(name: reference, named: Array(named), changes: changes)
            }
            notes.append(
                "\(act.place.tag)-\(act.place.sequence) \(act.author.person) "
                    + "\(titles.last ?? title): \(NaiveNote(edits).text)")
        }
        notes = Array(notes.suffix(1024))
    }

    private static func title(_ act: Act) -> String? {
        guard act.hasBody, act.payload.first == 1, (2...1025).contains(act.payload.count) else {
            return nil
        }
        return String(validating: act.payload.dropFirst(), as: UTF8.self)
    }

    /// The changes of an edit; nil where its bytes break a rule.
    private static func changes(
        _ payload: [UInt8]
    ) -> [(position: Int, deleted: Int, inserted: [Unicode.Scalar])]? {
        guard payload.first == 1 else { return nil }
        var rest = payload.dropFirst()
        func number() -> Int? {
            var (value, shift) = (0, 0)
            while let byte = rest.popFirst() {
                value |= Int(byte & 127) << shift
                shift += 7
                if byte < 128 {
                    let isShortest = byte > 0 || shift == 7
                    return isShortest && value < 1 << 31 ? value : nil
                }
                if shift > 28 { return nil }
            }
            return nil
        }
        var changes: [(position: Int, deleted: Int, inserted: [Unicode.Scalar])] = []
        var size = 0
        while !rest.isEmpty {
            guard let position = number(), let deleted = number(), let count = number(),
                rest.count >= count, deleted > 0 || count > 0,
                let text = String(validating: rest.prefix(count), as: UTF8.self)
            else { return nil }
            rest = rest.dropFirst(count)
            size += count
            changes.append((position, deleted, Array(text.unicodeScalars)))
        }
        return changes.count <= 1024 && size <= 32 * 1024 ? changes : nil
    }
}
