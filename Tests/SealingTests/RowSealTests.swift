import ParleyWire
import Testing

@testable import ParleySealing

@Suite("Rows at rest")
struct RowSealTests {
    private let key = Secret([UInt8](repeating: 7, count: 32))

    private func seal(_ content: [UInt8]) -> [UInt8] {
        sealRow(key: key, table: 3, row: -9, column: 2, generation: 5, content: content)
    }

    private func open(_ sealed: [UInt8]) -> [UInt8]? {
        openRow(key: key, table: 3, row: -9, column: 2, generation: 5, sealed: sealed)
    }

    @Test("what was sealed opens, whatever its length")
    func roundTrip() {
        for count in [0, 1, 120, 59_999, 60_000, 60_001, 70_000] {
            let content = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let sealed = seal(content)
            #expect(sealed.count == count + sealedRowOverhead)
            #expect(open(sealed) == content)
            #expect(sealed == seal(content))
        }
    }

    @Test("Attack 52: a value opens nowhere but at its place")
    func place() {
        let sealed = seal([1, 2, 3])
        let other = Secret([UInt8](repeating: 8, count: 32))
        #expect(
            openRow(key: key, table: 4, row: -9, column: 2, generation: 5, sealed: sealed) == nil)
        #expect(
            openRow(key: key, table: 3, row: 9, column: 2, generation: 5, sealed: sealed) == nil)
        #expect(
            openRow(key: key, table: 3, row: -9, column: 1, generation: 5, sealed: sealed) == nil)
        #expect(
            openRow(key: key, table: 3, row: -9, column: 2, generation: 6, sealed: sealed) == nil)
        #expect(
            openRow(key: other, table: 3, row: -9, column: 2, generation: 5, sealed: sealed) == nil)
    }

    @Test("a flipped bit or a missing byte is noticed")
    func damage() {
        let sealed = seal(Array("a word at rest".utf8))
        for index in sealed.indices {
            var damaged = sealed
            damaged[index] ^= 1
            #expect(open(damaged) == nil)
            #expect(open(Array(sealed[..<index])) == nil)
        }
    }

    @Test("other content or another place never shares a nonce")
    func nonces() {
        let long = [UInt8](repeating: 1, count: 60_001)
        let name: Digest = digest(.rowContent, long)
        var nonces = [[], [0], [0, 0], long, name.bytes].map { Array(seal($0)[..<24]) }
        nonces.append(
            Array(sealRow(key: key, table: 3, row: 9, column: 2, generation: 5, content: [])[..<24])
        )
        #expect(Set(nonces).count == nonces.count)
    }

    @Test("the nonce and the sealing are those of the page")
    func composition() {
        let place: [UInt8] = [3] + [UInt8](repeating: 0xff, count: 7) + [0xf7, 2, 0, 0, 0, 5]
        let content: [UInt8] = [1, 2, 3]
        let nonce = derive(key: key, .rowNonce, context: place + content, byteCount: 24)
        let sealed = XChaCha.seal(content, key: key, nonce: nonce, authenticating: place)
        #expect(seal(content) == nonce + sealed)
    }
}
