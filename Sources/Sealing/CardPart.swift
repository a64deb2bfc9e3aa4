public import ParleyWire

/// What one device says about itself: its addresses, and its person's name.
///
/// `1 ‖ device[32] ‖ u64 version ‖ noise key[32] ‖ name ‖ addresses ‖ mailboxes ‖ prekeys
/// ‖ signature[64]`; name, each address and each prekey after their length, the lists after their
/// count; a mailbox as ``CardMailbox`` says.
public struct CardPart: Equatable, Sendable {
    /// The longest part.
    public static let byteCountMax = 4096
    /// The most addresses of a device.
    public static let addressCountMax = 8
    /// The longest address, in bytes of ASCII.
    public static let addressByteCountMax = 256
    private static let format: UInt8 = 1

    /// The device.
    public let device: DeviceID
    /// Grows with each change.
    public let version: CardVersion
    /// The device's key for links.
    public let noiseKey: NoiseKey
    /// The person's name.
    public let name: String
    /// Where the device listens, as `host:port`; the best first.
    public let addresses: [String]
    /// The device's inboxes, and the relays that it reads; the best first.
    public let mailboxes: [CardMailbox]
    /// Where epochs are sealed to before the device has a leaf, ascending by number.
    public let prekeys: [PrekeyCertificate]
    /// The part as it was signed, signature included.
    public let bytes: [UInt8]

    /// Signs a part. What does not fit the limits is left out from the end.
    public static func make(
        version: CardVersion, noiseKey: NoiseKey, name: String, addresses: [String],
        mailboxes: [CardMailbox] = [], prekeys: [PrekeyCertificate] = [], key: DeviceSigningKey
    ) -> CardPart {
        var writer = ByteWriter(capacity: 256)
        writer.byte(format)
        writer.identifier(key.device)
        writer.uint64(version)
        writer.identifier(noiseKey)
        var fitting = name
        while fitting.utf8.count > Limits.nameByteCountMax { fitting.removeLast() }
        writer.counted(Array(fitting.utf8))
        let sound = Array(addresses.filter { isSound(Array($0.utf8)) }.prefix(addressCountMax))
        writer.number(UInt64(sound.count))
        for address in sound { writer.counted(Array(address.utf8)) }
        let sent = Array(mailboxes.prefix(CardMailbox.countMax))
        writer.number(UInt64(sent.count))
        for mailbox in sent { mailbox.write(to: &writer) }
        let own = prekeys.filter { $0.device == key.device }.sorted { $0.number < $1.number }
        let newest = Array(own.suffix(Limits.prekeyCountMax))
        writer.number(UInt64(newest.count))
        for prekey in newest { writer.counted(prekey.bytes) }
        let signature = key.sign(.card, writer.bytes)
        return CardPart(
            device: key.device, version: version, noiseKey: noiseKey, name: fitting,
            addresses: sound, mailboxes: sent, prekeys: newest,
            bytes: writer.bytes + signature.bytes)
    }

    private init(
        device: DeviceID, version: CardVersion, noiseKey: NoiseKey, name: String,
        addresses: [String],
        mailboxes: [CardMailbox], prekeys: [PrekeyCertificate], bytes: [UInt8]
    ) {
        self.device = device
        self.version = version
        self.noiseKey = noiseKey
        self.name = name
        self.addresses = addresses
        self.mailboxes = mailboxes
        self.prekeys = prekeys
        self.bytes = bytes
    }

    /// Reads a part; ``isSigned`` tells whether it is the device's.
    init(bytes: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let format = try reader.byte()
        guard format == Self.format else { throw .unknownVersion(format) }
        device = try reader.identifier()
        version = try reader.bounded64()
        noiseKey = try reader.identifier()
        let nameCount = try reader.count("name", atMost: Limits.nameByteCountMax)
        guard let name = String(validating: try reader.slice(nameCount), as: UTF8.self) else {
            throw .forbidden(field: "name")
        }
        self.name = name
        var addresses: [String] = []
        for _ in 0..<(try reader.count("addresses", atMost: Self.addressCountMax)) {
            let count = try reader.count("address", atMost: Self.addressByteCountMax)
            let address = Array(try reader.slice(count))
            guard Self.isSound(address) else { throw .forbidden(field: "address") }
            addresses.append(String(decoding: address, as: UTF8.self))
        }
        self.addresses = addresses
        mailboxes = try CardMailbox.list(from: &reader)
        prekeys = try Self.prekeys(of: device, &reader)
        _ = try reader.slice(Signature.byteCount)
        try reader.finish()
        self.bytes = bytes
    }

    private static func prekeys(
        of device: DeviceID, _ reader: inout ByteReader
    ) throws(DecodingFailure) -> [PrekeyCertificate] {
        var prekeys: [PrekeyCertificate] = []
        for _ in 0..<(try reader.count("prekeys", atMost: Limits.prekeyCountMax)) {
            let count = try reader.count("prekey", atMost: PrekeyCertificate.byteCount)
            let prekey = try PrekeyCertificate(bytes: Array(try reader.slice(count)))
            guard prekey.device == device else { throw .forbidden(field: "prekey") }
            if let last = prekeys.last, last.number >= prekey.number {
                throw .unsorted(field: "prekeys")
            }
            prekeys.append(prekey)
        }
        return prekeys
    }

    /// Whether the device signed it.
    var isSigned: Bool {
        guard let signature = Signature(bytes.suffix(Signature.byteCount)) else { return false }
        return signature.verifies(
            .card, Array(bytes.dropLast(Signature.byteCount)), by: device)
    }

    /// Printable ASCII without spaces: nothing that could pass for another line on a screen.
    public static func isSound(_ address: [UInt8]) -> Bool {
        (1...addressByteCountMax).contains(address.count)
            && address.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
