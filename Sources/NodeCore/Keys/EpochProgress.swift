import ParleyLedger
import ParleyRoster
import ParleySealing
public import ParleyWire

/// What the core remembers about the epochs of a space while it runs; everything can be recomputed.
struct EpochProgress: Sendable {
    /// How many of the graph's epochs were examined, and the last of them: a rebuilt graph may have
    /// them in another order.
    private var count = 0
    private var last: OperationID?
    /// Epochs for this device that it cannot open, and their authors.
    var unopenable: [OperationID: DeviceID] = [:]
    /// When faults were written.
    var faults = FaultPace()
    /// The epoch that is used until lane 0 says something new.
    var current: CurrentEpoch?
    /// Whether lane 0 said something new since ``current`` was looked for.
    var isStale = true
    /// An epoch that is to be replaced for its age.
    var outworn: OperationID?

    /// Epochs in a row that were made here for one roster and cannot be used here, and when the next one
    /// may be made, on the monotonic clock.
    private var vain: (roster: Digest, count: UInt64, due: UInt64)?

    /// How long no other epoch is made for a roster, in milliseconds.
    func wait(for roster: Digest, at now: UInt64) -> UInt64 {
        guard let vain, vain.roster == roster else { return 0 }
        return vain.due - min(vain.due, now)
    }

    /// An epoch was made here. If this device does not count its own operations, for example
    /// because its store has lost some, the next epoch is just as useless: the wait doubles each
    /// time, up to an hour.
    mutating func minted(for roster: Digest, isUsed: Bool, at now: UInt64) {
        guard !isUsed else { return vain = nil }
        let count = vain?.roster == roster ? (vain?.count ?? 0) + 1 : 1
        let wait = min(NodeCore.mintDelayMax << min(count, 16), NodeCore.faultInterval)
        vain = (roster, count, now + wait)
    }

    /// Where to continue.
    mutating func start(in epochs: [ControlEpoch]) -> Int {
        if count > epochs.count || (count > 0 && epochs[count - 1].id != last) { count = 0 }
        return count
    }

    /// All of them were looked at.
    mutating func end(in epochs: [ControlEpoch]) {
        count = epochs.count
        last = epochs.last?.id
    }
}

/// The epoch that a device seals envelopes under.
public struct CurrentEpoch: Equatable, Sendable {
    /// Its operation.
    public let id: OperationID
    /// The device that made it.
    public let author: DeviceID
    /// When its author made it, in Unix milliseconds by the author's clock.
    public let madeAt: UInt64
    /// When this device got it, in Unix milliseconds.
    public let openedAt: UInt64
    /// Whether a device of the roster said that it cannot open it, and there is no other.
    public let isFaulted: Bool
    /// How much this device had written of content by then.
    let ownEnd: UInt64
}

/// What the vault keeps of an epoch besides its seed or chains.
struct KeptEpoch {
    var keys: EpochKeys
    /// When this device got it, in Unix milliseconds.
    var openedAt: UInt64
    /// How much this device had written of content by then.
    var ownEnd: UInt64

    init(keys: EpochKeys, openedAt: UInt64, ownEnd: UInt64) {
        self.keys = keys
        self.openedAt = openedAt
        self.ownEnd = ownEnd
    }

    init?(_ secret: Secret) {
        guard secret.count == 80 else { return nil }
        let (envelopes, mailboxes, times) = secret.withUnsafeBytes { bytes in
            (Secret(bytes[..<32]), Secret(bytes[32..<64]), Array(bytes[64...]))
        }
        keys = EpochKeys(envelopes: envelopes, mailboxes: mailboxes)
        openedAt = times[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        ownEnd = times[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    var secret: Secret {
        Secret(byteCount: 80) { output in
            var place = 0
            for part in [keys.envelopes, keys.mailboxes] {
                part.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: output[place..<(place + 32)])
                        .copyMemory(from: $0)
                }
                place += 32
            }
            output.storeBytes(of: openedAt.bigEndian, toByteOffset: 64, as: UInt64.self)
            output.storeBytes(of: ownEnd.bigEndian, toByteOffset: 72, as: UInt64.self)
        }
    }
}

/// A private key with a time: of a leaf when it was made, of a prekey when it should be replaced.
struct TimedLeaf {
    let leaf: PrivateLeaf
    /// Unix milliseconds.
    let time: UInt64

    init(_ leaf: PrivateLeaf, time: UInt64) {
        self.leaf = leaf
        self.time = time
    }

    init?(_ secret: Secret) {
        guard secret.count == 40 else { return nil }
        let (scalar, time) = secret.withUnsafeBytes { bytes in
            (Secret(bytes[..<32]), bytes[32...].reduce(0) { $0 << 8 | UInt64($1) })
        }
        leaf = PrivateLeaf(scalar: scalar)
        self.time = time
    }

    var secret: Secret {
        Secret(byteCount: 40) { output in
            leaf.scalar.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: output[..<32]).copyMemory(from: $0)
            }
            output.storeBytes(of: time.bigEndian, toByteOffset: 32, as: UInt64.self)
        }
    }
}
