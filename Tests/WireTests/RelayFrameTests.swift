import ParleyWire
import Testing

/// One frame of every kind.
enum RelayFrames {
    static let envelope = [UInt8](repeating: 3, count: 512)
    static let mailbox = MailboxID { $0[0] = 1 }
    static let actions: [RelayAction] = [
        .open(writer: nil, ticket: nil), .open(writer: mailbox, ticket: nil),
        .open(writer: nil, ticket: [UInt8](repeating: 9, count: 32)),
        .put(envelope: envelope), .volatile(lifetime: 60, envelope: envelope),
        .get(RelayRange(after: 7)),
        .get(RelayRange(after: 0, before: 99, isNewestFirst: true, byteCountMax: 1)),
        .subscribe, .unsubscribe, .acknowledge(upTo: 300), .pipe, .putChunk([1, 2, 3]),
        .getChunk(Digest { $0[0] = 4 }),
    ]
    static let answers: [RelayAnswer] = [
        .opened(expires: 5, byteCountMax: 1 << 40), .stored(counter: 1),
        .entries([RelayEntry(counter: 8, envelope: envelope)], hasMore: true, newest: 9),
        .subscribed(newest: 0), .done, .pipe(7), .chunk([1]),
        .refused(.busy(retryAfter: 1000)), .refused(.noMailbox), .refused(.forbidden),
        .refused(.ticketNeeded), .refused(.badTicket), .refused(.malformed),
        .refused(.nobodyThere), .refused(.noChunk),
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

    @Test("a type that only newer relays know is no error")
    func unknown() throws {
        #expect(try RelayServerFrame.decode([99, 1, 2]) == nil)
        #expect(try RelayClientFrame.decode([99]) == nil)
    }
}
