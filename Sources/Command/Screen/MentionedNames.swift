import Parley

extension MessageView {
    /// The text with the present names of the mentioned persons, in place of those that its author
    /// wrote. With invalid or unordered positions it stays as it was written.
    var textWithNames: String? {
        guard let text, !mentions.isEmpty else { return text }
        let bytes = Array(text.utf8)
        var (shown, end): ([UInt8], Int) = ([], 0)
        for mention in mentions {
            guard let start = mention.start, let length = mention.length else { continue }
            guard start >= end, length > 0, length <= bytes.count - start,
                bytes[start] == UInt8(ascii: "@")
            else { return text }
            shown += bytes[end..<start] + Array("@\(mention.name)".utf8)
            end = start + length
        }
        return String(decoding: shown + bytes[end...], as: UTF8.self)
    }
}
