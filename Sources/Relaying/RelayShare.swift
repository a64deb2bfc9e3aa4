import ParleyWire

/// Whose part of a mailbox an envelope counts for, where the mailbox is full.
///
/// A card is public, and its readers may write into the inbox that it shows. So that a flooder of
/// an inbox displaces their own envelopes, these are distinguished by the writer's key and, because
/// many hold one key, by the address that they came from: in few buckets each, so that a mailbox
/// has few shares. Addresses are mixed with a number that is drawn at each start and stored
/// nowhere: the stored data reveals no address.
/// Source: `Protocol/06-relay.md`, "Bounds".
public struct RelayShare: Hashable, Comparable, Sendable {
    /// Places for writers, beside that of the owner, and in each of them places for addresses.
    private static let writerCount: UInt16 = 16
    private static let originBits: UInt16 = 5

    /// As it is stored; 0 for a drop, which all fill together, and for a shelf, which one device fills.
    public let number: UInt16

    /// The share with this number.
    public init(number: UInt16) { self.number = number }

    /// The share of a key's holder who calls from an address.
    ///
    /// - Parameter salt: is mixed with the address.
    init(_ right: MailboxRight, from origin: [UInt8], salt: UInt64) {
        switch right {
        case .drop, .shelf: number = 0
        case .inbox: number = (Self.writerCount + 1) << Self.originBits
        case .named(let writer):
            let place = UInt16(writer.bytes[0]) % Self.writerCount
            number = (place + 1) << Self.originBits | Self.place(of: origin, salt)
        }
    }

    private var writer: UInt16 { number >> Self.originBits }

    private static func place(of origin: [UInt8], _ salt: UInt64) -> UInt16 {
        var mixed = salt
        for byte in origin { mixed = (mixed ^ UInt64(byte)) &* 0x100_0000_01B3 }
        mixed = (mixed ^ mixed >> 32) &* 0x9E37_79B9_7F4A_7C15
        return UInt16(mixed >> (64 - UInt64(originBits)))
    }

    /// Which share is displaced: of the writer who holds the most, the address that holds the most.
    public static func greatest(of byteCounts: [RelayShare: UInt64]) -> RelayShare? {
        var ofWriters: [UInt16: UInt64] = [:]
        for (share, count) in byteCounts where count > 0 {
            ofWriters[share.writer, default: 0] += count
        }
        let most = ofWriters.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
        return byteCounts.filter { $0.key.writer == most && $0.value > 0 }
            .max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }

    /// By number.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
