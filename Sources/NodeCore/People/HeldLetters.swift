import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleySealing
import ParleyWire

/// Letters of somebody who asks to be a contact, unread until they are accepted: the beginning of a
/// conversation, and the first words in it.
///
/// Source: `Protocol/05-identity.md`, "Contacts".
struct HeldLetters: Equatable {
    /// One of them.
    struct Letter: Equatable {
        /// The device that wrote it.
        var sender: DeviceID
        /// What it holds, as it was opened: a letter's number and frames.
        var content: [UInt8]
    }

    /// In the order in which they came.
    private(set) var letters: [Letter] = []
    private var byteCount = 0

    /// No letters.
    init() {}

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(DecodingFailure) {
            while reader.remaining > 0 {
                let sender: DeviceID = try reader.identifier()
                let count = try reader.count("letter", atMost: Limits.heldLetterByteCountMax)
                let letter = Letter(sender: sender, content: Array(try reader.slice(count)))
                guard add(letter) else { return nil }
            }
        } catch { return nil }
    }

    /// The letters, as they are stored.
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: byteCount + letters.count * 40)
        for letter in letters {
            writer.identifier(letter.sender)
            writer.counted(letter.content)
        }
        return writer.bytes
    }

    /// Adds one, if there is room for it and it is not among them. Returns whether it is held then.
    @discardableResult
    mutating func add(_ letter: Letter) -> Bool {
        if letters.contains(letter) { return true }
        guard byteCount + letter.content.count <= Limits.heldLetterByteCountMax else {
            return false
        }
        letters.append(letter)
        byteCount += letter.content.count
        return true
    }
}

extension NodeCore {
    /// Keeps a letter of somebody who waits for an answer, unread: nothing of it costs more than its bytes.
    func hold(
        _ content: [UInt8], of person: PersonID, by sender: DeviceID, _ store: some Store
    ) throws(StoreError) {
        guard let contact = try contact(person, store), contact.state == .pending,
            !contact.isBlocked,
            // The request has shown whose device it is.
            CardReader.claimed(contact.card)?.parts.contains(where: { $0.device == sender })
                == true
        else { return }
        var held =
            try store.value(.heldLetter, person.bytes).flatMap(HeldLetters.init) ?? HeldLetters()
        guard held.add(.init(sender: sender, content: content)) else {
            return try count(.request, store)
        }
        try store.setValue(held.bytes, .heldLetter, person.bytes)
    }

    /// Reads the letters of somebody who was accepted a moment ago; those of anybody else who does not wait
    /// for an answer any more are dropped.
    mutating func readHeldLetters(of person: PersonID, _ turn: inout some Turn) throws(StoreError) {
        guard let bytes = try turn.store.value(.heldLetter, person.bytes),
            let contact = try contact(person, turn.store),
            contact.state != .pending || contact.isBlocked
        else { return }
        try turn.store.setValue(nil, .heldLetter, person.bytes)
        guard contact.isAccepted, let held = HeldLetters(bytes) else { return }
        for letter in held.letters {
            guard var content = LetterContent(letter.content) else { continue }
            // What their author cannot pay for comes again, as after any loss.
            guard try admitParcel(of: person, &turn) == .fine else { return }
            var bill = openBill(of: person, byteCount: letter.content.count)
            while let frame = content.frames.next() {
                charge(for: content.frames.room, to: &bill)
                try read(frame, of: person, by: letter.sender, &turn)
            }
            settle(bill)
        }
    }

    private mutating func read(
        _ frame: Frame, of person: PersonID, by sender: DeviceID, _ turn: inout some Turn
    ) throws(StoreError) {
        switch frame {
        case .operations(let operations):
            try ingest(operations, by: Bringer(person: person, device: sender), &turn)
        case .frontier(let frontier):
            // How far they are: nothing of one's own is missing here, and the rest is asked for.
            guard let space = try turn.store.space(frontier.space),
                try scope(of: space, with: sender, of: person, turn.store)?.isEverything == true
            else { return }
            try heardTips(frontier, of: space, by: sender, &turn)
        default: return
        }
    }
}
