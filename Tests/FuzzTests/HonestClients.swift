import ParleySealing
import ParleyWire

@testable import ParleyRelaying
@testable import ParleySimulation

/// Somebody who writes and somebody who reads at a relay, as they should: into an inbox, a drop and
/// onto a shelf, and what they were told of that.
struct HonestClients {
    /// A mailbox of the two.
    struct Box {
        let mailbox: MailboxID
        /// Whose it is, who writes into it and who reads it.
        let owner, writer, reader: DeviceSigningKey
        /// Who is named when it is opened.
        let named: [WriterID]?
        /// What the relay said that it has, oldest first.
        var stored: [RelayEntry] = []
    }

    let writerConnection, readerConnection: RelayConnection
    /// Whether nobody else calls from their addresses.
    let isApart: Bool
    /// An inbox, a drop and a shelf.
    var boxes: [Box]
    private(set) var connections: [RelayConnection] = []
    private var counter: UInt64 = 0
    private var answers: [UInt64: RelayAnswer] = [:]
    /// What else the two were told since they last asked for something.
    private(set) var told: [RelayConnection: [RelayServerFrame]] = [:]
    /// What should not have happened.
    var complaints: [String] = []
    /// How many envelopes were put, and found again.
    private(set) var putCount = 0
    var foundCount = 0

    /// - Parameter number: of their first connection; none of these is used again.
    init(isApart: Bool, number: UInt64, using random: inout SeededRandom) {
        self.isApart = isApart
        writerConnection = RelayConnection(number)
        readerConnection = RelayConnection(number + 1)
        let keys = (0..<4).map { _ in DeviceSigningKey.generate(using: &random) }
        let (writer, reader, both, readingKey) = (keys[0], keys[1], keys[2], keys[3])
        boxes = [
            Box(
                mailbox: MailboxID(inbox: reader.device), owner: reader, writer: writer,
                reader: reader, named: [WriterID(key: writer.device)]),
            Box(
                mailbox: MailboxID(drop: both.device), owner: both, writer: both, reader: both,
                named: nil),
            Box(
                mailbox: MailboxID(shelf: writer.device), owner: writer, writer: writer,
                reader: readingKey, named: [WriterID(key: readingKey.device)]),
        ]
    }

    mutating func begin() { connections = [writerConnection, readerConnection] }

    /// The relay said that it has this.
    mutating func noteStored(_ entry: RelayEntry, in place: Int) {
        boxes[place].stored.append(entry)
        putCount += 1
    }

    mutating func nextCounter() -> UInt64 {
        counter += 1
        told = [:]
        return counter
    }

    mutating func takeAnswer(_ counter: UInt64) -> RelayAnswer? {
        answers.removeValue(forKey: counter)
    }

    func hasAnswer(_ counter: UInt64) -> Bool { answers[counter] != nil }

    mutating func hear(_ frame: RelayServerFrame, on connection: RelayConnection) {
        guard connections.contains(connection) else { return }
        if case .answer(let counter, let answer) = frame {
            answers[counter] = answer
        } else {
            told[connection, default: []].append(frame)
        }
    }

    mutating func note(closed connection: RelayConnection, _ reason: RelayClosing) {
        guard let place = connections.firstIndex(of: connection) else { return }
        connections.remove(at: place)
        if reason != .leaving { complaints.append("a connection was closed: \(reason)") }
    }
}

// What the two do, and what they expect of the relay.
extension HostileClients {
    /// The two connect, and open their mailboxes.
    mutating func comeHonestly() throws {
        honest.begin()
        for (place, connection) in honest.connections.enumerated() {
            let origin: [UInt8] = honest.isApart ? [8 + UInt8(place)] : [UInt8(place)]
            try feed(.opened(connection, origin: origin))
        }
        for (place, box) in honest.boxes.enumerated() {
            let ticket = ticket(UInt8(100 + place))
            store.issue(digest(.relayTicket, ticket), byteCountMax: 1 << 20)
            _ = try insist(
                .open(writers: box.named, ticket: relay.policy.needsTicket ? ticket : nil),
                of: box, by: box.owner)
        }
        if case .subscribed = try insist(
            .subscribe, of: honest.boxes[0], by: honest.boxes[0].reader)
        {
            return
        }
        honest.complaints.append("nobody was told of the inbox")
    }

    /// Whatever the clock was, it is right again: two others come, and are served.
    mutating func expectService() throws {
        now = 1_790_000_000_000 + random.next() % RelayPolicy.day
        try feed(.tick)
        honest = HonestClients(isApart: true, number: 1 << 33, using: &random)
        try comeHonestly()
        for _ in 0..<20 { try useHonestly() }
    }

    /// The two use the relay once: what is said to be kept is found, and nothing else.
    mutating func useHonestly() throws {
        switch random.next() % 8 {
        case 0: try pass()
        case 1: try call()
        default:
            let place = random.below(honest.boxes.count)
            try put(into: place)
            if random.flip() { try read(place) }
        }
    }

    private mutating func put(into place: Int) throws {
        let box = honest.boxes[place]
        let envelope = random.bytes(512 << random.below(2))
        let failures = failureCount
        let answer = try ask(.put(envelope: envelope), of: box, by: box.writer)
        switch answer {
        case .stored(let counter):
            let entry = RelayEntry(counter: counter, envelope: envelope)
            honest.noteStored(entry, in: place)
            let heard = honest.told[honest.readerConnection, default: []]
            if place == 0, !heard.contains(.push(box.mailbox, entry)) {
                honest.complaints.append("an envelope was not pushed")
            }
        case .refused(let refusal):
            try expect(refusal, mayBe: isBusy(since: failures) || isFull(refusal, box), "a put")
        default: honest.complaints.append("a put was answered with \(String(describing: answer))")
        }
    }

    /// Whether a mailbox really holds no more: what was put there stays.
    private func isFull(_ refusal: RelayRefusal, _ box: HonestClients.Box) -> Bool {
        let most = relay.policy.terms(for: MailboxRight(of: box.owner.device, in: box.mailbox))
        let held = box.stored.reduce(1_024) { $0 + UInt64($1.envelope.count) }
        return (refusal == .full || refusal == .busyAsFull) && held > most.byteCountMax
    }

    /// Whether the relay may say that it is busy, though the two ask for little.
    private func isBusy(since failures: Int) -> Bool {
        failureCount > failures || !honest.isApart || isSmall
    }

    private mutating func expect(_ refusal: RelayRefusal, mayBe isFair: Bool, _ deed: String) throws
    {
        guard isFair, refusal.isClear else {
            honest.complaints.append("\(deed) was refused: \(refusal)")
            return
        }
    }

    /// All that the relay said it has is read, in its order; now and then some of it is deleted.
    private mutating func read(_ place: Int) throws {
        let box = honest.boxes[place]
        var found: [RelayEntry] = []
        var range = RelayRange(after: 0, byteCountMax: random.below(4_096))
        var hasMore = true
        while hasMore {
            let failures = failureCount
            switch try ask(.get(range), of: box, by: box.reader) {
            case .entries(let entries, let more, _):
                found += entries
                hasMore = more && !entries.isEmpty
                range.after = entries.last?.counter ?? 0
            case .refused(let refusal):
                return try expect(refusal, mayBe: isBusy(since: failures), "a get")
            case let answer:
                honest.complaints.append("a get: \(String(describing: answer))")
                return
            }
        }
        honest.foundCount += found.count
        // Where there is room for nothing, mailboxes that nobody paid for give way.
        let mayLose = isSmall && !relay.policy.needsTicket
        let isRight = mayLose ? found.allSatisfy(box.stored.contains) : found == box.stored
        if !isRight {
            honest.complaints.append(
                "of \(box.stored.count) in mailbox \(place) \(found.count) were read")
        }
        if mayLose { honest.boxes[place].stored = found }
        guard place != 1, !found.isEmpty, random.flip() || found.count > 16 else { return }
        let last = found[random.below(found.count)].counter
        guard case .done = try ask(.acknowledge(upTo: last), of: box, by: box.owner) else { return }
        honest.boxes[place].stored.removeAll { $0.counter <= last }
    }

    /// Something is passed on and kept nowhere.
    private mutating func pass() throws {
        let box = honest.boxes[0]
        let envelope = random.bytes(512)
        let failures = failureCount
        let answer = try ask(
            .volatile(lifetime: 5, envelope: envelope), of: box, by: box.writer)
        if case .refused(let refusal) = answer {
            return try expect(refusal, mayBe: isBusy(since: failures), "a volatile")
        }
        let frame = RelayServerFrame.volatile(box.mailbox, lifetime: 5, envelope: envelope)
        let heard = honest.told[honest.readerConnection, default: []]
        if answer != .done || !heard.contains(frame) {
            honest.complaints.append("a volatile was not passed on")
        }
    }

    /// A pipe from the one to the other, and bytes through it.
    private mutating func call() throws {
        let (writer, reader) = (honest.writerConnection, honest.readerConnection)
        let box = honest.boxes[0]
        let failures = failureCount
        let counter = try send(.pipe, of: box, by: box.writer)
        while !honest.hasAnswer(counter), offered == nil, try performNext() {}
        if case .refused(let refusal)? = honest.takeAnswer(counter) {
            return try expect(refusal, mayBe: isBusy(since: failures), "a pipe")
        }
        guard let pipe = offered else {
            honest.complaints.append("a pipe was not offered")
            return
        }
        try feed(.pipe(reader, .accepted(pipe)))
        let bytes = random.bytes(64)
        try feed(.pipe(writer, .bytes(pipe, bytes)))
        let isJoined = honest.takeAnswer(counter) == .pipe(pipe)
        if !isJoined || honest.told[reader]?.contains(.pipe(.bytes(pipe, bytes))) != true {
            honest.complaints.append("bytes did not come through a pipe")
        }
        try feed(.pipe(writer, .closed(pipe)))
    }

    /// The pipe that the reader was offered last.
    private var offered: UInt32? {
        for case .pipe(.offered(let pipe, _)) in honest.told[
            honest.readerConnection, default: []
        ].reversed() {
            return pipe
        }
        return nil
    }

    // MARK: Asking

    private mutating func send(
        _ action: RelayAction, of box: HonestClients.Box, by key: DeviceSigningKey
    ) throws -> UInt64 {
        let counter = honest.nextCounter()
        let isWriter = key.device == box.writer.device && key.device != box.reader.device
        try feed(
            .request(
                isWriter ? honest.writerConnection : honest.readerConnection,
                CheckedRequest(
                    simulated: RelayRequest(action, of: box.mailbox), by: key.device,
                    counter: counter)))
        return counter
    }

    /// Asks, and waits for the answer. Nil where there is none though the store did all it was
    /// asked: that is a complaint.
    private mutating func ask(
        _ action: RelayAction, of box: HonestClients.Box, by key: DeviceSigningKey
    ) throws -> RelayAnswer? {
        let counter = try send(action, of: box, by: key)
        while !honest.hasAnswer(counter), try performNext() {}
        let answer = honest.takeAnswer(counter)
        if answer == nil { honest.complaints.append("\(caseName(of: action)) was not answered") }
        return answer
    }

    /// Asks until it is done, as long as the relay says when to ask again.
    private mutating func insist(
        _ action: RelayAction, of box: HonestClients.Box, by key: DeviceSigningKey
    ) throws -> RelayAnswer? {
        var answer: RelayAnswer?
        for _ in 0..<20 {
            answer = try ask(action, of: box, by: key)
            guard case .refused(.busy(let delay)) = answer else { break }
            now += UInt64(min(delay, 60_000))
            try feed(.tick)
        }
        if case .refused(let refusal) = answer {
            honest.complaints.append("\(caseName(of: action)) was refused: \(refusal)")
        }
        return answer
    }
}

extension RelayRefusal {
    /// Whether it tells its reader what to do: to come again, within an hour, or to delete something.
    fileprivate var isClear: Bool {
        switch self {
        case .busy(let delay): delay <= 3_600_000
        case .full: true
        case .noMailbox, .forbidden, .ticketNeeded, .badTicket, .malformed, .nobodyThere: false
        }
    }
}
