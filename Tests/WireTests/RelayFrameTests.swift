import ParleyWire
import Testing

/// One frame of every kind.
enum RelayFrames {
    static let envelope = [UInt8](repeating: 3, count: 512)
    static let mailbox = MailboxID { $0[0] = 1 }
    static let actions: [RelayAction] = [
        .open(writers: nil, ticket: nil), .open(writers: [], ticket: nil),
        .open(writers: (1...8).map { number in WriterID { $0[0] = number } }, ticket: nil),
        .open(writers: nil, ticket: [UInt8](repeating: 9, count: 32)),
        .put(envelope: envelope), .volatile(lifetime: 60, envelope: envelope),
        .get(RelayRange(after: 7)),
        .get(RelayRange(after: 0, before: 99, isNewestFirst: true, byteCountMax: 1)),
        .subscribe, .unsubscribe, .acknowledge(upTo: 300), .pipe,
    ]
    static let answers: [RelayAnswer] = [
        .opened(expires: 5, byteCountMax: 1 << 40), .stored(counter: 1),
        .entries([RelayEntry(counter: 8, envelope: envelope)], hasMore: true, newest: 9),
        .subscribed(newest: 0), .done, .pipe(7),
        .refused(.busy(retryAfter: 1000)), .refused(.noMailbox), .refused(.forbidden),
        .refused(.ticketNeeded), .refused(.badTicket), .refused(.malformed),
        .refused(.nobodyThere), .refused(.full),
    ]
    static let pipes: [PipeFrame] = [
        .offered(1, mailbox), .accepted(2), .bytes(3, [1, 2]), .credit(4, 5), .closed(6),
    ]

    static func ofClients() -> [RelayClientFrame] {
        let signature = SignatureBytes([UInt8](repeating: 5, count: 64))
        let requests: [RelayClientFrame] = actions.enumerated().compactMap { place, action in
            signature.map {
                .request(
                    SignedRelayRequest(
                        counter: UInt64(place), key: DeviceID { $0[0] = 2 }, signature: $0,
                        request: RelayRequest(action, of: mailbox)))
            }
        }
        return requests + pipes.map { .pipe($0) } + [.ping]
    }

    static func ofRelays() -> [RelayServerFrame] {
        let entry = RelayEntry(counter: .max, envelope: envelope)
        return answers.enumerated().map { .answer(to: UInt64($0), $1) } + pipes.map { .pipe($0) }
            + [
                .push(mailbox, entry), .volatile(mailbox, lifetime: 1, envelope: envelope),
                .missed(mailbox), .day(20_000), .pong, .bye(retryAfter: 3),
            ]
    }
}

@Suite("Frames of relays")
struct RelayFrameTests {
    @Test("every frame of a client comes back as it was", arguments: RelayFrames.ofClients())
    func client(frame: RelayClientFrame) throws {
        #expect(try RelayClientFrame.decode(frame.encoded()) == frame)
        for count in 0..<frame.encoded().count {
            #expect(throws: DecodingFailure.self) {
                _ = try RelayClientFrame.decode(Array(frame.encoded().prefix(count)))
            }
        }
        #expect(throws: DecodingFailure.trailingBytes(1)) {
            _ = try RelayClientFrame.decode(frame.encoded() + [0])
        }
    }

    @Test("every frame of a relay comes back as it was", arguments: RelayFrames.ofRelays())
    func relay(frame: RelayServerFrame) throws {
        #expect(try RelayServerFrame.decode(frame.encoded()) == frame)
        for count in 0..<frame.encoded().count {
            #expect(throws: DecodingFailure.self) {
                _ = try RelayServerFrame.decode(Array(frame.encoded().prefix(count)))
            }
        }
    }

    @Test("an envelope of a size that none has is refused", arguments: [0, 511, 513, 131_072])
    func size(byteCount: Int) {
        let frame = RelayServerFrame.push(
            RelayFrames.mailbox,
            RelayEntry(counter: 1, envelope: [UInt8](repeating: 0, count: byteCount)))
        #expect(throws: DecodingFailure.self) { _ = try RelayServerFrame.decode(frame.encoded()) }
    }

    @Test(
        "of a request that breaks a bound, or asks what only newer clients do, the counter is read",
        arguments: [
            .open(writers: [WriterID](repeating: WriterID { _ in }, count: 9), ticket: nil),
            .put(envelope: [UInt8](repeating: 1, count: 513)),
            .volatile(lifetime: 0, envelope: RelayFrames.envelope),
            .volatile(lifetime: 61, envelope: RelayFrames.envelope),
            .get(RelayRange(after: 0, byteCountMax: Limits.relayPageByteCountMax + 1)), nil,
        ] as [RelayAction?])
    func malformedRequest(action: RelayAction?) throws {
        let signature = try #require(SignatureBytes([UInt8](repeating: 5, count: 64)))
        let signed = SignedRelayRequest(
            counter: 77, key: DeviceID { $0[0] = 2 }, signature: signature,
            request: RelayRequest(action ?? .pipe, of: RelayFrames.mailbox))
        var bytes = RelayClientFrame.request(signed).encoded()
        // An action that nobody knows yet.
        if action == nil { bytes[105] = 99 }
        #expect(throws: DecodingFailure.self) { _ = try RelayClientFrame.decode(bytes) }
        #expect(RelayClientFrame.counter(ofRequest: bytes) == 77)
        #expect(RelayClientFrame.counter(ofRequest: Array(bytes.prefix(104))) == nil)
        #expect(RelayClientFrame.counter(ofRequest: [2] + bytes.dropFirst()) == nil)
    }

    @Test("a type that only newer relays know is no error")
    func unknown() throws {
        #expect(try RelayServerFrame.decode([99, 1, 2]) == nil)
        #expect(try RelayClientFrame.decode([99]) == nil)
    }
}
