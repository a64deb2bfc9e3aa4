import ParleyLedger
import ParleySealing
import ParleyWords

/// The key of the index of words, under which its terms are hashed.
///
/// It is random and in the vault, and each rebuilt index gets another one: a thief with older keys,
/// and a copy of the present database, can test no word against it.
/// Source: `Protocol/10-search.md`, "Index of words".
struct WordKey {
    private static let letters = SQLiteStore.letters
    let secret: Secret

    /// The terms as they are stored, in the form that FTS5 takes.
    func hashed(_ terms: [Term]) -> String {
        var text = ""
        text.reserveCapacity(terms.count * 9)
        for term in terms {
            if !text.isEmpty { text.append(" ") }
            text += hash(term)
        }
        return text
    }

    /// A term as it is stored: 40 bits of a keyed hash, in 8 letters.
    func hash(_ term: Term) -> String {
        let bytes = derive(key: secret, .word, context: term.bytes, byteCount: 16)
        let hash = bytes.prefix(5).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return String(
            decoding: (0..<8).map { Self.letters[Int(hash >> (35 - 5 * $0)) & 31] },
            as: UTF8.self)
    }
}

extension SQLiteStore {
    private static let wordKeyName = "index key"
    static let letters = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// The key of the index as it is, or nil where it has none: it is off, was never begun, or is of
    /// the days when its key grew from the master key.
    func wordKey() throws(StoreError) -> WordKey? {
        if let known = heldWordKey { return known }
        heldWordKey = try vault.secret(Self.wordKeyName).map { WordKey(secret: $0) }
        return heldWordKey
    }

    /// The same of an index that is current: it cannot lack its key.
    func requireWordKey() throws(StoreError) -> WordKey {
        guard let key = try wordKey() else { throw Self.damaged("reading the index") }
        return key
    }

    /// Takes another key, or none, in the transaction that empties the index.
    func renewWordKey(isOff: Bool) throws(StoreError) {
        writes()
        heldWordKey = nil
        try vault.setSecret(isOff ? nil : random.secret(), Self.wordKeyName)
    }
}
