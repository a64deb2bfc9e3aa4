import ParleyConversation
import ParleyLedger
import ParleyWire

/// Where a page of entries ends, as text that programs pass back and do not look into.
enum EntryCursor {
    static func text(_ entry: ParleyConversation.Entry) -> String {
        "\(String(entry.order.stand, radix: 16)).\(entry.operation.rawValue)"
    }

    static func entry(
        _ text: String, of field: EntryField
    ) throws -> ParleyConversation.Entry {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let stand = UInt64(parts[0], radix: 16),
            let number = Int64(parts[1]), stand < Limits.clockMax, number > 0
        else {
            throw NodeError(
                "bad-cursor", "“\(text)” is not a cursor.",
                hint: "Use the `next` of an earlier page as it is.")
        }
        return .pageEnd(at: stand, OperationNumber(number), of: field)
    }
}
