import ParleySignalling
import ParleyWire
import Synchronization

/// Who handles the media of one call: a program of this device, or a client of the node.
/// Source: `Protocol/12-media.md`.
protocol MediaMaker: AnyObject, Sendable {
    /// Gives an order.
    func tell(_ line: MediaLine)
    /// Says that the call is over, and gives this much time to end by itself.
    func finish(patience: Duration)
    /// Returns once nothing of it is left.
    func ended() async
}

extension MediaProcess: MediaMaker {}

/// A client of the node that may handle the media of calls: the reader of one stream of events, as
/// long as it reads. Its name is drawn by the client and known only to it and the node.
/// Source: `Protocol/12-media.md`, "A client for a call".
final class MediaSeat: MediaMaker {
    /// Hex digits of a name.
    static let nameCount = 32

    private struct State {
        var call: CallID?
        var pace = MediaPace()
    }

    let name: String
    private let order: @Sendable (MediaLine) -> Bool
    private let isDeaf: @Sendable (CallID) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - order: tells the client; false where it takes nothing.
    ///   - isDeaf: called where an order went nowhere.
    init(
        _ name: String, order: @escaping @Sendable (MediaLine) -> Bool,
        isDeaf: @escaping @Sendable (CallID) -> Void
    ) {
        (self.name, self.order, self.isDeaf) = (name, order, isDeaf)
    }

    /// Whether a client may call its seat so: 128 bits in hex.
    static func isName(_ text: String) -> Bool {
        text.utf8.count == nameCount && bytes(hex: text) != nil
    }

    /// The call whose sound and pictures it has.
    var call: CallID? { state.withLock { $0.call } }

    /// It has those of this call from now on.
    func take(_ call: CallID) { state.withLock { $0.call = call } }

    func tell(_ line: MediaLine) {
        guard let call, !order(line) else { return }
        isDeaf(call)
    }

    func finish(patience: Duration) {
        tell(.end)
        state.withLock { $0.call = nil }
    }

    func ended() async {}

    /// Counts one piece of news. False where there are too many within a second.
    func mayTell(at now: UInt64) -> Bool {
        state.withLock { $0.pace.allows(1, at: now) }
    }
}

/// The seats that there are, and whose calls they are to have.
struct MediaSeats {
    private var seats: [String: MediaSeat] = [:]
    /// Who calls or answers in a conversation, and so has the call there.
    private var chosen: [SpaceID: MediaSeat] = [:]

    var isEmpty: Bool { seats.isEmpty }

    /// The seat of this name; nil if there is none.
    subscript(name: String) -> MediaSeat? { seats[name] }

    /// The client that has the call of a conversation, if any.
    func seat(in space: SpaceID) -> MediaSeat? { chosen[space] }

    /// Adds one. False where another has its name.
    mutating func add(_ seat: MediaSeat) -> Bool {
        guard seats[seat.name] == nil else { return false }
        seats[seat.name] = seat
        return true
    }

    mutating func remove(_ seat: MediaSeat) {
        seats[seat.name] = nil
        release(seat)
    }

    /// Gives the call of a conversation to a seat, or to the program; returns who had it.
    mutating func choose(_ seat: MediaSeat?, in space: SpaceID) -> MediaSeat? {
        defer { chosen[space] = seat }
        return chosen[space]
    }

    /// It is to have no call any more.
    mutating func release(_ seat: MediaSeat) { chosen = chosen.filter { $0.value !== seat } }
}
