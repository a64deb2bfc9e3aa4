import Foundation
import Testing

@testable import parley

@Suite("Notices")
struct NoticeTests {
    @Test(
        "hours go over midnight, and nothing else is read as hours",
        arguments: [
            ("22:00-07:00", [0, 419, 1_320, 1_439], [420, 1_319]),
            ("09:30-17:00", [570, 1_019], [569, 1_020]), ("00:00-00:01", [0], [1, 1_439]),
        ])
    func hours(text: String, quiet: [Int], loud: [Int]) throws {
        let hours = try #require(QuietHours(text))
        for minute in quiet { #expect(hours.contains(minute), "\(minute)") }
        for minute in loud { #expect(!hours.contains(minute), "\(minute)") }
        for wrong in [
            "", "22-7", "24:00-07:00", "22:00-07:60", "7:00-8:00", "07:00-07:00", "07:00",
            "07:00-08:00-09:00", "٠٧:00-08:00", "07:00–08:00",
        ] { #expect(QuietHours(wrong) == nil, "\(wrong)") }
    }

    private func message(_ text: String = "x", isGroup: Bool = false) -> Notice {
        Notice(event: .message, sender: "Ben", conversation: "trip", isGroup: isGroup, text: text)
    }

    @Test("what is set decides what passes")
    func rules() {
        var gate = NoticeGate(.init(mentionsOnly: true, quietHours: QuietHours("22:00-07:00")))
        func passes(_ notice: Notice, _ minute: Int) -> Bool {
            !gate.pass(notice, at: 0, minuteOfDay: minute).isEmpty
        }
        #expect(!passes(message(isGroup: true), 600))
        #expect(passes(message(), 600))
        #expect(passes(Notice(event: .mention, isGroup: true), 600))
        for event in [Notice.Event.message, .mention, .reminder, .request, .invitation] {
            #expect(!passes(Notice(event: event), 0))
        }
    }

    @Test("a call rings as it is set, and is told to be over to whom it rang")
    func calls() {
        let (call, end) = (
            Notice(event: .call, reference: "1"), Notice(event: .callEnded, reference: "1")
        )
        for (calls, minute, rings) in [
            (NoticeGate.Calls.always, 0, true), (.outsideQuietHours, 0, false),
            (.outsideQuietHours, 600, true), (.never, 600, false),
        ] {
            var gate = NoticeGate(
                .init(quietHours: QuietHours("22:00-07:00"), calls: calls, perMinute: 1))
            _ = gate.pass(message(), at: 0, minuteOfDay: 600)
            #expect(gate.pass(call, at: 60, minuteOfDay: minute).isEmpty != rings)
            #expect(gate.pass(end, at: 60, minuteOfDay: 0) == (rings ? [end] : []))
            #expect(gate.pass(end, at: 60, minuteOfDay: 600).isEmpty)
        }
    }

    @Test("a flood is told of once a minute, with how many it was")
    func flood() {
        var gate = NoticeGate(.init(perMinute: 3))
        var told: [Notice] = []
        for second in 0..<60 {
            for _ in 0..<100 { told += gate.pass(message(), at: Int64(second), minuteOfDay: 0) }
        }
        #expect(told == [message(), message(), message()])
        let next = gate.pass(message("y"), at: 60, minuteOfDay: 0)
        #expect(next == [Notice(event: .more, count: 5_997), message("y")])
        #expect(next[0].body(.all) == "5997 more")
    }

    @Test("content is hidden as it is set")
    func content() {
        let notice = Notice(
            event: .message, sender: "Ben", conversation: "trip", conversationID: "ab",
            isGroup: true, text: "secret", reference: "7")
        #expect(notice.facts(.all)["PARLEY_TEXT"] == "secret")
        #expect(notice.facts(.sender)["PARLEY_TEXT"] == nil)
        #expect(notice.facts(.sender)["PARLEY_SENDER"] == "Ben")
        #expect(notice.facts(.none) == ["PARLEY_EVENT": "message"])
        #expect(notice.title(.all) == "Ben in trip" && notice.body(.all) == "secret")
        #expect(notice.title(.sender) == "Ben in trip" && notice.body(.sender) == "a new message")
        #expect(notice.title(.none) == "Parley" && notice.body(.none) == "a new message")
    }

    @Test("an environment holds no zero and is bounded")
    func bounds() {
        let notice = message("a\0b" + String(repeating: "é😀", count: 10_000))
        let text = notice.facts(.all)["PARLEY_TEXT"] ?? ""
        #expect(text.hasPrefix("a␀b") && text.hasSuffix("…"))
        #expect(text.utf8.count <= Notice.textByteCountMax && !text.utf8.contains(0))
    }

    @Test("a call over the bus is laid out as the specification says")
    func marshalling() {
        var writer = BusWriter()
        writer.string("ab")
        writer.array(alignment: 8) { $0.bytes += [1, 2] }
        // Four of length, "ab" and a zero, one of gap, four of length, four of gap.
        #expect(writer.bytes == [2, 0, 0, 0, 97, 98, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 2])
        let bytes = BusMessage.notify(
            title: "a<b", body: "<i>&\u{1B}[31m", isUrgent: true, serial: 2
        ).bytes
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("a<b") && text.contains("&lt;i&gt;&amp;␛[31m"))
        #expect(!bytes.contains(0x1B))
    }

    @Test(
        "the bus is where the session says",
        arguments: [
            ("unix:path=/run/user/1/bus,guid=ab", Array("/run/user/1/bus".utf8)),
            ("tcp:host=x,port=1;unix:abstract=/tmp/d%2f1", [0] + Array("/tmp/d/1".utf8)),
            ("tcp:host=x", nil), ("unix:guid=1", nil), ("", nil),
        ] as [(String, [UInt8]?)])
    func address(text: String, address: [UInt8]?) {
        #expect(DesktopBus(["DBUS_SESSION_BUS_ADDRESS": text])?.address == address)
    }
}
