import Dispatch
import Foundation
import Glibc
import ParleyLocalAPI

/// Lines of the standard input, as they come. No more is read while a line is not taken.
struct InputLines: Sendable {
    /// Bytes that are read at once.
    private static let byteCount = 64 << 10

    /// All lines; nil for one that is too long.
    let lines: AsyncStream<[UInt8]?>
    private let taken = DispatchSemaphore(value: 1)

    init() {
        let (lines, queue) = AsyncStream.makeStream(of: [UInt8]?.self)
        self.lines = lines
        let taken = taken
        // Reading blocks a thread: none of those on which tasks run.
        Thread.detachNewThread {
            var framer = MCPLines()
            var buffer = [UInt8](repeating: 0, count: Self.byteCount)
            while true {
                let count = read(STDIN_FILENO, &buffer, Self.byteCount)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                for line in framer.add(buffer[..<count]) {
                    taken.wait()
                    queue.yield(line)
                }
            }
            queue.finish()
        }
    }

    /// Has the next line come.
    func took() { taken.signal() }
}
