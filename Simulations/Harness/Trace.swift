import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire

/// A hash over everything that happened in a world, in order. Two runs of one seed have the same
/// one, in any two processes; where they differ, something depended on more than the seed.
struct Trace {
    /// The hash so far.
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ number: UInt64) {
        value = (value ^ number) &* 0x9e37_79b9_7f4a_7c15
        value ^= value >> 29
    }

    mutating func add(_ bytes: some Collection<UInt8>) {
        add(UInt64(bytes.count))
        var word: UInt64 = 0
        var count = 0
        for byte in bytes {
            word = word << 8 | UInt64(byte)
            count += 1
            if count % 8 == 0 { add(word) }
        }
        if count % 8 != 0 { add(word) }
    }

    mutating func add(_ text: String) { add(text.utf8) }

    mutating func add(_ timer: TimerID) {
        switch timer {
        case .heartbeat(let link): add(0 << 56 | link.rawValue)
        case .announce: add(1 << 56)
        case .receipts: add(2 << 56)
        case .dial(let device): add(device.bytes)
        case .source(let space): add(4 << 56 | UInt64(bitPattern: space.rawValue))
        case .bodies: add(6 << 56)
        case .waiting: add(7 << 56)
        case .devices: add(8 << 56)
        case .card(let space): add(9 << 56 | UInt64(bitPattern: space.rawValue))
        case .keys: add(10 << 56)
        case .epoch(let space): add(11 << 56 | UInt64(bitPattern: space.rawValue))
        case .upkeep(let space): add(12 << 56 | UInt64(bitPattern: space.rawValue))
        case .relay(let relay): add(relay.bytes)
        case .outbox: add(14 << 56)
        case .backlog: add(24 << 56)
        case .repair(let space): add(15 << 56 | UInt64(bitPattern: space.rawValue))
        case .reminder(let space): add(17 << 56 | UInt64(bitPattern: space.rawValue))
        case .signals(let moment): add(16 << 56 | moment)
        case .invitations: add(18 << 56)
        case .takenBack(let space): add(26 << 56 | UInt64(bitPattern: space.rawValue))
        case .polls: add(27 << 56)
        case .ringing: add(28 << 56)
        case .scheduled: add(35 << 56)
        case .disappearing: add(36 << 56)
        case .files: add(29 << 56)
        case .fileRetry: add(30 << 56)
        case .fileRoom: add(33 << 56)
        case .fileLook: add(34 << 56)
        case .collection: add(31 << 56)
        case .shelves: add(32 << 56)
        case .placing(let space): add(25 << 56 | UInt64(bitPattern: space.rawValue))
        }
    }

    mutating func add(_ input: Input) {
        switch input {
        case .started: add(1)
        case .linkOpened(let link, let peer):
            add(2)
            add(link.rawValue)
            add(peer.device.bytes)
            add(peer.handshakeHash)
        case .linkClosed(let link):
            add(3)
            add(link.rawValue)
        case .frame(let link, let bytes):
            add(4)
            add(link.rawValue)
            add(bytes)
        case .dialFailed(let device):
            add(5)
            add(device.bytes)
        case .networkChanged: add(6)
        // Simulated networks have no neighbours.
        case .sighted: break
        case .timer(let timer):
            add(7)
            add(timer)
        case .command(let id, let command):
            add(8)
            add(id.rawValue)
            add(command)
        case .madeDurable: add(9)
        case .relay(let relay, let news):
            add(10)
            add(relay.bytes)
            add(news)
        case .roomOn(let link):
            add(11)
            add(link.rawValue)
        case .fileKept(let blob, let isDurable):
            add(12)
            add(blob.bytes)
            add(isDurable ? 1 : 0)
        }
    }

    private mutating func add(_ news: RelayNews) {
        switch news {
        case .opened(let welcome):
            add(1)
            for start in welcome.starts { add(start.id) }
            add(welcome.newest)
        case .closed: add(2)
        case .answered(let number, let answer):
            add(3)
            add(number)
            add(RelayServerFrame.answer(to: number, answer).encoded())
        case .arrived(let mailbox, let entries):
            add(4)
            add(mailbox.bytes)
            for entry in entries { add(entry.counter) }
        case .missed(let mailbox):
            add(5)
            add(mailbox.bytes)
        case .day(let day):
            add(6)
            add(day.value)
        case .leaving(let delay):
            add(8)
            add(UInt64(delay))
        case .passed(let mailbox, let bytes):
            add(7)
            add(mailbox.bytes)
            add(bytes)
        }
    }

    mutating func add(_ effect: Effect) {
        switch effect {
        case .commitFully: add(17)
        case .send(let link, let bytes):
            add(18)
            add(link.rawValue)
            add(bytes)
        case .hangUp(let link, let reason):
            add(19)
            add(link.rawValue)
            add(reason)
        case .dial(let target):
            add(20)
            add(target.device.bytes)
        case .timer(let timer, let time):
            add(21)
            add(timer)
            add(time)
        case .changed(let changes):
            add(22)
            for change in changes { add(change) }
        case .linksChanged: add(23)
        case .admitted(let link):
            add(30)
            add(link.rawValue)
        case .forgetKeys: add(26)
        case .tellRoom(let link):
            add(31)
            add(link.rawValue)
        case .removeFile(let blob):
            add(32)
            add(blob.bytes)
        case .keepFile(let blob):
            add(33)
            add(blob.bytes)
        case .callRelay(let relay, _):
            add(27)
            add(relay.bytes)
        case .leaveRelay(let relay):
            add(28)
            add(relay.bytes)
        case .askRelay(let relay, let request):
            add(29)
            add(relay.bytes)
            add(request.number)
            add(request.mailbox.bytes)
            add(RelayRequest(request.action, of: request.mailbox).encoded)
        case .renewIdentity(let operations):
            add(25)
            for operation in operations { add(operation) }
        // Rare: what it is called is bytes enough.
        case .call(let output): add("\(output)")
        case .reply(let id, let result):
            add(24)
            add(id.rawValue)
            add(result)
        }
    }

    private mutating func add(_ change: ViewChange) {
        switch change {
        case .message(let space, let number):
            add(UInt64(space.rawValue))
            add(UInt64(number.rawValue))
        case .mention(let space, let number):
            add(7 << 60 | 5 << 56 | UInt64(space.rawValue))
            add(UInt64(number.rawValue))
        case .disappearing(let space, let number):
            add(7 << 60 | 7 << 56 | UInt64(space.rawValue))
            add(UInt64(number.rawValue))
        case .files(let space, let number):
            add(7 << 60 | 6 << 56 | UInt64(space.rawValue))
            add(UInt64(number.rawValue))
        case .conversation(let space): add(1 << 60 | UInt64(space.rawValue))
        case .receipts(let space): add(2 << 60 | UInt64(space.rawValue))
        case .contact(let person): add(person.bytes)
        case .devices(let person):
            add(3 << 60)
            add(person.bytes)
        case .card(let number): add(4 << 60 | UInt64(number.rawValue))
        case .relays: add(7 << 60)
        case .invitation(let space): add(7 << 60 | 1 << 56 | space.prefix >> 8)
        case .additionPolicy: add(7 << 60 | 2 << 56)
        case .preference(let key): add(7 << 60 | 4 << 56 | UInt64(key.rawValue))
        case .membership(let space): add(5 << 60 | UInt64(space.rawValue))
        case .refolded(let space): add(6 << 60 | UInt64(space.rawValue))
        case .typing(let space): add(8 << 60 | UInt64(space.rawValue))
        case .calls(let space): add(9 << 60 | UInt64(space.rawValue))
        case .together(let space, let number):
            add(11 << 60 | UInt64(space.rawValue))
            add(UInt64(number.rawValue))
        case .reminder(let id):
            add(12 << 60)
            add(id.rawValue)
        case .notSent(let id):
            add(13 << 60)
            add(id.rawValue)
        case .clocks: add(7 << 60 | 3 << 56)
        case .presence(let person):
            add(10 << 60)
            add(person.bytes)
        }
    }
}
