public import ParleyLedger
import ParleyWire

/// What of a log decides what its space shows: two nodes whose spaces are equal in this show the same,
/// unless one of them lacks payloads.
public struct HeldLog: Equatable {
    let tag: LogTag
    let spans: [Span]
    /// Where it begins for a newcomer.
    let base: UInt64
    /// Where it is proven to have two histories: that decides what counts of it.
    let fork: LogPoint?
    /// How many operations of it are held.
    public let heldCount: Int

    /// What is held of the logs of a space. A newcomer's floor says where what is named below it stands, in
    /// an empty log too.
    public static func all(of logs: [LogRecord]) -> [HeldLog] {
        logs.filter { !$0.spans.isEmpty || $0.base > 0 }.map {
            HeldLog(
                tag: $0.tag, spans: $0.spans, base: $0.base, fork: $0.fork,
                heldCount: $0.heldCount)
        }
    }
}
