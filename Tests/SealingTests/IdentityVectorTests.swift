import ParleyWire
import Testing

@testable import ParleySealing

/// The vectors of `Protocol/05-identity.md`, made by another implementation.
@Suite("Identity vectors")
struct IdentityVectorTests {
    struct Certificate: Decodable, Equatable {
        let device: String
        let noiseKey: String
        let rank: Int
    }

    struct LogCase: Decodable {
        let why: String
        let operations: [Hex]
        let person: String
        let root: String
        let devices: [Certificate]
        let revoked: [String]
        let forked: [String]?
        let kept: Int?
    }

    @Test(
        "identity logs mean the same to both",
        arguments: ["identity/log.json", "identity/contested.json"])
    func logs(path: String) throws {
        for vector in try Vectors.cases(path, as: LogCase.self) {
            let log = try IdentityLog(operations: vector.operations.map(\.bytes))
            #expect(log.person.description == vector.person, "\(vector.why)")
            #expect(log.root.description == vector.root)
            let devices = log.devices.map {
                Certificate(
                    device: $0.device.description, noiseKey: $0.noiseKey.description, rank: $0.rank)
            }
            #expect(devices == vector.devices, "\(vector.why)")
            #expect(log.revoked.map(\.description) == vector.revoked, "\(vector.why)")
            #expect(log.forked.map(\.description) == vector.forked ?? [], "\(vector.why)")
            #expect(log.operations.count == vector.kept ?? vector.operations.count)
        }
    }

    struct HostileLogCase: Decodable {
        let why: String
        let operations: [Hex]
        let refusal: String
    }

    @Test("hostile identity logs are refused whole, for the reason that they give")
    func hostileLogs() throws {
        for vector in try Vectors.cases("identity/hostile.json", as: HostileLogCase.self) {
            var refusal: String?
            do {
                _ = try IdentityLog(operations: vector.operations.map(\.bytes))
            } catch {
                refusal = name(of: error)
            }
            #expect(refusal == vector.refusal, "\(vector.why)")
        }
    }

    private func name(of rejection: IdentityRejection) -> String {
        switch rejection {
        case .malformed: "malformed"
        case .badSignature: "badSignature"
        case .badProofOfPossession: "badProofOfPossession"
        case .tooManyOperations: "tooManyOperations"
        case .noSingleGenesis: "noSingleGenesis"
        case .otherPerson: "otherPerson"
        case .missingCause: "missingCause"
        case .brokenChain: "brokenChain"
        }
    }

    @Test("our own founding of the same person gives the same bytes")
    func founding() throws {
        let cases = try Vectors.cases("identity/log.json", as: LogCase.self)
        let given = try #require(cases.first)
        let code = try RecoveryCode(
            typed: "000G-40R4-0M30-E209-185G-R38E-1W81-24GK-2GAH-C5RR-34D1-P70X-3RFG-VFXG")
        var random = Constant(word: 0x9999_9999_9999_9999)
        let log = try IdentityLog.founded(
            root: code.rootKey,
            device: DeviceSigningKey(seed: Secret([UInt8](repeating: 1, count: 32))),
            noiseKey: DeviceNoiseKey(scalar: Secret([UInt8](repeating: 0x11, count: 32))).publicKey,
            time: 1_700_000_000_000, using: &random)
        #expect(log.encoded == given.operations.map(\.bytes))
    }

    /// The same word again and again.
    struct Constant: RandomNumberGenerator {
        let word: UInt64
        mutating func next() -> UInt64 { word }
    }

    struct CodeCase: Decodable {
        let why: String
        let code: Hex
        let text: String
        let root: String
    }

    @Test("recovery codes are written and read alike")
    func codes() throws {
        for vector in try Vectors.cases("identity/recovery.json", as: CodeCase.self) {
            let code = try RecoveryCode(typed: vector.text)
            #expect(code.revealed() == vector.text, "\(vector.why)")
            #expect(code.rootKey.device.description == vector.root, "\(vector.why)")
            let seed = derive(key: vector.code.bytes, .recoveryRoot)
            #expect(DeviceSigningKey(seed: Secret(seed)).device == code.rootKey.device)
        }
    }

    struct CardCase: Decodable {
        let why: String
        let card: Hex
        let person: String
        let name: String
        let addresses: [String]
        let prekeys: [String]
    }

    @Test("cards of the other implementation hold, and come back as they were")
    func cards() throws {
        for vector in try Vectors.cases("identity/cards.json", as: CardCase.self) {
            let card = try Card(bytes: vector.card.bytes)
            #expect(card.encoded == vector.card.bytes, "\(vector.why)")
            let log = try IdentityLog(operations: card.identity)
            #expect(try card.verified(by: log) == card, "\(vector.why)")
            #expect(card.person.description == vector.person)
            #expect(card.name == vector.name)
            #expect(card.parts.flatMap(\.addresses) == vector.addresses)
            let prekeys = card.parts.flatMap(\.prekeys)
            #expect(prekeys.map(\.key.description) == vector.prekeys)
        }
    }

    struct SafetyCase: Decodable {
        let one: [Hex]
        let other: [Hex]
        let digits: String
    }

    @Test("safety numbers are the same digits")
    func safetyNumbers() throws {
        for vector in try Vectors.cases("identity/safety.json", as: SafetyCase.self) {
            let one = try IdentityLog(operations: vector.one.map(\.bytes))
            let other = try IdentityLog(operations: vector.other.map(\.bytes))
            #expect(SafetyNumber(between: one, and: other).digits == vector.digits)
        }
    }

    struct KeystoreCase: Decodable {
        let why: String
        let key: Hex?
        let passphrase: Hex?
        let file: Hex
        let master: Hex
        let generation: UInt32
        let vaultKey: Hex
        let previousVaultKey: Hex?
    }

    @Test("keystores of the other implementation open")
    func keystores() throws {
        for vector in try Vectors.cases("identity/keystore.json", as: KeystoreCase.self) {
            let lock =
                try vector.passphrase.map { KeystoreLock.passphrase($0.bytes) }
                ?? .key(Secret(#require(vector.key).bytes))
            let keystore = try Keystore(vector.file.bytes, unlockedWith: lock)
            let expected = Keystore(
                master: Secret(vector.master.bytes), generation: vector.generation,
                vaultKey: Secret(vector.vaultKey.bytes),
                previousVaultKey: vector.previousVaultKey.map { Secret($0.bytes) })
            #expect(keystore == expected, "\(vector.why)")
        }
    }

    struct RowCase: Decodable {
        let why: String
        let key: Hex
        let table: UInt8
        let row: Int64
        let column: UInt8
        let generation: UInt32
        let byte: UInt8
        let count: Int
        let nonce: String
        let end: String
    }

    @Test("rows are sealed to the same bytes")
    func rows() throws {
        for vector in try Vectors.cases("identity/rows.json", as: RowCase.self) {
            let sealed = sealRow(
                key: Secret(vector.key.bytes), table: vector.table, row: vector.row,
                column: vector.column, generation: vector.generation,
                content: [UInt8](repeating: vector.byte, count: vector.count))
            #expect(hex(sealed.prefix(24)) == vector.nonce, "\(vector.why)")
            #expect(hex(sealed.dropFirst(24).suffix(18)) == vector.end, "\(vector.why)")
        }
    }
}
