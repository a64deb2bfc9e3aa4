import ParleyWire
import Testing

@testable import ParleySimulation

@Suite("A relay's step under hostile inputs")
struct RelayStepFuzzTests {
    @Test("Attack 60: no request ends a relay, keeps it from serving others or costs much")
    func steps() throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(FuzzPlan.seconds)
        var (life, inputCount, effectCount, byteCount) = (FuzzPlan.life, 0, 0, 0)
        var (putCount, foundCount) = (0, 0)
        repeat {
            FuzzPlan.tell("relay: PARLEY_FUZZ_LIFE=\(life)")
            var clients = try HostileClients(seed: FuzzPlan.seed << 20 | life)
            for _ in 0..<2_000 where inputCount < 200 || clock.now < end {
                try clients.advance()
                inputCount += 1
            }
            if !clients.isOrderly { try clients.expectService() }
            #expect(clients.honest.complaints == [], "life \(life)")
            putCount += clients.honest.putCount
            foundCount += clients.honest.foundCount
            effectCount = max(effectCount, clients.effectCount)
            byteCount = max(byteCount, clients.byteCount)
            life += 1
        } while clock.now < end
        #expect(putCount > 0 && foundCount > 0)
        // Each of eight clients may be told one frame, and be closed.
        #expect(effectCount <= 64)
        #expect(byteCount <= 8 * Limits.frameByteCountMax)
        FuzzPlan.tell(
            "relay, seed \(FuzzPlan.seed): \(inputCount) inputs, at most \(effectCount) effects "
                + "and \(byteCount) bytes of one; \(putCount) envelopes of honest clients kept, "
                + "\(foundCount) found")
    }
}
