import Parley
import Testing

@testable import ParleyReal

@Suite("What a real run is judged by")
struct JudgingTests {
    static func told(_ user: String, digest: String, members: Int = 2) throws -> Agreement.Told {
        let names = (0..<members).map { "\"m\($0)\"" }.joined(separator: ",")
        return try Agreement.Told(
            user: user,
            digests: [
                Sample.decoded(
                    """
                    {"conversation":"c1","name":"all","digest":"\(digest)","operationCount":5,
                     "isSuperseded":false}
                    """)
            ],
            conversations: [
                Sample.decoded(
                    """
                    {"id":"c1","kind":"group","name":"all","members":[\(names)],"unreadMentions":0,"unread":0,
                     "isMuted":false,"isArchived":false,"isKeptFirst":false,"isMarkedUnread":false,
                     "isInvited":false,"isOut":false,"mayWrite":true,"lacksEarlier":false,"holdsEarlier":false,
                     "lacksShared":false,"resembles":[]}
                    """)
            ])
    }

    static func message(_ text: String?, number: Int64 = 1) throws -> MessageView {
        let words = text.map { "\"text\":\"\($0)\"," } ?? ""
        return try Sample.decoded(
            """
            {"number":\(number),"id":"0000000000000001-\(number)","conversation":"c1","author":"ann",
             "person":"aa","isOwn":true,\(words)"time":1,"editCount":\(number - 1),"reactions":[],
             "waiting":[],"isDeleted":\(text == nil),
             "isImported":false,"isAction":false,"isLate":false,"isMissing":false,
             "isStranded":false,"isGoneHere":false,"isHidden":false,"isStarred":false,"isPinned":false,"files":[],
             "mentions":[],"mentionsEveryone":false,"mentionsMe":false}
            """)
    }

    @Test("equal digests on all members are equal, and nothing else is")
    func agreement() throws {
        let (ann, ben) = try (Self.told("ann", digest: "aa"), Self.told("ben", digest: "aa"))
        #expect(Agreement.difference([ann, ben]) == nil)
        #expect(try Agreement.difference([ann, Self.told("ben", digest: "bb")]) != nil)
        #expect(Agreement.difference([ann]) != nil)
        let crowd = try Self.told("ann", digest: "aa", members: 3)
        #expect(Agreement.difference([crowd, ben]) != nil)
    }

    @Test("a saved message has to be shown, as often as it was written, edited or not")
    func saved() throws {
        var saved = Saved()
        saved.add("hi", in: "c1")
        saved.add("hi", in: "c1")
        #expect(try saved.missing([Self.message("hi")], in: "c1") != nil)
        let both = try [Self.message("hi"), Self.message("ho", number: 2)]
        #expect(saved.missing(both, in: "c1") != nil)
        #expect(saved.missing(both, originals: [2: "hi"], in: "c1") == nil)
        #expect(saved.missing([], in: "c2") == nil)
        saved.forgive("hi", in: "c1")
        #expect(try saved.missing([Self.message("hi"), Self.message(nil)], in: "c1") == nil)
        #expect(try saved.missing([Self.message(nil)], in: "c1") != nil)
    }

    @Test("the strip says for each node what it holds, and who is cut or down")
    func strip() {
        let strip = Strip(users: ["ann", "ben", "cara", "dan"])
        var cuts = Cuts(users: strip.users)
        cuts.part([["ann"], ["ben", "cara", "dan"]], oneWay: false)
        cuts.set("dan", isAway: true)
        let line = strip.line(at: 12.34, what: "parted", held: [5, 6, nil, 7], cuts: cuts)
        #expect(
            line.split(separator: " ", omittingEmptySubsequences: true)
                == ["12.3", "parted", "a", "5", "b", "6", "x", "-", "7"])
        #expect(line.count == strip.header.count)
    }
}
