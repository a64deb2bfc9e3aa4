import ParleyWire
import Testing

@testable import ParleySignalling

@Suite("Typing")
struct TypingTests {
    @Test("it is said every three seconds, and at once when it stops")
    func throttled() {
        var typing = Typing()
        let said = stride(from: UInt64(0), to: 10_000, by: 100).filter {
            typing.types(true, in: Cast.space, at: $0)
        }
        #expect(said == [0, 3_000, 6_000, 9_000])
        let stopped = [typing.types(false, in: Cast.space, at: 9_950)]
        #expect(stopped == [true])
        let again = [typing.types(false, in: Cast.space, at: 9_960)]
        #expect(again == [false])
    }

    @Test("it is shown for five seconds after it was said")
    func shown() {
        var typing = Typing()
        let ben = Cast.person("b")
        let changes = [0, 3_000].map { typing.heard(true, from: ben, in: Cast.space, at: $0) }
        #expect(changes == [true, false])
        #expect(typing.persons(in: Cast.space) == [ben])
        #expect(typing.deadline == 8_000)
        let early = typing.due(at: 7_999)
        #expect(early.isEmpty)
        let late = typing.due(at: 8_000)
        #expect(late == [Cast.space])
        #expect(typing.persons(in: Cast.space).isEmpty)
    }

    @Test("so many are shown, and no more")
    func bounded() {
        var typing = Typing()
        for index in 0..<Typing.shownCountMax + 9 {
            let person = PersonID {
                $0[0] = UInt8(index & 255)
                $0[1] = UInt8(index >> 8)
            }
            _ = typing.heard(true, from: person, in: Cast.space, at: 0)
        }
        #expect(typing.persons(in: Cast.space).count == Typing.shownCountMax)
    }
}

@Suite("Presence")
struct PresenceTests {
    @Test("the best word of a person's devices counts, while it holds")
    func best() {
        var book = PresenceBook()
        let ben = Cast.person("b")
        let first = book.heard(.away, lastSeen: 60_000, from: Cast.device("b1"), at: 0)
        let second = book.heard(.online, lastSeen: 120_000, from: Cast.device("b2"), at: 10)
        #expect(first && second)
        #expect(book[ben]?.presence == .online)
        #expect(book[ben]?.lastSeen == 120_000)
        let lost = book.lost(Cast.device("b2"))
        #expect(lost)
        #expect(book[ben]?.presence == .away)
        #expect(book.deadline == PresenceBook.lifetime)
        let late = book.due(at: PresenceBook.lifetime)
        #expect(late == [ben])
        #expect(book[ben]?.presence == .offline)
        #expect(book[ben]?.lastSeen == 120_000)
        #expect(book[Cast.person("c")] == nil)
    }

    @Test("a person lets others know as much as they want, and no second of it")
    func privacy() {
        let word = { PresenceBook.word(.online, lastSeen: 123_456, for: $0) }
        #expect(word(.everything) == .presence(.online, lastSeen: 120_000))
        #expect(word(.nowOnly) == .presence(.online, lastSeen: 0))
        #expect(word(.nothing) == nil)
    }
}

@Suite("TURN")
struct TurnTests {
    private func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("SHA-1 gives the answers of RFC 3174")
    func hashes() {
        let answers: [([UInt8], String)] = [
            (text("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
            ),
            (
                [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000),
                "34aa973cd4c4daa4f61eeb2bdbad27316534016f"
            ),
            (
                text(String(repeating: "01234567", count: 80)),
                "dea356a2cddd90c7a7ecedc5ebb563934f460452"
            ),
            ([], "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ]
        for (message, answer) in answers { #expect(hex(SHA1.hash(message)) == answer) }
    }

    @Test("HMAC-SHA1 gives the answers of RFC 2202")
    func codes() throws {
        func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] {
            [UInt8](repeating: byte, count: count)
        }
        let larger = "Test Using Larger Than Block-Size Key"
        let answers: [(key: [UInt8], message: [UInt8], code: String)] = [
            (repeated(0x0b, 20), text("Hi There"), "b617318655057264e28bc0b6fb378c8ef146be00"),
            (
                text("Jefe"), text("what do ya want for nothing?"),
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
            ),
            (repeated(0xaa, 20), repeated(0xdd, 50), "125d7342b9ac11cd91a39af48aa17b4f63f175d3"),
            (
                (1...25).map { UInt8($0) }, repeated(0xcd, 50),
                "4c9007f4026250c6bc8414f9bf50c86c2d7235da"
            ),
            (
                repeated(0x0c, 20), text("Test With Truncation"),
                "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"
            ),
            (
                repeated(0xaa, 80), text(larger + " - Hash Key First"),
                "aa4ae5e15272d00e95705637ce8a3b55ed402112"
            ),
            (
                repeated(0xaa, 80), text(larger + " and Larger Than One Block-Size Data"),
                "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"
            ),
        ]
        for (key, message, code) in answers {
            #expect(hex(SHA1.authenticate(message, key: key)) == code)
        }
    }

    @Test("base 64 gives the answers of RFC 4648")
    func texts() {
        let answers = ["": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foobar": "Zm9vYmFy"]
        for (plain, answer) in answers { #expect(base64(text(plain)) == answer) }
    }

    @Test("a name that expires comes with the password that coturn works out for it")
    func credentials() throws {
        let server = try #require(
            TurnServer(address: "turn:10.0.0.1:3478?transport=udp", access: .secret("s3cret")))
        let made = try #require(server.credentials(at: 1_700_000_000_999, label: "ada"))
        #expect(made.name == "1700086400:ada")
        #expect(made.password == "pX/NAqXvXpRBSkTFuq5SONASfw4=")
        let fixed = TurnServer(address: "turn:x:1", access: .fixed(name: "n", password: "p"))
        #expect(fixed?.credentials(at: 0, label: "")?.password == "p")
        let open = TurnServer(address: "stun:x:1", access: .open)
        #expect(open?.credentials(at: 0, label: "") == nil)
    }

    @Test("an address that no program would take is refused")
    func addresses() {
        for address in ["", "turn:", "http:x", "turn:x y", "turn:x\n", "turn:ä"] {
            #expect(TurnServer(address: address, access: .open) == nil)
        }
    }
}
