// Provisional but working: replaced by Card.swift. Whoever adds that file deletes this one.
public import ParleyWire
public enum CardRejection: Error { case malformed, unproven }
public struct CardPart: Sendable, Equatable {
    public var device: DeviceID
    public var version: UInt64
    public var noiseKey: NoiseKey
    public var name: String
    public var addresses: [String]
    var signature: Signature
    var body: [UInt8] {
        var w = ByteWriter()
        w.identifier(device); w.number(version); w.identifier(noiseKey)
        w.counted(Array(name.utf8)); w.number(UInt64(addresses.count))
        for a in addresses { w.counted(Array(a.utf8)) }
        return w.bytes
    }
    public static func make(version: UInt64, noiseKey: NoiseKey, name: String, addresses: [String], key: DeviceSigningKey) -> CardPart {
        let zero = SignatureBytes([UInt8](repeating: 0, count: 64))
        guard let zero else { preconditionFailure("64") }
        var p = CardPart(device: key.device, version: version, noiseKey: noiseKey, name: name, addresses: addresses, signature: zero)
        p.signature = key.sign(.card, p.body)
        return p
    }
}
public struct Card: Sendable, Equatable {
    public var person: PersonID
    public var identity: [[UInt8]]
    public var parts: [CardPart]
    public init(person: PersonID, identity: [[UInt8]], parts: [CardPart]) { self.person = person; self.identity = identity; self.parts = parts }
    public var encoded: [UInt8] {
        var w = ByteWriter()
        w.identifier(person); w.number(UInt64(identity.count))
        for i in identity { w.counted(i) }
        w.number(UInt64(parts.count))
        for p in parts { w.counted(p.body); w.raw(p.signature.bytes) }
        return w.bytes
    }
    public init(bytes: [UInt8]) throws(CardRejection) {
        do {
            var r = ByteReader(bytes)
            person = try r.identifier(); identity = []; parts = []
            for _ in 0..<(try r.count("identity", atMost: 64)) { identity.append(Array(try r.slice(try r.count("op", atMost: 1024)))) }
            for _ in 0..<(try r.count("parts", atMost: 64)) {
                var b = ByteReader(try r.slice(try r.count("part", atMost: 8192)))
                let device: DeviceID = try b.identifier(); let version = try b.number(); let noise: NoiseKey = try b.identifier()
                let name = String(decoding: try b.slice(try b.count("name", atMost: 256)), as: UTF8.self)
                var addresses: [String] = []
                for _ in 0..<(try b.count("addresses", atMost: 16)) { addresses.append(String(decoding: try b.slice(try b.count("a", atMost: 255)), as: UTF8.self)) }
                guard let s = SignatureBytes(try r.slice(64)) else { throw CardRejection.malformed }
                parts.append(CardPart(device: device, version: version, noiseKey: noise, name: name, addresses: addresses, signature: s))
            }
            try r.finish()
        } catch { throw .malformed }
    }
    public var name: String { parts.max { ($0.version, $0.device) < ($1.version, $1.device) }?.name ?? "" }
    public func verified(by log: IdentityLog) throws(CardRejection) -> Card {
        for p in parts { guard log.devices.contains(where: { $0.device == p.device && $0.noiseKey == p.noiseKey }), p.signature.verifies(.card, p.body, by: p.device) else { throw .unproven } }
        return self
    }
    public func merged(with o: Card) -> (card: Card, evidence: Int?) {
        var all = parts
        for p in o.parts { if let i = all.firstIndex(where: { $0.device == p.device }) { if p.version > all[i].version { all[i] = p } } else { all.append(p) } }
        return (Card(person: person, identity: o.identity.count > identity.count ? o.identity : identity, parts: all.sorted { $0.device < $1.device }), nil)
    }
}
