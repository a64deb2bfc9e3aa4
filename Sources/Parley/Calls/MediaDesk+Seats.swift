import ParleyNodeCore
import ParleySignalling
import ParleyWire
import Synchronization

/// Clients that take the sound and pictures of calls.
extension MediaDesk {
    /// Notes that a client may take calls under this name.
    ///
    /// - Parameter order: tells the client; false where it takes nothing.
    /// - Throws: ``NodeError`` where a seat cannot be called so.
    func openSeat(
        _ name: String, order: @escaping @Sendable (MediaLine) -> Bool
    ) throws -> MediaSeat {
        guard MediaSeat.isName(name) else {
            throw NodeError(
                "bad-seat", "The name of a seat has \(MediaSeat.nameCount) hex digits.",
                hint: "Draw 16 random bytes for each stream.")
        }
        let seat = MediaSeat(name, order: order) { [weak self] call in
            self?.failed(.deaf, of: call)
        }
        guard state.withLock({ $0.seats.add(seat) }) else {
            throw NodeError("seat-taken", "Another stream has this seat.")
        }
        return seat
    }

    /// The client has gone: so has its call, and what rings with nobody left who could take it.
    func closeSeat(_ seat: MediaSeat) {
        let waiting = state.withLock { state in
            state.seats.remove(seat)
            guard state.seats.isEmpty else { return [] as [CallID] }
            return state.entries.filter(\.value.awaitsSeat).keys.sorted()
        }
        if let call = seat.call { failed(.gone, of: call) }
        for call in waiting { failed(.none, of: call) }
    }

    /// Throws where no client has this seat.
    func requireSeat(_ name: String) throws {
        guard state.withLock({ $0.seats[name] }) == nil else { return }
        throw NodeError(
            "unknown-seat", "No stream of events has this seat.",
            hint: "Read a stream under it first.")
    }

    /// Has a client, or the program where none is named, have the call that `body` begins or answers in a
    /// conversation.
    func seating<R: Sendable>(
        _ name: String?, in space: SpaceID, _ body: () async throws -> R
    ) async throws -> R {
        let before = state.withLock { state in
            state.seats.choose(name.flatMap { state.seats[$0] }, in: space)
        }
        do {
            return try await body()
        } catch {
            // It failed: a client that has a call there keeps it.
            _ = state.withLock { $0.seats.choose(before, in: space) }
            throw error
        }
    }

    /// Handles a client's news about its call.
    ///
    /// - Throws: ``NodeError`` if it has none, sends too much, or sends what page 12 does not
    ///   define.
    func take(_ line: MediaWord.Line, of call: String, from name: String) throws {
        let seat = state.withLock { $0.seats[name] }
        guard let seat, let id = seat.call, "\(id)" == call else {
            throw NodeError(
                "not-yours",
                "This client does not handle the sound and pictures of the call.")
        }
        guard seat.mayTell(at: SystemClock.now.monotonic) else {
            throw NodeError(
                "too-much", "More than \(MediaProcess.lineCountMax) lines came within a second.")
        }
        let word: MediaWord?
        do throws(MediaFailure) {
            word = try MediaWord.read(line)
        } catch {
            throw NodeError("bad-news", "That line about a call is not valid: \(error.sentence).")
        }
        if let word { heard(.success(word), of: id) }
    }
}
