import ParleyNodeCore
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization

/// Reads the first byte of an incoming connection, which says whom it is for.
final class Doorkeeper: ConnectionHandler {
    private struct State {
        var connection: Connection?
        var handler: (any ConnectionHandler)?
    }
    private let state = Mutex(State())
    private let choose: @Sendable (UInt8) -> any ConnectionHandler

    init(_ choose: @escaping @Sendable (UInt8) -> any ConnectionHandler) { self.choose = choose }

    func opened(_ connection: Connection) { state.withLock { $0.connection = connection } }

    func received(_ bytes: [UInt8]) {
        let (handler, fresh) = state.withLock { state in
            if let handler = state.handler { return (handler, nil as Connection?) }
            let handler = choose(bytes[0])
            state.handler = handler
            return (handler, state.connection)
        }
        if let fresh { handler.opened(fresh) }
        handler.received(bytes)
    }

    func becameWritable() { state.withLock { $0.handler }?.becameWritable() }

    func closed(_ reason: CloseReason) { state.withLock { $0.handler }?.closed(reason) }
}

/// Joins one connection to one ``Pairing``, on either side.
final class PairingDriver: ConnectionHandler {
    private struct State {
        var pairing: Pairing
        var connection: Connection?
    }
    private let state: Mutex<State>
    private let happened: @Sendable (Outcome, PairingDriver) -> Void

    /// What its owner is told.
    enum Outcome {
        /// A device asks; the owner answers with ``answer(_:)`` or ``refuse()``.
        case asked(DeviceRequest)
        /// This device has become the person's.
        case accepted(Card, IdentityLog, BackupCertificate?)
        /// It came to nothing here, for this reason.
        case rejected(LinkRejection)
        /// The connection is gone.
        case closed
    }

    init(
        _ pairing: Pairing, happened: @escaping @Sendable (Outcome, PairingDriver) -> Void
    ) {
        state = Mutex(State(pairing: pairing))
        self.happened = happened
    }

    func opened(_ connection: Connection) {
        let first = state.withLock { state in
            state.connection = connection
            return state.pairing.start()
        }
        connection.send(first)
    }

    func received(_ bytes: [UInt8]) {
        let result: Result<[PairingEvent], LinkRejection> = state.withLock { state in
            do throws(LinkRejection) {
                return .success(try state.pairing.receive(bytes[...]))
            } catch {
                return .failure(error)
            }
        }
        guard let connection = state.withLock({ $0.connection }) else { return }
        switch result {
        case .success(let events):
            for event in events { handle(event, on: connection) }
        case .failure(let rejection):
            happened(.rejected(rejection), self)
            connection.close()
        }
    }

    private func handle(_ event: PairingEvent, on connection: Connection) {
        switch event {
        case .send(let bytes): connection.send(bytes)
        case .asked(let request):
            connection.markKnown()
            happened(.asked(request), self)
        case .accepted(let card, let log, let backup):
            connection.markAuthenticated()
            happened(.accepted(card, log, backup), self)
            connection.close()
        }
    }

    /// Hands over the person's card and what their backups are sealed to, and says goodbye.
    func answer(_ card: [UInt8], backup: BackupCertificate?) {
        guard let connection = state.withLock({ $0.connection }) else { return }
        connection.perform {
            connection.send(self.state.withLock { $0.pairing.answer(card, backup: backup) })
            connection.close()
        }
    }

    func refuse() { state.withLock { $0.connection }?.close() }

    func becameWritable() {}

    func closed(_ reason: CloseReason) {
        state.withLock { $0.connection = nil }
        happened(.closed, self)
    }
}
