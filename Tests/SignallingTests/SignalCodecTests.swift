import ParleyWire
import Testing

@testable import ParleySignalling

/// Signals of every kind.
enum Signals {
    static let bodies: [SignalBody] = {
        let call = Cast.call
        let way = Candidate(text: "candidate:1 1 udp 1 10.0.0.1 9 typ host", part: "0", index: 2)
        let calls: [CallSignal] =
            [
                .ring([.microphone, .camera], elapsed: 5_000), .ringing, .join(.microphone),
                .members(["a1", "b1"].map { Cast.device($0).device }), .state([.screen]),
                .leg(.offer(1, startsAnew: true, "v=0\r\n")), .leg(.answer(300, "v=0\r\nä")),
                .leg(.candidate(2, way)),
                .leg(.candidate(2, Candidate(text: "", part: "0", index: 0))),
                .leg(.renegotiate(startsAnew: false)),
            ] + Refusal.allCases.map { .reject($0) } + Departure.allCases.map { .leave($0) }
        return [.typing(true), .typing(false), .presence(.away, lastSeen: 60_000)]
            + calls.map { .call(call, $0) }
    }()

    static func encoded(_ body: SignalBody) -> [UInt8] {
        Signal(space: Cast.space, stamp: Stamp(0).next(at: 1_700_000_000_000), body: body).encoded()
    }
}

@Suite("Signals as bytes")
struct SignalCodecTests {
    @Test("what is written is read again")
    func roundTrip() throws {
        for body in Signals.bodies {
            let signal = try #require(try Signal.decode(Signals.encoded(body)))
            #expect(signal.body == body)
            #expect(signal.space == Cast.space)
            #expect(signal.stamp.wallClock == 1_700_000_000_000)
        }
    }

    @Test("a signal cut short, or with something after it, is refused")
    func cut() throws {
        for body in Signals.bodies {
            let bytes = Signals.encoded(body)
            for count in 0..<bytes.count {
                #expect(throws: DecodingFailure.self) {
                    try Signal.decode(Array(bytes.prefix(count)))
                }
            }
            #expect(throws: DecodingFailure.trailingBytes(1)) { try Signal.decode(bytes + [0]) }
        }
    }

    @Test("a kind that only a newer version knows is skipped, a newer version is refused")
    func newer() throws {
        var bytes = Signals.encoded(.typing(true))
        bytes[bytes.count - 2] = 99
        #expect(try Signal.decode(bytes) == nil)
        bytes[0] = 2
        #expect(throws: DecodingFailure.unknownVersion(2)) { try Signal.decode(bytes) }
    }

    @Test("no field passes its bound")
    func bounds() {
        let long = String(repeating: "x", count: Limits.descriptionByteCountMax + 1)
        let way = Candidate(
            text: String(repeating: "x", count: Limits.candidateByteCountMax + 1), part: "",
            index: 0)
        let devices = (0...Limits.callDeviceCountMax).map { index in
            DeviceID { $0[0] = UInt8(index) }
        }
        let bad: [CallSignal] = [
            .leg(.offer(1, startsAnew: false, long)), .leg(.answer(1, long)),
            .leg(.candidate(1, way)), .members(devices), .members(devices.prefix(2).reversed()),
            .leg(.answer(0, "")), .state(MediaState(rawValue: 8)),
        ]
        for signal in bad {
            #expect(throws: DecodingFailure.self) {
                try Signal.decode(Signals.encoded(.call(Cast.call, signal)))
            }
        }
        var text = Signals.encoded(.call(Cast.call, .leg(.answer(1, "v=0"))))
        text[text.count - 1] = 0xff
        #expect(throws: DecodingFailure.forbidden(field: "description")) {
            try Signal.decode(text)
        }
    }

    @Test("a stamp is greater than the one before, though the clock goes back")
    func stamps() {
        let first = Stamp(0).next(at: 5_000)
        #expect(first.wallClock == 5_000)
        #expect(first.next(at: 5_000) > first)
        #expect(first.next(at: 4_000) > first)
        #expect(first.next(at: .max).wallClock < Limits.wallClockMax)
    }
}

@Suite("Fresh or stale")
struct FreshnessTests {
    static let minute: UInt64 = 60_000
    static let wall: UInt64 = 1_700_000_000_000

    private func judged(
        _ freshness: inout Freshness, said: UInt64, number: UInt64 = 0, offset: Int64? = nil
    ) -> Freshness.Verdict {
        freshness.judge(
            Stamp(said << 16 | number), from: Cast.device("a1").device, living: Self.minute,
            at: Self.wall, offset: offset)
    }

    @Test("a signal is taken once, and an older one that came on another way still is")
    func copies() {
        var freshness = Freshness()
        #expect(judged(&freshness, said: Self.wall) == .fresh)
        #expect(judged(&freshness, said: Self.wall) == .copy)
        #expect(judged(&freshness, said: Self.wall - 100) == .fresh)
        #expect(judged(&freshness, said: Self.wall - 100) == .copy)
    }

    @Test("what falls out of memory counts as heard")
    func floor() {
        var freshness = Freshness()
        for number in 0...UInt64(Freshness.stampCountMax) {
            #expect(judged(&freshness, said: Self.wall, number: number + 1) == .fresh)
        }
        #expect(judged(&freshness, said: Self.wall, number: 1) == .copy)
        #expect(judged(&freshness, said: Self.wall, number: 0) == .copy)
    }

    @Test("old signals and those from the future are stale, clocks that differ allowed for")
    func ages() {
        var freshness = Freshness()
        #expect(judged(&freshness, said: Self.wall - 2 * Self.minute) == .fresh)
        #expect(judged(&freshness, said: Self.wall - 2 * Self.minute - 1) == .stale)
        #expect(judged(&freshness, said: Self.wall + Self.minute) == .fresh)
        #expect(judged(&freshness, said: Self.wall + Self.minute + 1) == .stale)
        // Where clocks were compared, an hour between them is nothing, and less is allowed for.
        let hour = Int64(60 * Self.minute)
        #expect(judged(&freshness, said: Self.wall + 60 * Self.minute, offset: hour) == .fresh)
        #expect(judged(&freshness, said: Self.wall - 2 * Self.minute, offset: 0) == .stale)
        #expect(judged(&freshness, said: Self.wall, offset: .min) == .stale)
    }

    @Test("so many devices are remembered, and no more")
    func devices() {
        var freshness = Freshness()
        for index in 0..<Freshness.deviceCountMax + 10 {
            let device = DeviceID {
                $0[0] = UInt8(index & 255)
                $0[1] = UInt8(index >> 8)
            }
            for verdict in [Freshness.Verdict.fresh, .copy] {
                #expect(
                    freshness.judge(
                        Stamp(Self.wall << 16), from: device, living: 0, at: Self.wall, offset: nil)
                        == verdict)
            }
        }
    }
}
