import Synchronization
import Testing

@testable import LocalAPITests
@testable import parley

@Suite("A conversation that is kept first, on the screen")
struct KeptFirstSessionTests {
    @Test("a conversation that is kept first says so, until that ends")
    func keptFirst() async {
        let terminal = Terminal()
        terminal.node.state.withLock { $0.conversations = ["home", "trip"] }
        #expect(await terminal.run("conversations", "first", "trip").status == 0)
        #expect(await terminal.run("conversations").output.contains("first"))
        #expect(await terminal.run("conversations", "first", "trip", "--off").status == 0)
        #expect(await !terminal.run("conversations").output.contains("first"))
        #expect(await terminal.run("conversations", "first", "nowhere").status == 1)
    }
}
