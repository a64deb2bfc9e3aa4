import ParleySimulation

/// How often people do what. Every command of a node is in it; a house test compares.
public enum Mix {
    /// The usual mix: weights by the name of the deed.
    public static let usual: [String: UInt64] = [
        "write": 560, "reply": 80, "react": 110, "edit": 60, "read": 80, "delete": 30,
        "rename": 10, "mute": 10, "bringIn": 14, "found": 4, "nameSelf": 4, "invite": 3,
        "verify": 3, "ask": 3, "answer": 4, "uninvite": 1, "add": 5, "remove": 3, "promote": 3,
        "quit": 1,
        "govern": 2, "consent": 8, "permit": 2,
    ]

    /// A group that never comes to rest: half of all that is done changes who is in it.
    public static let membership: [String: UInt64] = [
        "write": 340, "reply": 40, "react": 40, "edit": 30, "delete": 20, "read": 20, "rename": 10,
        "add": 220, "remove": 120, "promote": 100, "quit": 20, "govern": 40,
        "consent": 60, "permit": 20,
    ]

    /// What people do about their devices, about backups and with links into groups.
    static let household: [String: UInt64] = [
        "link": 4, "nameDevice": 3, "revoke": 3, "keepBackup": 4, "recover": 2, "openGroup": 6,
        "closeGroup": 1, "join": 10,
    ]

    /// What people do that is said at once and may be forgotten.
    static let talk: [String: UInt64] = [
        "call": 5, "pickUp": 12, "turnDown": 2, "hangUp": 4, "typing": 8, "appear": 3, "confide": 1,
    ]

    /// What people do with messages and conversations that are there.
    static let curation: [String: UInt64] = [
        "forward": 4, "star": 4, "pin": 4, "archive": 2, "keepFirst": 1, "unread": 3, "mute": 2,
        "draft": 2, "mention": 6, "describe": 2, "profile": 2, "lifetime": 2,
        "rule": 2, "discreet": 2, "deleteForOneself": 1, "report": 1,
    ]

    /// What people do with files.
    static let files: [String: UInt64] = [
        "attach": 12, "fetch": 4, "forget": 2, "room": 2, "picture": 3, "fillDisk": 2,
    ]

    /// What people do together, all of which is one deed.
    static let teamwork: [String: UInt64] = ["together": 1]
    /// … and what they do so.
    static let together: [String: UInt64] = [
        "ask": 3, "vote": 12, "close": 2, "withdraw": 1, "begin": 4, "change": 12, "drop": 1,
        "note": 18,
        "propose": 3, "decide": 10, "remind": 3, "remember": 3,
        "later": 3,
    ]
    /// … and with notes.
    static let notes: [String: UInt64] = [
        "begin": 4, "edit": 14, "write": 2, "retitle": 2, "tear": 1,
    ]

    /// The same where some ring and go, and some keep others away who call all the same.
    static let unrulyTalk: [String: UInt64] = [
        "call": 5, "pickUp": 8, "turnDown": 2, "hangUp": 4, "typing": 8, "appear": 3, "confide": 1,
        "ringAndGo": 5, "ringAt": 5, "shutOut": 2,
    ]

    /// A group that never comes to rest, and in which those who may take back what others wrote.
    static let unruly: [String: UInt64] = [
        "write": 340, "reply": 60, "react": 40, "edit": 40, "delete": 100, "read": 20, "rename": 10,
        "add": 200, "remove": 110, "promote": 160, "quit": 10, "govern": 40,
    ]

    /// Whether people do it; all else breaks by itself, or is malice.
    static func isOfPeople(_ name: String) -> Bool {
        [usual, household, unrulyTalk, curation, teamwork, files].contains { $0[name] != nil }
    }

    /// What somebody does who mostly reads.
    static let lurking: [String: UInt64] = ["read": 600, "react": 250, "write": 100, "reply": 50]

    /// A deed by its weight; weights are gone through in the order of their names.
    static func draw(_ weights: [String: UInt64], _ random: inout SeededRandom) -> String {
        let total = weights.values.reduce(0, +)
        guard total > 0 else { return "write" }
        var left = random.next() % total
        for name in weights.keys.sorted() {
            let weight = weights[name] ?? 0
            if left < weight { return name }
            left -= weight
        }
        return "write"
    }

    /// How far back something lies that somebody means: Zipf's law over the newest 32, so that the
    /// newest is meant twice as often as the one before, and three times as often as the third.
    ///
    /// One in eight is much older: it may lie in the hole of somebody who was sent the newest first,
    /// and so come after what was done to it.
    static func rank(_ random: inout SeededRandom) -> Int {
        if random.next() % 8 == 0 {
            return (32 << Int(random.next() % 5)) + Int(random.next() % 32)
        }
        var left = random.next() % total
        for (rank, weight) in zipf.enumerated() {
            if left < weight { return rank }
            left -= weight
        }
        return 0
    }

    private static let zipf: [UInt64] = (1...32).map { 1_000_000 / $0 }
    private static let total = zipf.reduce(0, +)
}
