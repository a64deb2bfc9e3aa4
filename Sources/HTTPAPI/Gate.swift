internal import NIOCore
internal import ParleyWire
internal import Synchronization

/// Who is connected, and what all of them together may cost.
final class Gate: Sendable {
    private struct Guest {
        var channel: any Channel
        var since: NIODeadline
    }

    private struct State {
        var guests: [ObjectIdentifier: Guest] = [:]
        var known: [ObjectIdentifier: (channel: any Channel, digest: Digest)] = [:]
        /// Room that is taken, by the token that takes it.
        var room: [Digest: Int] = [:]
        var streams: [String: Int] = [:]
        var refusedCount = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> NIODeadline

    init(now: @escaping @Sendable () -> NIODeadline = { .now() }) { self.now = now }

    /// Connections that were turned away or made room for others.
    var refusedCount: Int { state.withLock { $0.refusedCount } }

    /// Connections that are open.
    var connectionCount: Int { state.withLock { $0.guests.count + $0.known.count } }

    /// Streams of events that are open.
    var streamCount: Int { state.withLock { $0.streams.values.reduce(0, +) } }

    /// Lets a connection in; false where there is no place.
    func enter(_ channel: any Channel) -> Bool {
        let now = now()
        let (isIn, displaced) = state.withLock { state -> (Bool, (any Channel)?) in
            guard !state.isClosed else { return (false, nil) }
            var displaced: Guest?
            let isFull = state.guests.count + state.known.count >= HTTPAPI.connectionCountMax
            if isFull || state.guests.count >= HTTPAPI.guestCountMax {
                // Of those who showed nothing, who came first had the most time to.
                let oldest = state.guests.min { $0.value.since < $1.value.since }
                guard let oldest, now - oldest.value.since >= HTTPAPI.guestTimeMin else {
                    state.refusedCount += 1
                    return (false, nil)
                }
                state.refusedCount += 1
                displaced = state.guests.removeValue(forKey: oldest.key)
            }
            state.guests[ObjectIdentifier(channel)] = Guest(channel: channel, since: now)
            return (true, displaced?.channel)
        }
        displaced?.close(promise: nil)
        return isIn
    }

    /// The connection showed a token: it makes room for nobody any more, unless that token has its
    /// share of the places already.
    func markKnown(_ channel: any Channel, _ digest: Digest) {
        state.withLock { state in
            let id = ObjectIdentifier(channel)
            let ownCount = state.known.values.count { $0.digest == digest }
            guard ownCount < HTTPAPI.connectionOfTokenCountMax,
                let guest = state.guests.removeValue(forKey: id)
            else { return }
            state.known[id] = (guest.channel, digest)
        }
    }

    /// The connection is over.
    func leave(_ channel: any Channel) {
        state.withLock { state in
            let id = ObjectIdentifier(channel)
            (state.guests[id], state.known[id]) = (nil, nil)
        }
    }

    /// Lets nobody in any more.
    func close() { state.withLock { $0.isClosed = true } }

    /// Hangs up on everybody.
    func hangUp() {
        let channels = state.withLock { state in
            state.guests.values.map(\.channel) + state.known.values.map(\.channel)
        }
        for channel in channels { channel.close(promise: nil) }
    }

    /// Reserves room for this many bytes of what a token sends or is given; false if there is none, or
    /// that token has its share.
    func takeRoom(_ byteCount: Int, for digest: Digest) -> Bool {
        state.withLock { state in
            let all = state.room.values.reduce(0, +)
            let own = state.room[digest, default: 0]
            guard all + byteCount <= HTTPAPI.bodyByteCountMax,
                own + byteCount <= HTTPAPI.bodyOfTokenByteCountMax
            else { return false }
            state.room[digest] = own + byteCount
            return true
        }
    }

    func giveRoom(_ byteCount: Int, of digest: Digest) {
        state.withLock { state in
            let left = state.room[digest, default: byteCount] - byteCount
            state.room[digest] = left > 0 ? left : nil
        }
    }

    /// Reserves a place for a stream of this token; false if there is none.
    func beginStream(of token: String) -> Bool {
        state.withLock { state in
            let all = state.streams.values.reduce(0, +)
            let own = state.streams[token, default: 0]
            guard all < HTTPAPI.streamCountMax, own < HTTPAPI.streamOfTokenCountMax else {
                return false
            }
            state.streams[token] = own + 1
            return true
        }
    }

    func endStream(of token: String) {
        state.withLock { state in
            let left = state.streams[token, default: 1] - 1
            state.streams[token] = left > 0 ? left : nil
        }
    }
}
