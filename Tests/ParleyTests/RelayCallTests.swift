import ParleyNodeCore
import ParleySealing
import ParleyWire
import Synchronization
import Testing

@testable import Parley

/// A person cut the node off at the moment in which a relay was reached: the core was told that
/// there is no connection, and then that it stands. It asked nothing more and called no more,
/// because it had one, as it thought.
@Suite("A call to a relay")
struct RelayCallTests {
    private static func driver() -> RelayDriver {
        var random = SystemRandom()
        return RelayDriver(
            DeviceNoiseKey.generate(using: &random).publicKey, network: .main,
            told: { _, _ in true }, admitted: { _ in true }, left: { _ in }, answerer: { nil },
            refused: { _ in }, finished: { _ in })
    }

    @Test("passes on what its connection tells, in order, until it is given up, and nothing then")
    func abandoned() {
        let (call, driver) = (RelayCall(), Self.driver())
        let days = Mutex<[RelayDay]>([])
        let tell = { (day: RelayDay) in
            call.tell(.day(day), of: driver) { news in
                if case .day(let day) = news { days.withLock { $0.append(day) } }
            }
        }
        #expect(tell(1) && tell(2))
        call.abandon()
        #expect(!tell(3))
        #expect(days.withLock { $0 } == [1, 2])
    }

    @Test("given up before it was reached, it has no connection, and the core is not told of one")
    func late() {
        let (call, driver) = (RelayCall(), Self.driver())
        call.abandon()
        let welcome = RelayWelcome(
            day: 20_000, newest: 0, needsTicket: false, starts: [RelayStart(id: 1, newest: 0)])
        let isWanted = call.tell(.opened(welcome), of: driver) { _ in
            Issue.record("the core was told")
        }
        #expect(!isWanted && call.driver == nil)
    }
}
