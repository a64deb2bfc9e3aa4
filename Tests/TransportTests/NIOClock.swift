import NIOCore
import Synchronization

/// A clock that stands until it is told to go on.
final class NIOClock: Sendable {
    private let time = Mutex(NIODeadline.uptimeNanoseconds(1_000_000_000_000))

    var now: NIODeadline { time.withLock { $0 } }

    func advance(by amount: TimeAmount) { time.withLock { $0 = $0 + amount } }
}
