public import ParleySealing
public import ParleyWire

/// A request whose signature was valid on its connection: made by ``RelayDoor``, and by a
/// simulation in which connections are what they seem.
public struct CheckedRequest: Sendable {
    /// What the answer bears.
    public let counter: UInt64
    /// What the key that signed may do with the mailbox.
    public let right: MailboxRight
    /// The action.
    public let request: RelayRequest
    /// Bytes that it had.
    public let byteCount: Int

    /// A request on a connection that nobody can forge, by the holder of this key.
    public init(simulated request: RelayRequest, by key: DeviceID, counter: UInt64) {
        self.counter = counter
        right = MailboxRight(of: key, in: request.mailbox)
        self.request = request
        byteCount = request.encoded.count
    }

    init(_ signed: SignedRelayRequest, byteCount: Int) {
        counter = signed.counter
        right = MailboxRight(of: signed.key, in: signed.request.mailbox)
        request = signed.request
        self.byteCount = byteCount
    }
}

/// What a key may do with a mailbox. The mailbox's name tells its kind.
public enum MailboxRight: Hashable, Sendable {
    /// It is the drop's own: all who have it read and write, and nobody deletes.
    case drop
    /// It is the inbox's own: its device reads, writes, deletes, and says who else may write.
    case inbox
    /// It is the shelf's own: its device writes, deletes, and says who may read.
    case shelf
    /// It is another, which may write into an inbox, or read a shelf, if the owner said so.
    case named(WriterID)

    /// The right of this key.
    public init(of key: DeviceID, in mailbox: MailboxID) {
        if mailbox == MailboxID(drop: key) {
            self = .drop
        } else if mailbox == MailboxID(inbox: key) {
            self = .inbox
        } else if mailbox == MailboxID(shelf: key) {
            self = .shelf
        } else {
            self = .named(WriterID(key: key))
        }
    }

    /// Whether the mailbox's own key signed.
    public var isOwner: Bool {
        switch self {
        case .drop, .inbox, .shelf: true
        case .named: false
        }
    }
}

/// Why a client's connection is ended.
public enum RelayClientRejection: Error, Equatable, Sendable {
    /// The handshake or a record did not hold.
    case link(LinkRejection)
    /// A frame does not decode.
    case malformed(DecodingFailure)
    /// A request was played again, or out of turn.
    case staleCounter
    /// The key that is named did not sign this request for this connection.
    case badSignature
}

/// A client's message.
public enum RelayDoorEvent: Sendable {
    /// These bytes go to the client.
    case send([UInt8])
    /// The connection stands.
    case opened
    /// Something is asked.
    case request(CheckedRequest)
    /// Something is asked that no client may ask: it is refused.
    case malformedRequest(UInt64, byteCount: Int)
    /// About a pipe.
    case pipe(PipeFrame)
    /// A ping.
    case ping
}

/// The relay's end of one connection: bytes in, requests that were checked out.
///
/// It needs nothing of the relay but its key, so that all that costs time (curves, hashes,
/// ciphers) is done where the connection lives, beside others.
public struct RelayDoor: Sendable {
    private var link: RelayLink
    private var lastCounter: UInt64 = 0
    private var rekeyedAt: UInt64?

    /// The end of a connection to the relay with this key.
    public init(
        key: DeviceNoiseKey, welcome: RelayWelcome, network: NetworkID,
        using random: inout some RandomNumberGenerator
    ) {
        link = RelayLink(relay: key, welcome: welcome, network: network, using: &random)
    }

    /// Takes bytes of the stream, cut anywhere.
    ///
    /// - Throws: why the connection is to be closed.
    public mutating func receive(
        _ bytes: ArraySlice<UInt8>
    ) throws(RelayClientRejection) -> [RelayDoorEvent] {
        let told: [RelayLinkEvent]
        do throws(LinkRejection) { told = try link.receive(bytes) } catch { throw .link(error) }
        var events: [RelayDoorEvent] = []
        for event in told {
            switch event {
            case .send(let bytes): events.append(.send(bytes))
            case .opened: events.append(.opened)
            case .frame(let bytes):
                if let event = try check(bytes) { events.append(event) }
            }
        }
        return events
    }

    /// Seals frames as one batch, under another key where the last is ten minutes old. Empty until
    /// the connection stands.
    ///
    /// - Parameter now: milliseconds of a clock that never goes back.
    public mutating func seal(_ frames: [[UInt8]], at now: UInt64) -> [UInt8] {
        guard let rekeyedAt, now >= rekeyedAt + RelayClient.rekeyInterval else {
            rekeyedAt = rekeyedAt ?? now
            return link.seal(frames)
        }
        self.rekeyedAt = now
        return link.rekey() + link.seal(frames)
    }

    mutating func check(
        _ bytes: [UInt8]
    ) throws(RelayClientRejection) -> RelayDoorEvent? {
        let decoded: RelayClientFrame?
        do throws(DecodingFailure) {
            decoded = try RelayClientFrame.decode(bytes)
        } catch {
            guard let counter = RelayClientFrame.counter(ofRequest: bytes) else {
                throw .malformed(error)
            }
            // It ends no connection: the client may be a newer one. Its signature says nothing.
            guard counter > lastCounter else { throw .staleCounter }
            lastCounter = counter
            return .malformedRequest(counter, byteCount: bytes.count)
        }
        guard let frame = decoded else { return nil }
        switch frame {
        case .ping: return .ping
        case .pipe(let frame): return .pipe(frame)
        case .request(let signed):
            guard signed.counter > lastCounter else { throw .staleCounter }
            let message = signed.request.signedBytes(
                counter: signed.counter, on: link.handshakeHash)
            guard signed.signature.verifies(.relayRequest, message, by: signed.key) else {
                throw .badSignature
            }
            lastCounter = signed.counter
            return .request(CheckedRequest(signed, byteCount: bytes.count))
        }
    }
}
