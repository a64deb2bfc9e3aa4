import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying

extension RelayStoreContract {
    static func putIntoDrop(_ mailbox: UInt8, _ envelope: [UInt8]) -> RelayOrder {
        .put(
            id(mailbox), by: .drop, share: RelayShare(.drop, from: [], salt: 7),
            hash: digest(.relayBlob, envelope), envelope: envelope)
    }

    static func put(
        _ mailbox: UInt8, _ envelope: [UInt8], by signer: UInt8? = nil, from origin: [UInt8] = []
    ) -> RelayOrder {
        let right = signer.map { MailboxRight.named(writer($0)) } ?? .inbox
        return .put(
            id(mailbox), by: right, share: RelayShare(right, from: origin, salt: 7),
            hash: digest(.relayBlob, envelope), envelope: envelope)
    }

    /// A drop that is full takes nothing more; of an inbox the oldest go.
    static func fullMailbox(_ store: inout some RelayStore) throws {
        var small = terms
        small.byteCountMax = 2048
        _ = try store.perform([.open(id(1), writers: nil, ticket: nil, small), open(2)], at: now)
        let kept = [1, 2, 3, 4].map { envelope($0) }
        for number in 1...4 { _ = try stored(&store, putIntoDrop(1, envelope(UInt8(number)))) }
        for envelope in [envelope(5), envelope(6, 1024)] {
            #expect(try one(&store, putIntoDrop(1, envelope)) == .answer(.refused(.full)))
        }
        #expect(try all(&store, 1) == kept, "whoever put it was told that it is kept")
        guard case .known = try one(&store, putIntoDrop(1, envelope(4))) else {
            Issue.record("what is there is there, however full it is")
            return
        }
        _ = try store.perform(
            [.open(id(3), writers: [writer(9)], ticket: nil, small)], at: now)
        for number in 1...6 { _ = try stored(&store, put(3, envelope(UInt8(number)), by: 9)) }
        #expect(try all(&store, 3) == [3, 4, 5, 6].map { envelope($0) })
        _ = try stored(&store, put(3, envelope(7, 1024), by: 9))
        #expect(try all(&store, 3) == [envelope(5), envelope(6), envelope(7, 1024)])
        _ = try stored(&store, put(3, envelope(1), by: 9))
        #expect(try all(&store, 3).count == 3, "what went can come again")
    }

    /// One writer fills an inbox: their own oldest go, whoever else wrote before.
    static func shares(_ store: inout some RelayStore) throws {
        let writers: [UInt8] = [1, 2]
        let share = { (number: UInt8, origin: [UInt8]) in
            RelayShare(.named(writer(number)), from: origin, salt: 7)
        }
        #expect(share(1, [1]) != share(1, [2]) && share(1, [1]) != share(2, [1]))
        _ = try store.perform([open(1, writers: writers)], at: now)
        let friends = [
            put(1, envelope(1), by: 2, from: [1]), put(1, envelope(2), by: 1, from: [2]),
            put(1, envelope(3)),
        ]
        _ = try store.perform(friends, at: now)
        for number in 0..<40 as Range<UInt8> {
            let order = put(1, envelope(100 + number, 64 << 10), by: 1, from: [1])
            _ = try stored(&store, order)
        }
        let kept = try all(&store, 1)
        #expect(Array(kept.prefix(3)) == [envelope(1), envelope(2), envelope(3)])
        // The flood's newest are what else is there: 1 MiB in all.
        #expect(kept.dropFirst(3).map { $0[0] } == Array(125..<140))
        // Who writes little is still taken in.
        _ = try stored(&store, put(1, envelope(4), by: 2, from: [3]))
        #expect(try all(&store, 1).map { $0[0] } == [1, 2, 3] + Array(125..<140) + [4])
    }

    /// What was acknowledged or is over counts for nobody any more.
    static func sharesFollow(_ store: inout some RelayStore) throws {
        _ = try store.perform([open(1, writers: [1, 2])], at: now)
        for number in 0..<10 as Range<UInt8> {
            _ = try stored(&store, put(1, envelope(number, 64 << 10), by: 1))
        }
        _ = try store.perform([.expire(envelopesBefore: now + 1)], at: now + 1)
        for number in 10..<15 as Range<UInt8> {
            _ = try stored(&store, put(1, envelope(number, 64 << 10), by: 1), at: now + 2)
        }
        let last = store.newest
        _ = try store.perform([.acknowledge(id(1), upTo: last)], at: now + 2)
        for number in 15..<33 as Range<UInt8> {
            let signer: UInt8 = number < 25 ? 2 : 1
            _ = try stored(&store, put(1, envelope(number, 64 << 10), by: signer), at: now + 3)
        }
        // Of the second writer the two oldest have made room: they hold the most.
        #expect(try all(&store, 1).map { $0[0] } == Array(17..<33))
    }
}
