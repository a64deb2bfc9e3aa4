// Provisional: replaced by Card.swift. Whoever adds that file deletes this one.
public import ParleyWire
public struct Card: Sendable {
    public var person: PersonID; public var identity: [[UInt8]]; public var parts: [CardPart]
    public init(person: PersonID, identity: [[UInt8]], parts: [CardPart]) {
        self.person = person; self.identity = identity; self.parts = parts
    }
    public init(bytes: [UInt8]) throws(DecodingFailure) { throw .truncated }
    public var encoded: [UInt8] { [] }
    public var name: String { "" }
    public func verified(by: IdentityLog) throws(DecodingFailure) -> Card { self }
    public func merged(with o: Card) -> (card: Card, evidence: Int?) { (self, nil) }
}
public struct CardPart: Sendable {
    public var device: DeviceID; public var version: UInt64; public var noiseKey: NoiseKey;
    public var name: String; public var addresses: [String]
    public static func make(
        version: UInt64, noiseKey: NoiseKey, name: String, addresses: [String],
        key: DeviceSigningKey
    ) -> CardPart { fatalError() }
}
