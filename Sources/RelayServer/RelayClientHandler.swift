import Dispatch
import ParleyRelaying
import ParleySealing
import ParleyTransport
import ParleyWire

/// One client's connection: the socket on one side, the engine on the other. Keys, seals and
/// signatures are worked on here, on the connection's own event loop, beside others'.
///
/// Unchecked, because its state is plain variables; safe, because they are touched on the
/// connection's event loop alone: the transport calls there, and the engine through
/// ``ParleyTransport/Connection/perform(_:)``.
final class RelayClientHandler: ConnectionHandler, @unchecked Sendable {
    let number: RelayConnection

    private let engine: RelayEngine
    private let rejected: @Sendable (RelayClientRejection) -> Void
    private var door: RelayDoor
    private var connection: Connection?
    private var isOpen = false
    private var isCongested = false
    /// For how many reasons it is not read now.
    private var pauseCount = 0

    init(
        number: RelayConnection, engine: RelayEngine, key: DeviceNoiseKey, network: NetworkID,
        rejected: @escaping @Sendable (RelayClientRejection) -> Void
    ) {
        self.number = number
        self.engine = engine
        self.rejected = rejected
        var random = SystemRandom()
        door = RelayDoor(key: key, welcome: engine.welcome, network: network, using: &random)
    }

    // MARK: The transport's side

    func opened(_ connection: Connection) { self.connection = connection }

    func received(_ bytes: [UInt8]) {
        guard let connection else { return }
        do throws(RelayClientRejection) {
            var inputs: [RelayInput] = []
            var hasPinged = false
            for event in try door.receive(bytes[...]) {
                switch event {
                case .send(let bytes): connection.send(bytes)
                case .opened:
                    isOpen = true
                    connection.markKnown()
                    engine.opened(
                        RelayPeer(handler: self, connection: connection),
                        origin: connection.origin)
                case .request(let request): inputs.append(.request(number, request))
                case .malformedRequest(let counter, let byteCount):
                    inputs.append(
                        .malformedRequest(number, counter: counter, byteCount: byteCount))
                case .pipe(let frame): inputs.append(.pipe(number, frame))
                case .ping:
                    // Many at once say no more than one.
                    if !hasPinged { inputs.append(.ping(number)) }
                    hasPinged = true
                }
            }
            if inputs.isEmpty { return }
            let isFull = engine.offer(
                inputs, byteCount: bytes.count,
                from: RelayPeer(handler: self, connection: connection))
            if isFull { hold() }
        } catch {
            rejected(error)
            connection.abort()
        }
    }

    func becameWritable() {
        guard isCongested else { return }
        isCongested = false
        unhold()
        engine.offer([.congested(number, false)])
    }

    func closed(_ reason: CloseReason) {
        connection = nil
        if isOpen { engine.closed(number) }
    }

    // MARK: The engine's side

    /// Performs the results of a turn of the engine.
    fileprivate func carryOut(_ steps: [RelayOutbox.Step]) {
        guard let connection else { return }
        var frames: [[UInt8]] = []
        for step in steps {
            switch step {
            case .send(let frame): frames.append(frame)
            case .pause(let time):
                hold()
                let peer = RelayPeer(handler: self, connection: connection)
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(time))) {
                    peer.resume()
                }
            case .close:
                connection.send(door.seal(frames, at: Self.now))
                return connection.close()
            }
        }
        connection.send(door.seal(frames, at: Self.now))
        guard !isCongested, !connection.isWritable else { return }
        isCongested = true
        // A client that does not read its answers may not request more.
        hold()
        engine.offer([.congested(number, true)])
    }

    /// Milliseconds since the machine began.
    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds / 1_000_000 }

    private func hold() {
        pauseCount += 1
        if pauseCount == 1 { connection?.pauseReading() }
    }

    fileprivate func unhold() {
        pauseCount -= 1
        if pauseCount == 0 { connection?.resumeReading() }
    }
}

/// A connection with its handler: what the engine speaks to, from any thread.
struct RelayPeer: Sendable {
    let handler: RelayClientHandler
    let connection: Connection

    /// Performs the results of a turn of the engine.
    func perform(_ steps: [RelayOutbox.Step]) {
        connection.perform { handler.carryOut(steps) }
    }

    /// Reads on, where reading was held because too much waited.
    func resume() { connection.perform { handler.unhold() } }
}
