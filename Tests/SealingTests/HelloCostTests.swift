import ParleyWire
import Synchronization
import Testing

@testable import ParleySealing

@Suite("Links: what a caller shows")
struct HelloCostTests {
    /// Ada calls Ben, who is asked what holds of what she shows. Returns the signatures that Ben
    /// looks at.
    private static func shake(
        _ pair: inout LinkPair, _ judge: @escaping HelloJudge
    ) throws(LinkRejection) -> Int {
        var random = SeededRandom(4)
        pair.callee = Link(
            responder: pair.ben.credentials, network: .main, judge: judge, using: &random)
        let second = try pair.deliver(pair.caller.start(), toCallee: true)
        let third = try pair.deliver(second, toCallee: false)
        let signatures = CountedSignatures()
        let result: Result<Void, LinkRejection> = SignatureMemory.$current.withValue(signatures) {
            do throws(LinkRejection) {
                _ = try pair.deliver(third, toCallee: true)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        if case .failure(.overAllowance) = result { return signatures.count }
        try result.get()
        return signatures.count
    }

    @Test("Attack 144: nothing of a hello is proven before it is known what it may cost")
    func refused() throws {
        var pair = try LinkPair()
        let count = try Self.shake(&pair) { _ in nil }
        #expect(count == 0)
        #expect(pair.callee.rejection == .overAllowance && !pair.callee.isAuthenticated)
    }

    @Test("what is known to hold is not proven again, and the rest is")
    func known() throws {
        var pair = try LinkPair()
        let all = try Self.shake(&pair) { _ in [] }
        #expect(all > 1 && pair.callee.isAuthenticated)
        var other = try LinkPair()
        let shown = other.ada.log.encoded
        let none = try Self.shake(&other) { $0 == shown ? Set($0) : [] }
        #expect(none == 0)
        #expect(other.callee.peer?.identity == other.ada.log)
        var third = try LinkPair()
        let rest = try Self.shake(&third) { Set($0.prefix(1)) }
        #expect(rest > 0 && rest < all)
    }

    @Test("an operation that is known to hold must be the same to the last byte of its signature")
    func altered() throws {
        var identity = try TestDevice(1).log.encoded
        let proven = Set(identity)
        identity[0][identity[0].count - 1] ^= 1
        #expect(throws: IdentityRejection.badSignature) {
            try IdentityLog(operations: identity, proven: proven)
        }
    }
}

/// How often somebody asked whether a signature holds.
private final class CountedSignatures: KnownSignatures {
    private let asked = Mutex(0)
    var count: Int { asked.withLock { $0 } }

    func contains(_ claim: SignatureClaim) -> Bool {
        asked.withLock { $0 += 1 }
        return false
    }

    func insert(_ claim: SignatureClaim) {}
}
