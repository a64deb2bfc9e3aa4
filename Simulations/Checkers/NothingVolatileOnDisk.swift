import ParleyNodeCore
import ParleySignalling
import ParleySimulation
import ParleyWire

/// I22: what may be forgotten is on no disk: no description of a connection, and no signal as it
/// went over a link, stands in any file of a node, nor in any row before it is sealed.
final class NothingVolatileOnDisk: Checker {
    static let invariant = "I22"
    /// The first byte of a SIGNAL. Source: Protocol/06-sync.md, "Frames".
    private static let signalType: UInt8 = 21
    /// Bytes of a signal that are looked for: its end, in which no two are alike.
    private static let signalByteCount = 48
    /// Signals that are looked for; those that came later are like them.
    private static let patternCountMax = 4_096
    private(set) var checkCount = 0
    private var patterns = ByteSearch()

    func observed(_ step: StepReport) throws {
        switch step.input {
        case .command(_, .act(_, .news(_, .offer(let text)))),
            .command(_, .act(_, .news(_, .answer(let text)))):
            patterns.add(Array(text.utf8))
        case .frame(_, let bytes) where bytes.first == Self.signalType:
            guard patterns.count < Self.patternCountMax, bytes.count > Self.signalByteCount else {
                return
            }
            patterns.add(Array(bytes.suffix(Self.signalByteCount)))
        default: break
        }
    }

    func looked(at world: World) throws {}

    func settled(_ world: World) throws {
        guard patterns.count > 0 else { return }
        for node in world.nodes {
            checkCount += patterns.count
            for file in node.store.files where patterns.firstHit(in: file.bytes) != nil {
                throw violation("\(node.name) keeps what may be forgotten in its \(file.name)")
            }
            guard let store = node.store as? MemoryStore else { continue }
            for bytes in store.storedBytes where patterns.firstHit(in: bytes) != nil {
                throw violation("\(node.name) keeps what may be forgotten")
            }
        }
    }
}
