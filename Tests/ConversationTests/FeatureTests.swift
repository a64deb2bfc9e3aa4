import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@Suite("Features of a conversation")
struct FeatureTests {
    let cast: Cast

    init() throws { cast = try Cast(seed: 99) }

    @Test("an edit is shown with its history, and only its author's counts")
    func edits() throws {
        let message = try cast.cara.say("helo")
        try cast.cara.write(MessageEdit(text: "hello").draft(of: message))
        try cast.meet()
        for writer in [cast.ann, cast.ben, cast.dan] {
            try writer.write(MessageEdit(text: "forged").draft(of: message))
        }
        try cast.meet()
        for writer in cast.all {
            let shown = try #require(try writer.replica.messages().first)
            #expect(shown.text == "hello" && shown.history == ["helo"])
        }
    }

    @Test("a member cannot delete what others wrote, an admin can, and its text is gone")
    func deletions() throws {
        let message = try cast.cara.say("secret")
        try cast.meet()
        try cast.dan.write(MessageDeletion.draft(of: message))
        try cast.meet()
        #expect(try cast.ann.replica.texts() == ["secret"])
        try cast.ben.write(MessageDeletion.draft(of: message))
        try cast.meet()
        for writer in cast.all {
            #expect(try writer.replica.texts() == [nil])
            let store = writer.replica.store
            let log = try #require(try store.log(message.tag, in: writer.replica.space.number))
            let stored = try #require(try store.operation(at: message.sequence, in: log.number))
            #expect(stored.operation.isErased)
        }
    }

    @Test("a deletion wins over an edit that was written at the same time")
    func deletionWins() throws {
        let message = try cast.cara.say("one")
        try cast.meet()
        try cast.ann.write(MessageDeletion.draft(of: message))
        let edit = try cast.cara.write(MessageEdit(text: "two").draft(of: message))
        try cast.meet()
        for writer in cast.all {
            #expect(try writer.replica.messages().map(\.text) == [nil])
            let store = writer.replica.store
            let log = try #require(try store.log(edit.tag, in: writer.replica.space.number))
            let stored = try store.operation(at: edit.sequence, in: log.number)
            #expect(stored?.operation.isErased == true)
        }
    }

    @Test("a deletion that is held before its message erases it when it comes")
    func deletionFirst() throws {
        let message = try cast.cara.say("never seen")
        try cast.meet()
        try cast.cara.write(MessageDeletion.draft(of: message))
        try cast.cara.say("newest")
        let replica = try cast.newReplica(seed: 1)
        let log = try cast.cara.logs()[0]
        // As it travelled before the deletion, with its text.
        let held = try #require(
            try cast.ann.replica.store.log(
                message.tag, in: cast.ann.replica.space.number))
        let full = try #require(
            try cast.ann.replica.store.operation(at: 0, in: held.number)
        ).operation
        #expect(full.payload != nil)
        var first = log[0].run
        first.operations = [full]
        for parcel in [log[2], log[1]] { #expect(try replica.receive(parcel)) }
        #expect(try replica.texts() == ["newest"])
        #expect(try replica.receive(Parcel(run: first)))
        #expect(try replica.texts() == [nil, "newest"])
        #expect(try replica.messages().first?.flags.contains(.deleted) == true)
    }

    @Test(
        "Attack 174: an edit and a deletion of what another branch holds at a place say nothing here"
    )
    func otherBranch() throws {
        let message = try cast.cara.say("kept")
        let other = OperationReference(
            tag: message.tag, sequence: message.sequence,
            check: Check(high: message.check.high ^ 1, low: message.check.low))
        try cast.cara.write(MessageEdit(text: "of another").draft(of: other))
        try cast.cara.write(MessageDeletion.draft(of: other))
        try cast.cara.write(MessageEdit(text: "kept well").draft(of: message))
        try cast.cara.say("newest")
        let replica = try cast.newReplica(seed: 1)
        // The newest comes first, and the message last.
        for parcel in try cast.cara.logs()[0].reversed() { #expect(try replica.receive(parcel)) }
        for shown in [replica, cast.cara.replica] {
            let found = try #require(try shown.messages().first)
            #expect(found.text == "kept well" && found.history == ["kept"])
            #expect(!found.flags.contains(.deleted))
        }
        #expect(try replica.digest() == cast.cara.replica.digest())
        // What is about this one counts as ever.
        try cast.cara.write(MessageDeletion.draft(of: message))
        for parcel in try cast.cara.logs()[0].suffix(1) { #expect(try replica.receive(parcel)) }
        for shown in [replica, cast.cara.replica] {
            #expect(try shown.texts() == [nil, "newest"])
        }
        #expect(try replica.digest() == cast.cara.replica.digest())
    }

    /// Ben deleted what Cara wrote and wrote on. A newcomer took Ben's newest message first, then
    /// the deletion below it, before anything of Cara's: it did not know whose message it was,
    /// forgot the deletion, and showed for good what nobody else saw.
    @Test(
        "a deletion or an edit below the newest counts though the log it is about is unknown",
        arguments: [0, 1])
    func unknownLog(extra: Int) throws {
        for count in 0..<extra { try cast.cara.say("before \(count)") }
        let message = try cast.cara.say("unwanted")
        try cast.meet()
        try cast.ben.write(MessageDeletion.draft(of: message))
        try cast.ben.say("newest")
        let replica = try cast.newReplica(seed: 1)
        let ben = try cast.ben.logs()[0]
        #expect(try replica.receive(ben[1]))
        #expect(try replica.receive(ben[0]))
        for parcel in try cast.cara.logs()[0] { #expect(try replica.receive(parcel)) }
        try cast.meet()
        #expect(try replica.texts().contains("unwanted") == false)
        #expect(try replica.digest() == cast.ann.replica.digest())
    }

    @Test("for each person and emoji the last toggle counts")
    func reactions() throws {
        let message = try cast.ann.say("lunch?")
        try cast.meet()
        for writer in [cast.ben, cast.cara] {
            try writer.write(Reaction(emoji: "+", isOn: true).draft(to: message))
        }
        try cast.cara.write(Reaction(emoji: "+", isOn: false).draft(to: message))
        try cast.meet()
        let shown = try #require(try cast.dan.replica.messages().first)
        #expect(shown.reactions.map(\.emoji) == ["+"])
        #expect(shown.reactions.map(\.persons) == [[cast.ben.replica.person]])
    }

    @Test("of two names given at once one is shown everywhere, and a new one replaces both")
    func names() throws {
        let name = { (writer: Writer) in
            try Overview.name(of: writer.replica.space.number, in: writer.replica.store)
        }
        let rename = { (writer: Writer, name: String) in
            let previous = try Overview.nameReferences(
                of: writer.replica.space.number, in: writer.replica.store)
            try writer.write(ConversationName(name: name).draft(replacing: previous))
        }
        // Ann's clock is far ahead: it wins, but does not pin the name.
        cast.ann.wallClock += 500_000
        _ = try rename(cast.ann, "trip")
        _ = try rename(cast.ben, "journey")
        _ = try rename(cast.cara, "not an admin")
        try cast.meet()
        for writer in cast.all { #expect(try name(writer) == "trip") }
        _ = try rename(cast.ben, "voyage")
        try cast.meet()
        for writer in cast.all { #expect(try name(writer) == "voyage") }
        #expect(
            try Overview.nameReferences(
                of: cast.dan.replica.space.number, in: cast.dan.replica.store
            ).count == 1)
    }

    @Test("unread counts leave out own and deleted messages, and fall as one reads")
    func unread() throws {
        let first = try cast.ann.say("one")
        let second = try cast.ann.say("two")
        try cast.ann.say("three")
        try cast.dan.say("mine")
        try cast.meet()
        #expect(try cast.dan.replica.unreadCount() == 3)
        try cast.ann.write(MessageDeletion.draft(of: second))
        try cast.meet()
        #expect(try cast.dan.replica.unreadCount() == 2)
        try cast.dan.reads([first])
        #expect(try cast.dan.replica.unreadCount() == 1)
        try cast.dan.reads(try cast.dan.replica.messages().map(\.reference))
        #expect(try cast.dan.replica.unreadCount() == 0)
    }

    @Test("who reads the newest has not read what stands above it")
    func readAboveAHole() throws {
        func states() throws -> [MessageState?] {
            try cast.ann.replica.messages().sorted { $0.order < $1.order }.map(\.state)
        }
        _ = try cast.ann.say("one")
        let second = try cast.ann.say("two")
        try cast.meet()
        try cast.dan.reads([second])
        try cast.meet()
        #expect(try states() == [.saved, .read])
        #expect(try cast.dan.replica.unreadCount() == 1)
        let first = try Overview.firstUnread(
            of: cast.dan.replica.space, roster: cast.roster, ownPerson: cast.dan.replica.person,
            in: cast.dan.replica.store)
        #expect(try first == cast.dan.replica.messages().map(\.order).min())
    }

    @Test("nothing at or above a fork or a cut is shown as delivered, whatever was said")
    func stateAboveABound() throws {
        let messages = try ["one", "two", "three"].map { try cast.ann.say($0) }
        try cast.meet()
        try cast.dan.reads(messages)
        try cast.meet()
        let replica = cast.ann.replica
        func states() throws -> [MessageState?] {
            try replica.messages().sorted { $0.order < $1.order }.map(\.state)
        }
        #expect(try states() == [.read, .read, .read])
        let tag = messages[0].tag
        for bound in [\LogRecord.proven, \LogRecord.limit] {
            var log = try #require(try replica.store.log(tag, in: replica.space.number))
            let stored = try #require(try replica.store.operation(at: 1, in: log.number))
            log[keyPath: bound] = LogPoint(sequence: 2, anchor: stored.id)
            try replica.store.begin(.normal)
            try replica.store.update(log)
            #expect(try states() == [.read, .read, .saved])
            log[keyPath: bound] = nil
            try replica.store.update(log)
            try replica.store.commit()
        }
    }

    @Test("reactions and deletions between two messages part no ranges, unread edits do")
    func betweenTwoMessages() throws {
        let first = try cast.ann.say("one")
        try cast.ann.write(Reaction(emoji: "+", isOn: true).draft(to: first))
        let second = try cast.ann.say("two")
        try cast.ann.write(MessageEdit(text: "none").draft(of: first))
        let third = try cast.ann.say("three")
        try cast.meet()
        func progress(_ messages: [OperationReference]) throws -> [[Range<UInt64>]] {
            try cast.dan.progress(reading: messages).map(\.places.ranges)
        }
        let places = [first, second, third].map(\.sequence)
        #expect(try progress([first, second]) == [[places[0]..<places[2]]], "with the edit seen")
        try cast.dan.reads([second])
        #expect(try progress([third]) == [[places[1]..<places[1] + 1, places[2]..<places[2] + 1]])
    }

    @Test("operations under another authority, in another lane, or that nobody knows, do nothing")
    func unentitled() throws {
        let before = try cast.ann.replica.digest()
        var draft = TextMessage(text: "in the wrong lane").draft()
        draft.lane = .shared
        try cast.ann.write(draft)
        try cast.ann.write(
            Draft(kind: OperationKind(rawValue: 9999), lane: .content, payload: [1]))
        try cast.ann.write(Draft(kind: .text, lane: .content, payload: [0xff]))
        #expect(try cast.ann.replica.digest() == before)
    }

    @Test("a reaction is one emoji, of what Unicode calls so, and whatever else comes is kept")
    func emoji() throws {
        for text in [
            "👍", "👍🏽", "❤️", "❤", "👩‍🚒", "👨‍👩‍👧‍👦", "🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣", "#️⃣", "☺️", "©️",
            "🏳️‍🌈",
        ] { #expect(Reaction.isEmoji(text), "\(text)") }
        for text in [
            "", "a", "abc", "1", "#", "👍👍", "👍 ", "👍a", "\u{202E}", "\u{202E}👍", "🇩", "é",
            "日", "👍\u{301}", "👍\u{200D}", "\u{200D}", "\u{FE0F}", "🏴\u{E0068}\u{E0069}",
            "👍\u{E0061}\u{E007F}", "that is a long sentence", "\n",
        ] { #expect(!Reaction.isEmoji(text), "\(text.unicodeScalars.map(\.value))") }
        let message = try cast.ann.say("lunch?")
        try cast.meet()
        try cast.ben.write(Reaction(emoji: "abc", isOn: true).draft(to: message))
        try cast.meet()
        #expect(try cast.dan.replica.messages().first?.reactions.map(\.emoji) == ["abc"])
    }
}
