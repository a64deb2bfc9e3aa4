import Testing

@testable import ParleySealing

@Suite("Locked memory")
struct LockedMemoryTests {
    @Test("holds zeros, whatever the secret before it held", arguments: [1, 32, 64, 65, 4_096])
    func wiped(byteCount: Int) {
        for _ in 0..<200 {
            var before: [UInt8] = []
            let secret = Secret(byteCount: byteCount) { bytes in
                before = Array(bytes)
                bytes.copyBytes(from: [UInt8](repeating: 0xAB, count: byteCount))
            }
            #expect(before == [UInt8](repeating: 0, count: byteCount))
            secret.withUnsafeBytes { #expect($0.allSatisfy { $0 == 0xAB }) }
        }
    }

    @Test("is given to one secret at a time")
    func distinct() {
        let secrets = (0..<500).map { Secret([UInt8](repeating: UInt8($0 % 251), count: 32)) }
        for (index, secret) in secrets.enumerated() {
            secret.withUnsafeBytes { #expect($0.allSatisfy { $0 == UInt8(index % 251) }) }
        }
    }
}
