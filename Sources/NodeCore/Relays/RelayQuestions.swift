import ParleyLedger
import ParleySealing
import ParleyWire

/// The purpose of a request.
enum RelayQuestion: Equatable, Sendable {
    /// The oldest that was not taken yet.
    case page(MailboxID)
    /// The newest, which most often is all.
    case glance(MailboxID)
    case put(SpaceNumber, LogTag, Range<UInt64>)
    /// The same for one of those who read there; the last of them stands for all.
    case letter(SpaceNumber, LogTag, Range<UInt64>, isLast: Bool)
    case subscribe(MailboxID)
    case welcome(SpaceNumber, DeviceID, epoch: OperationID)
    /// This person asks another one to be a contact, by one of their devices.
    case request(PersonID, DeviceID)
    /// How far this device is, for one that has not said that it holds as much.
    case reminder(SpaceNumber, DeviceID)
    /// A mailbox on a relay that may need a ticket for it, and the one that was shown.
    case open(MailboxID, ticket: [UInt8]?)
    /// A card, for those who take an invite.
    case inviteCard(UInt64, Digest)
    /// The card of an inviter.
    case card(MailboxID)
    /// A piece of a file that is put on this device's shelf for it.
    case piece(BlobID, Int)
    /// Whether the first piece is still there.
    case shelf(BlobID)
    /// That nothing lies there any more.
    case takenAway(BlobID)
    /// The content of another person's shelf.
    case shelfPage(ForeignShelf)
    /// Something that is of use now or never.
    case passing
    /// Its result changes nothing.
    case whatever

    /// Whether it asks somebody to be a contact.
    var isRequest: Bool {
        if case .request = self { true } else { false }
    }

    /// Whether it is about somebody's inbox, to which something was to go that matters.
    var isLetter: Bool {
        switch self {
        case .letter, .welcome, .request, .reminder, .passing: true
        case .page, .glance, .put, .subscribe, .open, .inviteCard, .card, .piece, .shelf,
            .takenAway, .shelfPage, .whatever:
            false
        }
    }

    /// Whether it is about a shelf.
    var isOfShelf: Bool {
        switch self {
        case .piece, .shelf, .takenAway, .shelfPage: true
        case .page, .glance, .put, .letter, .welcome, .request, .reminder, .passing, .subscribe,
            .open, .inviteCard, .card, .whatever:
            false
        }
    }
}

/// A request that has no answer yet.
struct AskedQuestion: Equatable, Sendable {
    let question: RelayQuestion
    let mailbox: MailboxID
}

/// Requests that a relay has not answered yet.
///
/// Owns the numbers that match answers to requests: none is used twice, on however many
/// connections.
struct RelayQuestions: Sendable {
    private var lastNumber: UInt64 = 0
    private var pending: [UInt64: AskedQuestion] = [:]

    /// Whether everything was answered.
    var isEmpty: Bool { pending.isEmpty }

    /// The numbers of what has no answer yet, ascending.
    var numbers: [UInt64] { pending.keys.sorted() }

    /// Runs of operations that were put and have no answer yet.
    var putCount: Int {
        pending.values.count {
            switch $0.question {
            case .put, .letter: true
            case .page, .glance, .subscribe, .welcome, .request, .reminder, .open, .inviteCard,
                .card, .piece, .shelf, .takenAway, .shelfPage, .passing, .whatever:
                false
            }
        }
    }

    /// Pieces of files that were put and have no answer yet.
    var pieceCount: Int {
        pending.values.count { if case .piece = $0.question { true } else { false } }
    }

    /// Signals that were given to the relay and have no answer yet.
    var passingCount: Int { pending.values.count { $0.question == .passing } }

    /// Whether this was asked and has no answer yet.
    func contains(_ question: RelayQuestion) -> Bool {
        pending.values.contains { $0.question == question }
    }

    /// Notes that something is asked of a mailbox.
    ///
    /// - Returns: the number that names the request.
    mutating func add(_ question: RelayQuestion, of mailbox: MailboxID) -> UInt64 {
        lastNumber += 1
        pending[lastNumber] = AskedQuestion(question: question, mailbox: mailbox)
        return lastNumber
    }

    /// Takes the request with a number; nil if there was none, or it has been answered.
    mutating func take(_ number: UInt64) -> AskedQuestion? { pending.removeValue(forKey: number) }

    /// Forgets a request: the connection on which its answer would arrive is gone.
    mutating func removeAll() { pending = [:] }
}
